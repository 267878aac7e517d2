import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import type { Drift } from '../drift/index.ts';
import type { KubeObject } from '../kube/index.ts';
import type { Action as RolloutAction } from '../rollout/index.ts';
import type { Action } from './action.ts';
import type { Blocker } from './blocker.ts';
import type { Observed } from './plan.ts';
import type { Stated } from './stated.ts';

/** What became of a plan. */
export interface Outcome {
  /** Changes by others that were put back. */
  readonly corrected: readonly Drift[];
  /** The same, and values under our own name that were not ours: what may come again and again. */
  readonly flips: readonly Drift[];
  /** Changes by others that were left alone, by the key of their object. */
  readonly left: ReadonlyMap<string, readonly Drift[]>;
  /** Keys of those that were left because they could not be put back. */
  readonly refused: ReadonlySet<string>;
  /** Keys of all objects that are now what we state. */
  readonly made: readonly string[];
  /** Keys of names that something else has now. */
  readonly awaited: readonly string[];
  /** What kept the plan from being carried out whole; the first if there are several. */
  readonly blocker: Blocker | undefined;
  /** What was believed is outdated: the error to hand to the queue, which looks again at once. */
  readonly outdated: unknown;
}

export const nothingDone: Outcome = {
  corrected: [],
  flips: [],
  left: new Map(),
  refused: new Set(),
  made: [],
  awaited: [],
  blocker: undefined,
  outdated: undefined,
};

/** Brings manifests to the cluster. */
export interface ApplyDelivery {
  /** @throws the signal's reason, and nothing else */
  carryOut(actions: readonly Action[], observed: Observed, signal: AbortSignal): Promise<Outcome>;
  /**
   * Leaves an object to the tool that applies it by now, so that ours is nothing of it any more.
   *
   * @param isCurrent it is as it is stated: what we alone have of earlier states may be taken out
   * @returns the object then @throws KubeError
   */
  leave(stated: Stated, live: KubeObject, isCurrent: boolean, signal: AbortSignal): Promise<KubeObject>;
}

/** Renews certificates. */
export interface Certificates {
  /**
   * Renews the certificate of a database if it is time.
   * @param made keys of the objects that are known to be the database's own
   * @returns when it is to be renewed, in milliseconds of the wall clock; undefined where there is none of ours
   */
  keep(resource: StoredDatabaseService, made: readonly string[], signal: AbortSignal): Promise<number | undefined>;
}

/** Keeps what members mount up to date. */
export interface Mounts {
  /**
   * Has the kubelet read the Secrets again that were changed since a member was made.
   * @throws KubeError, which is to be tried again at once where a member is gone
   */
  refresh(resource: StoredDatabaseService, key: string, signal: AbortSignal): Promise<void>;
}

/** The pod that a step was decided for. */
export interface SeenPod {
  readonly uid: string;
  readonly resourceVersion: string;
}

/** What a step is taken on. */
export interface Scene {
  readonly resource: StoredDatabaseService;
  /** Of the step's member. */
  readonly pod: SeenPod | undefined;
}

export type Taken =
  | { readonly kind: 'done'; readonly message: string }
  /** It was asked for before, and is not over. */
  | { readonly kind: 'pending'; readonly message: string }
  /** Nothing was asked for: it waits for something that no watch shows. */
  | { readonly kind: 'not-yet'; readonly message: string }
  /** What the step was decided by is not so any more; the watches will tell. */
  | { readonly kind: 'outdated'; readonly message: string };

/** Takes the steps of rollouts. */
export interface Steps {
  /** Name of the member that holds Patroni's lock. @throws KubeError */
  leader(resource: StoredDatabaseService, signal: AbortSignal): Promise<string | undefined>;
  /** @throws KubeError */
  carryOut(step: RolloutAction, scene: Scene, signal: AbortSignal): Promise<Taken>;
}

/** How far a change has come that people merge. */
export interface GitReview {
  /**
   * `merged`: the target branch has it. `open`: the branch for review has it. `declined`: that branch had it, and was deleted
   * without a merge.
   */
  readonly kind: 'merged' | 'open' | 'declined';
  /** The branch for review. */
  readonly branch: string;
  /** The branch that it is to be merged into. */
  readonly target: string;
  /** Why it can't be merged as it is, in a sentence. */
  readonly obstacle?: string;
}

/** What Git has of a database. */
export interface GitState {
  /** The last commit; absent while nothing was committed by this process. */
  readonly commit?: string;
  /** The folder of the database in the repository. */
  readonly path?: string;
  /** Where changes are reviewed: how far the last one is that the repository took. */
  readonly review?: GitReview;
  /** What others have changed in its files, and is left. */
  readonly edits?: readonly Drift[];
  /** What others had changed in them, and which commit undid it. */
  readonly restored?: { readonly commit: string; readonly edits: readonly Drift[] };
  /** What is to be there now was handed over, and the repository has not taken it yet. */
  readonly isPending?: true;
  /** Why it could not be delivered, in a sentence; it is tried again. */
  readonly failure?: string;
  /** It is not tried again before something else changes. */
  readonly isUnusable?: true;
  /** Why the folder that it had before could not be removed, in sentences; it is tried again. */
  readonly remains?: string;
}

/** What has become of files that are to go. */
export type Withdrawal =
  | { readonly kind: 'gone' }
  | { readonly kind: 'pending' }
  /** In a sentence; it is tried again, and the database is woken when that has changed something. */
  | { readonly kind: 'failed'; readonly failure: string };

/** Brings manifests to Git. */
export interface GitDelivery {
  /** The finalizer of the place that a database is delivered to; undefined where there is none, or it is not known. */
  finalizerOf(resource: StoredDatabaseService): string | undefined;
  /**
   * Returns at once with what is known; the database is woken when that changes.
   * @param isLeft what others change in the files is not undone before other files are wanted
   * @returns undefined where it is not delivered to Git
   */
  deliver(resource: StoredDatabaseService, isLeft: boolean): GitState | undefined;
  /**
   * Removes a database's folder from the place of a finalizer. Returns at once, as above.
   * @param why for the commit
   */
  withdraw(resource: StoredDatabaseService, finalizer: string, why: string): Withdrawal;
  /** Removes the folder of a database that is gone, where it is known. */
  remove(key: string): void;
  /** Leaves the folder where it is. */
  forget(key: string): void;
}
