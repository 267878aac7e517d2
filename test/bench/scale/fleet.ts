import type { StoredDatabaseService } from '../../../constructs/api/resource.ts';
import { databaseLabel } from '../../../constructs/labels.ts';
import { databaseServices, typeOf, watchedKinds } from '../../../controller/database/kinds.ts';
import {
  keyOf,
  Reflector,
  type Kube,
  type KubeObject,
  type ObjectKey,
  type ResourceType,
} from '../../../controller/kube/index.ts';
import { benchDatabase } from '../database.ts';
import { inParallel } from '../in-parallel.ts';
import { namespaceOf } from './grounds.ts';

/** Databases that are made at the same time. */
const loops = 8;
const prefix = 'fleet';

/** Many databases, and what a watch shows of them: the API server's word, not the controller's. */
export class Fleet implements AsyncDisposable {
  readonly #kube: Kube;
  readonly #stop = new AbortController();
  readonly #running = new Set<ObjectKey>();
  readonly #schedules = new Map<ObjectKey, string>();
  readonly #watches: readonly Promise<unknown>[];
  #changed = Promise.withResolvers<void>();
  #created = 0;
  #edits = 0;

  constructor(kube: Kube) {
    this.#kube = kube;
    this.#watches = [
      this.#watch(databaseServices, (object) => this.#note(object as unknown as StoredDatabaseService)),
      this.#watch(typeOf({ kind: 'CronJob' }), ({ metadata, ...rest }) => {
        const { spec } = rest as unknown as { readonly spec: { readonly schedule: string } };
        const { namespace, labels } = metadata;
        this.#schedules.set(keyOf({ namespace, name: labels?.[databaseLabel] ?? '' }), spec.schedule);
      }),
    ];
  }

  /** What its namespaces begin with. */
  get prefix(): string {
    return prefix;
  }

  /** How many are running, as their statuses say. */
  get running(): number {
    return this.#running.size;
  }

  /** How many were created, or begun to be. */
  get created(): number {
    return this.#created;
  }

  /** Creates databases until there are so many, several at a time, or until the signal says that it is enough. */
  async create(count: number, signal?: AbortSignal): Promise<void> {
    const from = this.#created;
    this.#created = count;
    await inParallel(loops, count - from, async (i) => {
      if (signal?.aborted === true) return;
      const { namespace, name } = refOf(from + i);
      await this.#kube.create(benchDatabase(namespace, name), { type: databaseServices, fieldManager: 'bench' });
    });
  }

  /** Waits until so many are running. */
  async areRunning(count: number): Promise<void> {
    await this.#until(() => this.#running.size >= count);
  }

  /** A database as it is stored. */
  async stored(number: number): Promise<StoredDatabaseService> {
    return (await this.#kube.get(databaseServices, refOf(number))) as unknown as StoredDatabaseService;
  }

  /** Milliseconds from the answer to an edit of a spec until a watch shows what follows from it. */
  async edit(number: number): Promise<number> {
    const ref = refOf(number);
    const edit = this.#edits++;
    // Each edit asks for something that no database had before.
    const schedule = `${edit % 60} ${3 + (Math.floor(edit / 60) % 20)} * * *`;
    const body = { spec: { backup: { schedule } } };
    await this.#kube.patch(databaseServices, ref, { kind: 'merge', body, fieldManager: 'bench' });
    const start = performance.now();
    await this.#until(() => this.#schedules.get(keyOf(ref)) === schedule);
    return performance.now() - start;
  }

  /** How many objects of databases the API server has. */
  async objects(): Promise<number> {
    let count = 0;
    for (const { type } of watchedKinds) {
      const selection = { labelSelector: databaseLabel, metadataOnly: true };
      for await (const { items } of this.#kube.list(type, selection)) count += items.length;
    }
    return count;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#watches);
  }

  async #until(holds: () => boolean): Promise<void> {
    while (!holds()) await this.#changed.promise;
  }

  #note({ metadata, status }: StoredDatabaseService): void {
    const key = keyOf(metadata);
    if (status?.phase === 'Running') this.#running.add(key);
    else this.#running.delete(key);
  }

  #watch(type: ResourceType, note: (object: KubeObject) => void): Promise<void> {
    const onUpsert = (object: KubeObject): void => {
      note(object);
      this.#changed.resolve();
      this.#changed = Promise.withResolvers();
    };
    const handler = { onUpsert, onDelete: () => undefined };
    return new Reflector({ kube: this.#kube, type, handler }).start(this.#stop.signal);
  }
}

function refOf(number: number): { readonly namespace: string; readonly name: string } {
  return { namespace: namespaceOf(prefix, number), name: `db-${number}` };
}
