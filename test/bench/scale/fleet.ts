import type { StoredDatabaseService } from '../../../constructs/api/resource.ts';
import { databaseLabel } from '../../../constructs/labels.ts';
import { databaseServices, typeOf, watchedKinds } from '../../../controller/database/kinds.ts';
import { stateAll } from '../../../controller/database/stated.ts';
import { Reflector, type Kube, type KubeObject, type ResourceType } from '../../../controller/kube/index.ts';
import { eventually } from '../../controller/running-plumbline.ts';
import { benchDatabase } from '../database.ts';
import { inParallel } from '../in-parallel.ts';

const longestMs = 3_600_000;
/** Databases that are made at the same time. */
const loops = 8;

/** Many databases in one namespace, and what a watch shows of them: the API server's word, not the controller's. */
export class Fleet implements AsyncDisposable {
  readonly #kube: Kube;
  readonly #namespace: string;
  readonly #stop = new AbortController();
  readonly #running = new Set<string>();
  readonly #schedules = new Map<string, string>();
  readonly #watches: readonly Promise<unknown>[];

  private constructor(kube: Kube, namespace: string) {
    this.#kube = kube;
    this.#namespace = namespace;
    const cronJobs = typeOf({ kind: 'CronJob' });
    const reflectors = [
      this.#reflector(databaseServices, (object) => this.#note(object as unknown as StoredDatabaseService)),
      this.#reflector(cronJobs, ({ metadata, ...rest }) => {
        const { spec } = rest as unknown as { readonly spec: { readonly schedule: string } };
        this.#schedules.set(metadata.labels?.[databaseLabel] ?? '', spec.schedule);
      }),
    ];
    this.#watches = reflectors.map((reflector) => reflector.start(this.#stop.signal));
  }

  static watch(kube: Kube, namespace: string): Fleet {
    return new Fleet(kube, namespace);
  }

  /** Creates the databases of these numbers, several at a time. */
  async create(from: number, to: number): Promise<void> {
    await inParallel(loops, to - from, async (i) => {
      const database = benchDatabase(this.#namespace, nameOf(from + i));
      await this.#kube.create(database, { type: databaseServices, fieldManager: 'bench' });
    });
  }

  /** Waits until so many are running, as their statuses say. */
  async areRunning(count: number): Promise<void> {
    await eventually(
      `${count} databases are running`,
      async () => {
        if (this.#running.size >= count) return true;
        await new Promise((resolve) => setTimeout(resolve, 100));
        return undefined;
      },
      longestMs,
    );
  }

  /** Milliseconds from the answer to an edit of a spec until a watch shows what follows from it. */
  async edit(number: number, minute: number): Promise<number> {
    const name = nameOf(number);
    const schedule = `${minute % 60} 3 * * *`;
    const body = { spec: { backup: { schedule } } };
    await this.#kube.patch(
      databaseServices,
      { namespace: this.#namespace, name },
      { kind: 'merge', body, fieldManager: 'bench' },
    );
    const start = performance.now();
    while (this.#schedules.get(name) !== schedule) await new Promise((resolve) => setTimeout(resolve, 1));
    return performance.now() - start;
  }

  /** How many objects of databases the API server has. */
  async objects(): Promise<number> {
    let count = 0;
    for (const { type } of watchedKinds) {
      const selection = { namespace: this.#namespace, labelSelector: databaseLabel, metadataOnly: true };
      for await (const { items } of this.#kube.list(type, selection)) count += items.length;
    }
    return count;
  }

  /** Seconds for each database when its bodies are applied one after the other, in another namespace. */
  async floor(namespace: string, count: number): Promise<number> {
    const ref = { namespace: this.#namespace, name: nameOf(0) };
    const stored = (await this.#kube.get(databaseServices, ref)) as unknown as StoredDatabaseService;
    const start = performance.now();
    await inParallel(1, count, async (i) => {
      const resource = { ...stored, metadata: { ...stored.metadata, name: nameOf(i), namespace } };
      for (const { object } of stateAll(resource)) {
        const { ownerReferences: _, ...metadata } = object.metadata;
        await this.#kube.apply({ ...object, metadata }, { type: typeOf(object), fieldManager: 'bare', force: true });
      }
    });
    return (performance.now() - start) / 1000 / count;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#watches);
  }

  #note({ metadata, status }: StoredDatabaseService): void {
    if (status?.phase === 'Running') this.#running.add(metadata.name);
    else this.#running.delete(metadata.name);
  }

  #reflector(type: ResourceType, note: (object: KubeObject) => void) {
    return new Reflector({
      kube: this.#kube,
      type,
      selection: { namespace: this.#namespace },
      handler: { onUpsert: note, onDelete: () => undefined },
    });
  }
}

const nameOf = (number: number): string => `db-${number}`;
