import type { DatabaseServiceDocument } from '../../constructs/api/resource.ts';
import { fileName, render } from '../../constructs/render.ts';
import { serialize } from '../../constructs/serialize.ts';
import { digest } from '../digest.ts';
import { Backoff, pause, type Clock } from '../kube/index.ts';
import type { GitWriter } from './git/writer.ts';

/** What Git has of a database. */
export interface GitState {
  /** The last commit; absent while nothing was committed by this process. */
  readonly commit?: string;
  /** The folder of the database in the repository. */
  readonly path?: string;
  /** Why it could not be delivered, in a sentence; it is tried again. */
  readonly failure?: string;
}

export interface GitDeliveryOptions {
  readonly writer: Pick<GitWriter, 'submit'>;
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
  readonly backoff: Backoff;
  state: GitState;
  isFailed: boolean;
}

interface Delivered extends DatabaseServiceDocument {
  readonly metadata: DatabaseServiceDocument['metadata'] & {
    readonly namespace: string;
    readonly uid: string;
    readonly generation: number;
  };
}

/** Hands the rendered files of databases to the writer of a branch: each generation once, and again after a failure. */
export class GitDelivery {
  readonly #options: GitDeliveryOptions;
  readonly #deliveries = new Map<string, Delivery>();

  constructor(options: GitDeliveryOptions) {
    this.#options = options;
  }

  /** Returns at once with what is known; the database is woken when that changes. */
  deliver(resource: Delivered): GitState {
    const { name, namespace, uid, generation } = resource.metadata;
    const key = `${namespace}/${name}`;
    const known = this.#deliveries.get(key);
    const print = digest(resource.spec);
    const isSame = known?.uid === uid && known.generation === generation && known.print === print;
    if (isSame && !known.isFailed) return known.state;
    const delivery: Delivery = {
      uid,
      generation,
      print,
      backoff: isSame ? known.backoff : new Backoff({ random: Math.random }),
      state: known?.state ?? {},
      isFailed: false,
    };
    this.#deliveries.set(key, delivery);
    const summary = [`generation ${generation} of DatabaseService ${key}`];
    void this.#submit(key, delivery, { namespace, name, files: filesOf(resource), change: { generation, summary } });
    return delivery.state;
  }

  /** Removes the folder of a database that this process has delivered. */
  remove(key: string): void {
    const known = this.#deliveries.get(key);
    if (known === undefined) return;
    this.#deliveries.delete(key);
    const [namespace = '', name = ''] = key.split('/');
    const change = { generation: known.generation, summary: [`DatabaseService ${key} was deleted`] };
    void this.#submit(key, known, { namespace, name, files: undefined, change });
  }

  async #submit(key: string, delivery: Delivery, submission: Parameters<GitWriter['submit']>[0]): Promise<void> {
    const { writer, clock, wake } = this.#options;
    try {
      const { commit, path } = await writer.submit(submission);
      delivery.backoff.reset();
      delivery.state = { ...(commit === undefined ? {} : { commit }), path };
      if (this.#deliveries.get(key) === delivery) wake(key);
    } catch (error) {
      delivery.state = { ...delivery.state, failure: error instanceof Error ? error.message : String(error) };
      if (this.#deliveries.get(key) !== delivery) return;
      wake(key);
      await pause(clock, delivery.backoff.next(), this.#options.signal);
      delivery.isFailed = true;
      if (this.#deliveries.get(key) === delivery) wake(key);
    }
  }
}

/** The same bytes as `cdk8s synth` writes. */
function filesOf({ apiVersion, kind, metadata, spec }: Delivered): ReadonlyMap<string, string> {
  const { name, namespace } = metadata;
  const manifests = render({ apiVersion, kind, metadata: { name, namespace }, spec });
  return new Map(manifests.map((manifest) => [fileName(manifest), serialize(manifest)]));
}
