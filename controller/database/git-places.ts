import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { leaveGitAnnotation } from '../../constructs/labels.ts';
import { classify, keyOf, timestamp, type Clock, type Kube } from '../kube/index.ts';
import { blockerOf, type Blocker } from './blocker.ts';
import type { Databases } from './databases.ts';
import type { GitDelivery, GitState } from './delivery.ts';
import { destinationIn, gitFinalizers } from './git-finalizers.ts';
import { databaseServices } from './kinds.ts';
import { pauseEnd } from './restraint.ts';
import type { Run } from './run.ts';

export interface GitPlacesOptions {
  readonly kube: Kube;
  readonly databases: Databases;
  /** Absent: nothing is delivered to Git. */
  readonly git?: GitDelivery;
  /** A wall clock. */
  readonly clock: Clock;
  /** Told of a database that goes and leaves files behind, in a sentence. */
  readonly onLeft: (resource: StoredDatabaseService, message: string) => void;
}

/** What Git has, and what hinders that it is removed with the database. */
export interface Placed {
  readonly git: GitState | undefined;
  /** Why files of it are where they are not to be any more, in sentences. */
  readonly remains?: string;
  readonly blocker?: Blocker;
}

/** How far the files of a database that is being deleted are. */
export type Leaving =
  | { readonly kind: 'gone' }
  /** They are to be removed; `until`, in milliseconds of the wall clock, the object waits for that. */
  | { readonly kind: 'waiting'; readonly message: string; readonly until: number }
  /** They stay. `isWanted`: somebody asked for that. */
  | { readonly kind: 'left'; readonly message: string; readonly isWanted: boolean };

/** How long after its deletion an object waits for Git, in milliseconds, and how long at least after a controller has begun to remove its files. */
const patienceMs = 5 * 60_000;
const leastMs = 60_000;

/** Field manager of the finalizers. */
const finalizerManager = 'plumbline-finalizer';

/**
 * Where in Git the files of databases are. A finalizer says it on each, before its files are written, so that they are removed when it goes: for a
 * time, since nothing may keep an object, or its namespace, for good.
 */
export class GitPlaces {
  readonly #options: GitPlacesOptions;

  constructor(options: GitPlacesOptions) {
    this.#options = options;
  }

  /** Delivers what the course of a run is, and removes what is where it is not to be any more. @throws KubeError when the API server gives no answer */
  async deliver({ resource, course, signal }: Run): Promise<Placed> {
    const { git } = this.#options;
    if (git === undefined || course === undefined || this.#isLeaving(resource)) return { git: undefined };
    const had = gitFinalizers(resource);
    const wanted = git.finalizerOf(resource);
    const added = wanted === undefined || had.includes(wanted) ? [] : [wanted];
    // Without the right to it the files are delivered all the same, and stay when nobody sees the database go.
    const refused = await this.#write(resource, { added, removed: [] }, signal);
    const isPaused = pauseEnd(resource, this.#options.clock.now()) !== undefined;
    const isLeft = isPaused || resource.spec.drift?.policy === 'Report';
    const state = git.deliver({ ...resource, spec: course.spec }, isLeft);
    const old = state?.isUnusable === true ? [] : had.filter((one) => one !== wanted);
    const withdrawals = old.map((one) => ({ finalizer: one, ...git.withdraw(resource, one, elsewhere(resource)) }));
    const removed = withdrawals.filter(({ kind }) => kind === 'gone').map(({ finalizer }) => finalizer);
    const remains = withdrawals.flatMap((one) => (one.kind === 'failed' ? [remaining(one)] : []))[0] ?? state?.remains;
    const blocker = refused ?? (await this.#write(resource, { added: [], removed }, signal));
    return { git: state, ...(remains !== undefined && { remains }), ...(blocker && { blocker }) };
  }

  /** Removes the files of a database that is being deleted; undefined where Git has none. */
  leaving({ key, resource, memory }: Run): Leaving | undefined {
    const { git, clock, databases } = this.#options;
    const finalizers = gitFinalizers(resource);
    if (git === undefined || finalizers.length === 0) return undefined;
    const { metadata, status } = resource;
    const isWanted = metadata.annotations?.[leaveGitAnnotation] === 'true';
    const where = status?.git === undefined ? 'in Git' : `in ${status.git.path} of the Git repository`;
    // What is left in the cluster is left in Git too, or a GitOps tool would take it away.
    if (databases.isOrphaning(key))
      return { kind: 'left', message: `Its files stay ${where}, as does what it owned.`, isWanted: true };
    if (isWanted) return { kind: 'left', message: `Its files stay ${where}, as ${leaveGitAnnotation} says.`, isWanted };
    const withdrawals = finalizers.map((one) => git.withdraw(resource, one, deleted(resource)));
    const failure = withdrawals.flatMap((one) => (one.kind === 'failed' ? [one.failure] : []))[0];
    if (withdrawals.every(({ kind }) => kind === 'gone')) return { kind: 'gone' };
    const now = clock.now();
    memory.leavingSince ??= now;
    const until = Math.max(Date.parse(metadata.deletionTimestamp ?? '') + patienceMs, memory.leavingSince + leastMs);
    const why = failure ?? 'The repository has not taken their removal yet.';
    if (now >= until)
      return { kind: 'left', message: `Its files were left ${where}; remove them there. ${why}`, isWanted };
    const end = `It goes without that at ${timestamp(until)}, or at once with the annotation ${leaveGitAnnotation}: "true".`;
    return { kind: 'waiting', message: `It waits until its files ${where} are removed. ${end} ${why}`, until };
  }

  /** Lets the object go. @throws KubeError */
  async letGo({ resource, key, signal }: Run, leaving: Exclude<Leaving, { kind: 'waiting' }>): Promise<void> {
    if (leaving.kind === 'left') this.#options.onLeft(resource, leaving.message);
    if (leaving.kind === 'left' && leaving.isWanted) this.#options.git?.forget(key);
    const blocker = await this.#write(resource, { added: [], removed: gitFinalizers(resource) }, signal);
    if (blocker?.next.kind === 'retry') throw blocker.next.error;
  }

  /** It was deleted while this run went on. */
  #isLeaving({ metadata }: StoredDatabaseService): boolean {
    const newest = this.#options.databases.get(keyOf(metadata))?.metadata;
    return newest?.uid !== metadata.uid || newest.deletionTimestamp !== undefined;
  }

  /**
   * Writes the finalizers as they are to be, if that is any change. The whole list, for the version that was seen: an apply would leave one that a
   * backup of the object has brought back under another name.
   *
   * @returns what hinders it for good
   */
  async #write(
    { metadata }: StoredDatabaseService,
    { added, removed }: { readonly added: readonly string[]; readonly removed: readonly string[] },
    signal: AbortSignal,
  ): Promise<Blocker | undefined> {
    const { kube, databases } = this.#options;
    const { name, namespace, uid } = metadata;
    const newest = databases.get(keyOf(metadata))?.metadata;
    if (added.length + removed.length === 0 || newest?.uid !== uid) return undefined;
    const kept = (newest.finalizers ?? []).filter((one) => !removed.includes(one) && !added.includes(one));
    const { resourceVersion } = newest;
    const body = { metadata: { uid, resourceVersion, finalizers: [...kept, ...added] } };
    try {
      const patch = { kind: 'merge', body, fieldManager: finalizerManager } as const;
      databases.written(await kube.patch(databaseServices, { name, namespace }, patch, { signal }));
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      const { class: errorClass, kind } = classify(error);
      if (kind === 'object-missing' || kind === 'object-gone' || kind === 'object-replaced') return undefined;
      if (errorClass === 'retry-now' || errorClass === 'back-off') throw error;
      return blockerOf(error, 'the finalizer for its files in Git');
    }
  }
}

function deleted({ metadata }: StoredDatabaseService): string {
  return `DatabaseService ${keyOf(metadata)} was deleted`;
}

function remaining({ finalizer, failure }: { readonly finalizer: string; readonly failure: string }): string {
  const destination = destinationIn(finalizer);
  const where = destination === undefined ? "the controller's own branch" : `GitDestination ${destination}`;
  const advice = `It is tried again; to leave them there, take the finalizer ${finalizer} off.`;
  return `Its files in ${where}, where they are not to be any more, can't be removed: ${failure} ${advice}`;
}

function elsewhere({ metadata }: StoredDatabaseService): string {
  return `DatabaseService ${keyOf(metadata)} went elsewhere`;
}
