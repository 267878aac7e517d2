import type { LogicalSlot } from '../health/logical-slots.ts';

/** How a member is, as far as a rollout has to know. */
export type MemberHealth =
  /** Ready, and primary or streaming. */
  | 'healthy'
  /** On its way by itself: starting, cloning, replaying, joining. */
  | 'working'
  /** It will not start as it is: no node, no image, a crash loop of any container, a server that refuses its configuration. */
  | 'stuck'
  /** Being deleted, or ended and still there. */
  | 'leaving'
  /** No pod. */
  | 'absent';

/** What a member has to go through to be as the spec says. */
export type Need =
  | 'nothing'
  /** Its pod is of another template. */
  | 'replacement'
  /** Its pod is right; settings wait for a restart of the server. */
  | 'restart';

/** A member as it was seen. */
export interface Member {
  /** Of the pod. */
  readonly name: string;
  readonly ordinal: number;
  readonly health: MemberHealth;
  /** Its server runs, though a container beside it may fail. */
  readonly serves: boolean;
  /** The ready primary. */
  readonly isLeader: boolean;
  /** Its pod bears the label of the primary, ready or not. Where nobody else is the ready primary, its server may well lead still. */
  readonly isPrimary: boolean;
  readonly need: Need;
  /** Its pod was made while somebody else had changed the template. */
  readonly isOfEdit: boolean;
  /** Its pod is of the newest template, and was made before somebody asked to make all again. */
  readonly isRenewal: boolean;
  /** A setting that waits for a restart is lower than before and one of those that a standby must have as high as its primary. */
  readonly isLowered: boolean;
  /** It has read the settings that the spec means, and said what they need. */
  readonly hasRead: boolean;
  /** A replica that has all but the last of what the primary has written. */
  readonly isCaughtUp: boolean;
  /** What a restart for the settings that wait now is asked for by; undefined where none waits. */
  readonly restart: string | undefined;
  /** That restart was asked for, and has not come to its end. */
  readonly isAsked: boolean;
  /** Since when it has been getting nowhere, in milliseconds; undefined for one that is healthy, or clones or replays however slowly. */
  readonly idleSince: number | undefined;
  /** It has been getting nowhere for longer than a revision may take. */
  readonly isOverdue: boolean;
  /** Its server was started and refused to run. */
  readonly hasFailedToStart: boolean;
  /** Why, in the words of Kubernetes or of Patroni. */
  readonly trouble: string | undefined;
  /** By the name of a setting: the words with which PostgreSQL refuses its value. */
  readonly refused: Readonly<Record<string, string>>;
  /** Logical slots that were made there, and that are nowhere else but where they are synchronised. */
  readonly slots: readonly LogicalSlot[];
  /** Names of logical slots of the primary that it could go on with. */
  readonly synced: readonly string[];
}

/** What the next step is decided by. */
export interface Observation {
  /** Members that the StatefulSet is to have. */
  readonly wanted: number;
  /** Whether the StatefulSet's controller has seen its newest template: before, nobody can tell which pods are of another. */
  readonly isObserved: boolean;
  /** Whether the StatefulSet has the template that is delivered: before, a pod that is made again would be as the one before it. */
  readonly hasTemplate: boolean;
  /** In the order of their ordinals, those without a pod too. */
  readonly members: readonly Member[];
  /** Patroni was told to stay out of it. */
  readonly isPaused: boolean;
  /** A switchover that was asked for and is not over. */
  readonly isSwitching: boolean;
  /** Names of logical slots that a switchover may lose. */
  readonly mayLose: readonly string[];
}
