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
  /** What Patroni is to have the servers run with. */
  readonly settings: number;
  /** What the user wants: a template, settings and so many members. */
  readonly spec: number;
  readonly parameters: number;
  readonly wanted: number;
  /** How often the user has asked to have the members made again, and as often as the StatefulSet says it. */
  readonly renewal: number;
  readonly stated: number;
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
  /** How often it had been asked for when the pod was made. */
  readonly renewal: number;
  /** `behind`: it streams, and lacks something that the primary has. `ailing`: a container beside the server fails again and again. */
  readonly state: 'gone' | 'starting' | 'stuck' | 'behind' | 'up' | 'ailing';
  /** What its server was started with. */
  readonly settings: number;
  /** The settings for which it was asked to restart its server: Patroni may turn that down for as long as it likes. */
  readonly asked?: number | undefined;
  /** The logical slot: made there, or kept in step with the primary's. */
  readonly slot?: 'own' | 'synced' | undefined;
}

export interface Faults {
  readonly crashes: number;
  readonly changes: number;
  readonly restarts: number;
  readonly refusals: number;
  readonly blindness: number;
  /** Changes of the settings. */
  readonly settings: number;
  /** Logical slots that somebody makes. */
  readonly slots: number;
  /** Restarts that a user asks for. Defaults to none. */
  readonly renewals?: number;
}

/** A template that never starts. */
export const badTemplate = 2;
/** Settings that no server takes, running or starting. */
export const badSettings = 2;
/** Settings that a server takes from template 1 on. */
export const newSettings = 3;

/** Whether a server of a template takes settings. */
export function takes(template: number, settings: number): boolean {
  return settings !== badSettings && (settings !== newSettings || template === 1);
}

/** What a standby needs as high as its primary. */
export function level(settings: number): number {
  return settings === 1 ? 1 : 0;
}

/** A database of some members that was just created, all of them up. */
export function peace(members: number, faults: Faults, slotsEnd: World['slotsEnd'] = 'synced'): World {
  return {
    pods: Array.from({ length: members }, () => ({ template: 0, renewal: 0, settings: 0, state: 'up' })),
    leader: 0,
    asked: undefined,
    template: 0,
    replicas: members,
    isObserved: true,
    settings: 0,
    spec: 0,
    parameters: 0,
    wanted: members,
    renewal: 0,
    stated: 0,
    history: undefined,
    isSwitching: false,
    view: undefined,
    slotsEnd,
    isGivenUp: false,
    faults,
  };
}

export function specOf({ spec, parameters, wanted }: World): StoredSpec {
  const image = `postgresql:${spec}`;
  const named = { max_connections: String(parameters) };
  return { engine: 'postgresql', version: '17', image, parameters: named, replicas: wanted, storage: { size: '1Gi' } };
}

export function settingsOf({ parameters = {} }: Pick<StoredSpec, 'parameters'>): number {
  return Number(parameters['max_connections']);
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
  const { pods, leader, replicas, template, renewal, settings, isObserved, isSwitching, isGivenUp } = world;
  const hasTemplate = world.stated === renewal;
  const members = Array.from({ length: Math.max(pods.length, replicas) }, (_, i): Member => {
    const pod: Pod = pods[i] ?? { state: 'gone', template, renewal, settings };
    const { state, slot } = pod;
    const isRunning = state === 'up' || state === 'behind';
    const isTaken = takes(pod.template, settings);
    const isLowered = isRunning && settings !== badSettings && level(settings) < level(pod.settings);
    const isRenewal = state !== 'gone' && pod.renewal !== renewal;
    const isWaiting = (isRunning && isTaken && pod.settings !== settings) || isLowered;
    return {
      name: String(i),
      ordinal: i,
      health: healthOf[state] === 'healthy' && !isLed(world) ? 'working' : healthOf[state],
      serves: serves(pod),
      isLeader: leader === i && state === 'up',
      // A pod that was made again has no label before its server leads.
      isPrimary: leader === i && (state === 'up' || state === 'ailing'),
      need:
        isRenewal || (state !== 'gone' && pod.template !== template)
          ? 'replacement'
          : isWaiting
            ? 'restart'
            : 'nothing',
      isOfEdit: false,
      isRenewal,
      isLowered,
      hasRead: isRunning,
      isCaughtUp: state === 'up',
      restart: isWaiting ? String(settings) : undefined,
      isAsked: isWaiting && pod.asked === settings,
      // A server that did not start is tried with other settings at once.
      idleSince: state === 'stuck' && !isToBeTried(pod, settings) ? 0 : undefined,
      isOverdue: false,
      hasFailedToStart: state === 'stuck' && !takes(pod.template, pod.settings),
      trouble: undefined,
      refused: isRunning && !isTaken ? { max_connections: 'no' } : {},
      slots: slot === 'own' ? [cdc] : [],
      synced: slot === 'synced' ? [cdc.name] : [],
    };
  });
  const mayLose = isGivenUp ? [cdc.name] : [];
  return { wanted: replicas, isObserved, hasTemplate, members, isPaused: false, isSwitching, mayLose };
}

/** Whether its server runs, whatever is beside it. */
export function serves({ state }: Pod): boolean {
  return state === 'up' || state === 'behind' || state === 'ailing';
}

/** Patroni starts a server again that did not start. */
export function isToBeTried(pod: Pod, settings: number): boolean {
  const hasFailed = pod.state === 'stuck' && !takes(pod.template, pod.settings);
  return hasFailed && takes(pod.template, settings) && pod.template !== badTemplate;
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
export function isAtEnd(world: World): boolean {
  const { pods, leader, spec, parameters, wanted, history, replicas, asked } = world;
  const stable = history?.stable[0]?.revision;
  const isBad = spec === badTemplate || !takes(spec, parameters);
  // A first revision that cannot work waits for its user.
  if (isBad && stable === undefined)
    return pods.some(({ state }) => state === 'stuck') || world.settings === parameters;
  const isBack = isBad && stable !== undefined;
  const template = isBack ? templateOf(stable.template) : spec;
  const settings = isBack ? settingsOf(stable) : parameters;
  const isRenewed = pods.every((pod) => pod.renewal === world.renewal);
  const isWhole = pods.length === wanted && replicas === wanted && leader !== undefined && asked === undefined;
  return (
    isWhole &&
    isRenewed &&
    pods.every((pod) => pod.state === 'up' && pod.template === template && pod.settings === settings)
  );
}
