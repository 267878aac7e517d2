import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { fileName, render } from '../../constructs/render.ts';
import { serialize } from '../../constructs/serialize.ts';
import type { GitState, Withdrawal } from '../database/delivery.ts';
import { document } from '../database/document.ts';
import { wasThere } from '../database/git-chain.ts';
import { digest } from '../digest.ts';
import { Backoff, keyOf, pause, type Clock } from '../kube/index.ts';
import { GitDeliveryError } from './git/git-delivery-error.ts';
import { contentHash, type GitSubmission } from './git/submission.ts';
import type { GitDelivery as Delivered } from './git/writer.ts';
import type { GitTarget } from './git-target.ts';

export interface GitDeliveryOptions {
  /** Where the files of a database go to; undefined: it is not delivered to Git. */
  readonly targetOf: (resource: StoredDatabaseService) => GitTarget | undefined;
  /** Where the files of a database are that bears a finalizer. */
  readonly targetIn: (resource: StoredDatabaseService, finalizer: string) => GitTarget;
  /** What must not get into Git. */
  readonly passwordsOf: (resource: StoredDatabaseService) => Promise<readonly string[]>;
  readonly clock: Clock;
  /** Ends the waits between tries. */
  readonly signal: AbortSignal;
  /** Called when the state of a database has changed. */
  readonly wake: (key: string) => void;
}

interface Delivery {
  readonly uid: string;
  readonly generation: number;
  /** Of what is delivered: the same generation is delivered differently while a rollout goes on. */
  readonly print: string;
  readonly target: Place;
  readonly backoff: Backoff;
  state: GitState;
  /** It failed, or may not be in Git any more. */
  isDue: boolean;
  /** What is there is to be removed: nothing is written any more. */
  isLeaving: boolean;
}

/** The removal of a folder from a place that a database bears the finalizer of. */
interface Clearance {
  /** Of the database. */
  readonly uid: string;
  readonly backoff: Backoff;
  state: Withdrawal;
  /** It failed, and the time has come to try again. */
  isDue: boolean;
}

type Place = Extract<GitTarget, { kind: 'place' }>;
type Submission = Omit<GitSubmission, 'folder'>;

/** Hands the rendered files of databases to the writers of branches: each generation once, and again after a failure. */
export class GitDelivery {
  readonly #options: GitDeliveryOptions;
  readonly #deliveries = new Map<string, Delivery>();
  /**
   * The hash of the files of each database that the branch had, as the status that another controller wrote says. That may be lost or forged: only
   * whether an edit is told as one, and left, after a restart depends on it.
   */
  readonly #recalled = new Map<string, string | undefined>();
  /** By key and place. */
  readonly #clearances = new Map<string, Clearance>();
  /** Why folders of databases could not be removed that no finalizer tells of, by key. */
  readonly #remains = new Map<string, string>();

  constructor(options: GitDeliveryOptions) {
    this.#options = options;
  }

  /**
   * Returns at once with what is known; the database is woken when that changes.
   * @param isLeft what others change in the files is not undone before other files are wanted
   * @returns undefined where it is not delivered to Git
   */
  deliver(resource: StoredDatabaseService, isLeft: boolean): GitState | undefined {
    const state = this.#deliver(resource, isLeft);
    const remains = this.#remains.get(keyOf(resource.metadata));
    return state === undefined || remains === undefined ? state : { ...state, remains };
  }

  #deliver(resource: StoredDatabaseService, isLeft: boolean): GitState | undefined {
    const { name, namespace, uid, generation } = resource.metadata;
    const key = keyOf(resource.metadata);
    const isFirst = !this.#recalled.has(key);
    const pushed = isFirst && wasPushed(resource) ? filesOf(resource) : undefined;
    if (isFirst) this.#recalled.set(key, pushed && contentHash(pushed));
    const target = this.#options.targetOf(resource);
    const known = this.#deliveries.get(key);
    // What is there stays there until it is known where it is to be instead.
    if (target?.kind === 'unusable') {
      // Nobody watches over it meanwhile.
      if (known !== undefined) known.isDue = true;
      return { ...known?.state, failure: target.failure, isUnusable: true };
    }
    if (known !== undefined && known.target.id !== target?.id) {
      // With its finalizer, it is withdrawn from there.
      const isMarked = resource.metadata.finalizers?.includes(known.target.finalizer) === true;
      if (isMarked && known.target.finalizer !== target?.finalizer) this.forget(key);
      else this.#removeKnown(key, `DatabaseService ${key} went elsewhere`);
    }
    if (target === undefined) return undefined;
    const print = `${digest([document(resource), isLeft])} ${target.way}`;
    const isHere = known?.target.id === target.id;
    const isSame = isHere && known.uid === uid && known.generation === generation && known.print === print;
    if (isSame && !known.isDue) return known.state;
    const delivery: Delivery = {
      uid,
      generation,
      print,
      target,
      backoff: isSame ? known.backoff : new Backoff({ random: Math.random }),
      state: { ...(isHere ? known.state : {}), isPending: true },
      isDue: false,
      isLeaving: false,
    };
    this.#deliveries.set(key, delivery);
    this.#clearances.delete(`${key} ${target.id}`);
    const files = pushed ?? filesOf(resource);
    const recalled = this.#recalled.get(key);
    void this.#submit(resource, delivery, {
      namespace,
      name,
      files,
      foreign: isLeft ? 'left' : 'restored',
      wasThere: recalled !== undefined && recalled === contentHash(files),
      change: { generation, summary: [] },
    });
    return delivery.state;
  }

  finalizerOf(resource: StoredDatabaseService): string | undefined {
    const target = this.#options.targetOf(resource);
    return target?.kind === 'place' ? target.finalizer : undefined;
  }

  /** Removes a database's folder from the place of a finalizer, and returns at once with what is known of that. */
  withdraw(resource: StoredDatabaseService, finalizer: string, why: string): Withdrawal {
    const { name, namespace, uid, generation, deletionTimestamp } = resource.metadata;
    const key = keyOf(resource.metadata);
    const target = this.#options.targetIn(resource, finalizer);
    if (target.kind === 'unusable') return { kind: 'failed', failure: target.failure };
    // Two destinations may mean one folder.
    const here = this.#deliveries.get(key);
    if (here?.target.id === target.id) {
      if (deletionTimestamp === undefined) return { kind: 'gone' };
      here.isLeaving = true;
    }
    const place = `${key} ${target.id}`;
    const known = this.#clearances.get(place);
    if (known?.uid === uid && known.state.kind === 'gone') this.#clearances.delete(place);
    if (known?.uid === uid && !known.isDue) return known.state;
    const isSame = known?.uid === uid;
    const clearance: Clearance = {
      uid,
      backoff: isSame ? known.backoff : new Backoff({ random: Math.random }),
      state: isSame ? known.state : { kind: 'pending' },
      isDue: false,
    };
    this.#clearances.set(place, clearance);
    void this.#clearOnce(place, clearance, target, {
      namespace,
      name,
      files: undefined,
      change: { generation, summary: [why] },
    });
    return clearance.state;
  }

  /** Leaves the folder of a database where it is. */
  forget(key: string): void {
    this.#deliveries.delete(key);
  }

  /** Has a database delivered again that others have changed in Git, or whose place takes commits again. */
  redeliver(key: string): void {
    const known = this.#deliveries.get(key);
    if (known !== undefined) known.isDue = true;
    const failed = [...this.#clearances].filter(
      ([place, { state }]) => place.startsWith(`${key} `) && state.kind === 'failed',
    );
    for (const [, clearance] of failed) clearance.isDue = true;
    if (known !== undefined || failed.length > 0) this.#options.wake(key);
  }

  /** Removes the folder of a database that is gone, if this process has delivered it. */
  remove(key: string): void {
    this.#remains.delete(key);
    for (const place of this.#clearances.keys()) if (place.startsWith(`${key} `)) this.#clearances.delete(place);
    this.#recalled.delete(key);
    this.#removeKnown(key, `DatabaseService ${key} was deleted`);
  }

  /** @param why for the commit */
  #removeKnown(key: string, why: string): void {
    const known = this.#deliveries.get(key);
    if (known === undefined) return;
    this.#deliveries.delete(key);
    const [namespace = '', name = ''] = key.split('/');
    const change = { generation: known.generation, summary: [why] };
    void this.#clear(key, known.target, { namespace, name, files: undefined, change });
  }

  async #submit(resource: StoredDatabaseService, delivery: Delivery, submission: Submission): Promise<void> {
    const { clock, wake, signal, passwordsOf } = this.#options;
    const key = keyOf(submission);
    try {
      const passwords = await passwordsOf(resource);
      if (this.#deliveries.get(key) !== delivery || delivery.isLeaving) return;
      const delivered = await delivery.target.submit({ ...submission, passwords });
      delivery.backoff.reset();
      delivery.state = stateAfter(delivered);
      if (this.#deliveries.get(key) === delivery) wake(key);
    } catch (error) {
      delivery.state = { ...delivery.state, failure: words(error) };
      if (this.#deliveries.get(key) !== delivery) return;
      wake(key);
      await pause(clock, delivery.backoff.next(), signal);
      delivery.isDue = true;
      if (this.#deliveries.get(key) === delivery) wake(key);
    }
  }

  async #clearOnce(place: string, clearance: Clearance, target: Place, submission: Submission): Promise<void> {
    const { clock, wake, signal } = this.#options;
    const key = keyOf(submission);
    try {
      await target.submit(submission);
      clearance.state = { kind: 'gone' };
      const isWanted = this.#clearances.get(place) === clearance;
      if (isWanted && this.#deliveries.get(key)?.target.id === target.id) this.forget(key);
      wake(key);
    } catch (error) {
      clearance.state = { kind: 'failed', failure: words(error) };
      wake(key);
      await pause(clock, clearance.backoff.next(), signal);
      clearance.isDue = true;
      if (this.#clearances.get(place) === clearance) wake(key);
    }
  }

  /** Until it is done, the database is there again, or nothing is written there any more. */
  async #clear(key: string, target: Place, submission: Submission): Promise<void> {
    const { clock, signal } = this.#options;
    const backoff = new Backoff({ random: Math.random });
    while (this.#deliveries.get(key)?.target.id !== target.id) {
      try {
        await target.submit(submission);
        return this.#noteRemains(key, undefined);
      } catch (error) {
        if (!isTriedAgain(error)) return;
        this.#noteRemains(key, `Its files in the folder before can't be removed: ${words(error)} It is tried again.`);
        if (!(await pause(clock, backoff.next(), signal))) return;
      }
    }
    this.#noteRemains(key, undefined);
  }

  #noteRemains(key: string, why: string | undefined): void {
    if (this.#remains.get(key) === why) return;
    if (why === undefined) this.#remains.delete(key);
    // Of one that is gone, or in Git no more, nobody is told.
    else if (this.#deliveries.has(key)) this.#remains.set(key, why);
    this.#options.wake(key);
  }
}

function stateAfter({ commit, path, review, edits, restored }: Delivered): GitState {
  return {
    path,
    ...(review && { review }),
    ...(commit !== undefined && { commit }),
    ...(edits !== undefined && { edits }),
    ...(commit !== undefined && restored !== undefined && { restored: { commit, edits: restored } }),
  };
}

function wasPushed({ metadata, status }: StoredDatabaseService): boolean {
  const committed = status?.conditions?.find(({ type }) => type === 'Committed');
  return committed !== undefined && wasThere(committed, metadata.generation);
}

function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function isTriedAgain(error: unknown): boolean {
  return error instanceof GitDeliveryError && error.reason !== 'WriterStopped';
}

/** The same bytes as `cdk8s synth` writes. */
function filesOf(resource: StoredDatabaseService): ReadonlyMap<string, string> {
  return new Map(render(document(resource)).map((manifest) => [fileName(manifest), serialize(manifest)]));
}
