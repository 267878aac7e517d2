import type { StoredSpec } from '../../../constructs/api/spec.ts';
import type { History, Member, Observation } from '../../../controller/rollout/index.ts';

/** Everything that a rollout meets: Kubernetes, Patroni, users, and what the controller remembers and saw last. */
export interface World {
  readonly pods: readonly Pod[];
  /** Who holds Patroni's lock. */
  readonly leader: number | undefined;
  /** A switchover that Patroni has not dealt with. */
  readonly asked: { readonly from: number; readonly to: number } | undefined;
  /** What the StatefulSet is to have, and whether its controller has seen that. */
  readonly template: number;
  readonly replicas: number;
  readonly isObserved: boolean;
  /** What the user wants: a template and so many members. */
  readonly spec: number;
  readonly wanted: number;
  /** What the controller keeps in the cluster. */
  readonly history: History | undefined;
  /** What the controller remembers; gone when it is started again. */
  readonly isSwitching: boolean;
  /** What the controller saw last; undefined for what is there now. */
  readonly view: Pick<World, 'pods' | 'leader'> | undefined;
  /** What the owner of a logical slot does, sooner or later, so that a switchover does not lose it. */
  readonly slotsEnd: 'synced' | 'dropped' | 'given up';
  /** The slot was given up by the annotation. */
  readonly isGivenUp: boolean;
  /** How much may still go wrong. */
  readonly faults: Faults;
}

export interface Pod {
  readonly template: number;
  /** `behind`: it streams, and lacks something that the primary has. `ailing`: a container beside the server fails again and again. */
  readonly state: 'gone' | 'starting' | 'stuck' | 'behind' | 'up' | 'ailing';
  /** The logical slot: made there, or kept in step with the primary's. */
  readonly slot?: 'own' | 'synced' | undefined;
}

export interface Faults {
  readonly crashes: number;
  readonly changes: number;
  readonly restarts: number;
  readonly refusals: number;
  readonly blindness: number;
  /** Logical slots that somebody makes. */
  readonly slots: number;
}

/** A template that never starts. */
export const badTemplate = 2;

/** A database of some members that was just created, all of them up. */
export function peace(members: number, faults: Faults, slotsEnd: World['slotsEnd'] = 'synced'): World {
  return {
    pods: Array.from({ length: members }, () => ({ template: 0, state: 'up' })),
    leader: 0,
    asked: undefined,
    template: 0,
    replicas: members,
    isObserved: true,
    spec: 0,
    wanted: members,
    history: undefined,
    isSwitching: false,
    view: undefined,
    slotsEnd,
    isGivenUp: false,
    faults,
  };
}

export function specOf({ spec, wanted }: World): StoredSpec {
  const image = `postgresql:${spec}`;
  return { engine: 'postgresql', version: '17', image, replicas: wanted, storage: { size: '1Gi' } };
}

export function templateOf({ image = '' }: Pick<StoredSpec, 'image'>): number {
  return Number(image.split(':')[1]);
}

export function hasPrimary({ leader, pods }: World): boolean {
  return leader !== undefined && pods[leader]?.state === 'up';
}

/** Ready or not, it takes writes and replicas stream from it. */
export function isLed(world: World): boolean {
  return hasPrimary(world) || (world.leader !== undefined && world.pods[world.leader]?.state === 'ailing');
}

/** The pods with one of them changed. */
export function changed(pods: readonly Pod[], place: number, change: Partial<Pod>): readonly Pod[] {
  return pods.map((pod, i) => (i === place ? { ...pod, ...change } : pod));
}

/** The members as a controller sees them. */
export function observe(world: World): Observation {
  const { pods, leader, replicas, template, isObserved, isSwitching, isGivenUp } = world;
  const members = Array.from({ length: Math.max(pods.length, replicas) }, (_, i): Member => {
    const { state, template: own, slot }: Pod = pods[i] ?? { state: 'gone', template };
    return {
      name: String(i),
      ordinal: i,
      health: healthOf[state] === 'healthy' && !isLed(world) ? 'working' : healthOf[state],
      isLeader: leader === i && state === 'up',
      // A pod that was made again has no label before its server leads.
      isPrimary: leader === i && (state === 'up' || state === 'ailing'),
      need: state === 'gone' || own === template ? 'nothing' : 'replacement',
      isLowered: false,
      hasRead: state === 'up' || state === 'behind',
      isCaughtUp: state === 'up',
      restart: undefined,
      isAsked: false,
      idleSince: state === 'stuck' ? 0 : undefined,
      hasFailedToStart: false,
      trouble: undefined,
      refused: {},
      slots: slot === 'own' ? [cdc] : [],
      synced: slot === 'synced' ? [cdc.name] : [],
    };
  });
  const mayLose = isGivenUp ? [cdc.name] : [];
  return { wanted: replicas, isObserved, members, isPaused: false, isSwitching, mayLose };
}

const cdc = { name: 'cdc', database: 'app', plugin: 'pgoutput', isFailover: true } as const;

const healthOf = {
  gone: 'absent',
  starting: 'working',
  stuck: 'stuck',
  ailing: 'stuck',
  behind: 'healthy',
  up: 'healthy',
} as const;

/** Whether the members run on what the spec says, or, where that cannot work, on what was stable before. */
export function isAtEnd({ pods, leader, spec, wanted, history, replicas, asked }: World): boolean {
  const stable = history?.stable[0]?.revision.template;
  // A first template that never starts waits for its user.
  if (spec === badTemplate && stable === undefined) return pods.some(({ state }) => state === 'stuck');
  const goal = spec === badTemplate && stable !== undefined ? templateOf(stable) : spec;
  const isWhole = pods.length === wanted && replicas === wanted && leader !== undefined && asked === undefined;
  return isWhole && pods.every(({ state, template }) => state === 'up' && template === goal);
}
