import type { DatabaseServiceDocument, StoredDatabaseService } from '../../constructs/api/resource.ts';
import { fileName, render } from '../../constructs/render.ts';
import { serialize } from '../../constructs/serialize.ts';
import { digest } from '../digest.ts';
import { Backoff, pause, type Clock } from '../kube/index.ts';
import { GitDeliveryError } from './git/git-delivery-error.ts';
import type { GitSubmission } from './git/submission.ts';
import type { GitTarget } from './git-target.ts';

/** What Git has of a database. */
export interface GitState {
  /** The last commit; absent while nothing was committed by this process. */
  readonly commit?: string;
  /** The folder of the database in the repository. */
  readonly path?: string;
  /** What is to be there now was handed over, and the repository has not taken it yet. */
  readonly isPending?: true;
  /** Why it could not be delivered, in a sentence; it is tried again. */
  readonly failure?: string;
  /** It is not tried again before something else changes. */
  readonly isUnusable?: true;
}

export interface GitDeliveryOptions {
  /** Where the files of a database go to; undefined: it is not delivered to Git. */
  readonly targetOf: (resource: StoredDatabaseService) => GitTarget | undefined;
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
}

type Place = Extract<GitTarget, { kind: 'place' }>;
type Submission = Omit<GitSubmission, 'folder'>;

interface Delivered extends DatabaseServiceDocument {
  readonly metadata: DatabaseServiceDocument['metadata'] & {
    readonly namespace: string;
    readonly uid: string;
    readonly generation: number;
  };
}

/** Hands the rendered files of databases to the writers of branches: each generation once, and again after a failure. */
export class GitDelivery {
  readonly #options: GitDeliveryOptions;
  readonly #deliveries = new Map<string, Delivery>();

  constructor(options: GitDeliveryOptions) {
    this.#options = options;
  }

  /**
   * Returns at once with what is known; the database is woken when that changes.
   * @returns undefined where it is not delivered to Git
   */
  deliver(resource: StoredDatabaseService): GitState | undefined {
    const { name, namespace, uid, generation } = resource.metadata;
    const key = `${namespace}/${name}`;
    const target = this.#options.targetOf(resource);
    const known = this.#deliveries.get(key);
    // What is there stays there until it is known where it is to be instead.
    if (target?.kind === 'unusable') {
      // Nobody watches over it meanwhile.
      if (known !== undefined) known.isDue = true;
      return { ...known?.state, failure: target.failure, isUnusable: true };
    }
    if (known !== undefined && known.target.id !== target?.id)
      this.remove(key, `DatabaseService ${key} went elsewhere`);
    if (target === undefined) return undefined;
    const print = digest(resource.spec);
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
    };
    this.#deliveries.set(key, delivery);
    const summary = [`generation ${generation} of DatabaseService ${key}`];
    void this.#submit(key, delivery, { namespace, name, files: filesOf(resource), change: { generation, summary } });
    return delivery.state;
  }

  /** Has a database delivered again that others have changed in Git. */
  redeliver(key: string): void {
    const known = this.#deliveries.get(key);
    if (known === undefined) return;
    known.isDue = true;
    this.#options.wake(key);
  }

  /** Removes the folder of a database that this process has delivered. @param why for the commit */
  remove(key: string, why = `DatabaseService ${key} was deleted`): void {
    const known = this.#deliveries.get(key);
    if (known === undefined) return;
    this.#deliveries.delete(key);
    const [namespace = '', name = ''] = key.split('/');
    const change = { generation: known.generation, summary: [why] };
    void this.#clear(key, known.target, { namespace, name, files: undefined, change });
  }

  async #submit(key: string, delivery: Delivery, submission: Submission): Promise<void> {
    const { clock, wake, signal } = this.#options;
    try {
      const { commit, path } = await delivery.target.submit(submission);
      delivery.backoff.reset();
      delivery.state = { ...(commit === undefined ? {} : { commit }), path };
      if (this.#deliveries.get(key) === delivery) wake(key);
    } catch (error) {
      delivery.state = { ...delivery.state, failure: error instanceof Error ? error.message : String(error) };
      if (this.#deliveries.get(key) !== delivery) return;
      wake(key);
      await pause(clock, delivery.backoff.next(), signal);
      delivery.isDue = true;
      if (this.#deliveries.get(key) === delivery) wake(key);
    }
  }

  /** Until it is done, the database is there again, or nothing is written there any more. */
  async #clear(key: string, target: Place, submission: Submission): Promise<void> {
    const { clock, signal } = this.#options;
    const backoff = new Backoff({ random: Math.random });
    while (this.#deliveries.get(key)?.target.id !== target.id) {
      try {
        await target.submit(submission);
        return;
      } catch (error) {
        if (!isTriedAgain(error) || !(await pause(clock, backoff.next(), signal))) return;
      }
    }
  }
}

function isTriedAgain(error: unknown): boolean {
  return error instanceof GitDeliveryError && error.reason !== 'WriterStopped';
}

/** The same bytes as `cdk8s synth` writes. */
function filesOf({ apiVersion, kind, metadata, spec }: Delivered): ReadonlyMap<string, string> {
  const { name, namespace } = metadata;
  const manifests = render({ apiVersion, kind, metadata: { name, namespace }, spec });
  return new Map(manifests.map((manifest) => [fileName(manifest), serialize(manifest)]));
}
