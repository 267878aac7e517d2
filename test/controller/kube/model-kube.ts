import {
  KubeError,
  type Kube,
  type KubeObject,
  type ListOptions,
  type Page,
  type ResourceType,
  type WatchEvent,
  type WatchOptions,
} from '../../../controller/kube/index.ts';

export const CONFIG_MAPS: ResourceType = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};

export type ModelRequest =
  | { readonly verb: 'list'; readonly limit: number | undefined }
  | { readonly verb: 'watch'; readonly from: string; readonly timeoutSeconds: number };

type Change = { readonly version: number; readonly event: WatchEvent };

/** One open watch: what waits to be read, and how it ends. */
interface OpenWatch {
  readonly queue: WatchEvent[];
  end: { readonly error: unknown } | undefined;
  wake: () => void;
}

/** The ConfigMaps of one namespace in memory, with versions, history and watches as the API has them, and faults on demand. */
export class ModelKube implements Pick<Kube, 'list' | 'watch'> {
  readonly objects = new Map<string, KubeObject>();
  readonly requests: ModelRequest[] = [];
  /** Thrown by the next lists and watches, first come first served; `undefined` lets one pass. */
  readonly listErrors: unknown[] = [];
  readonly watchErrors: unknown[] = [];
  /** Called before each page of a list but the first. */
  onNextPage: (() => void) | undefined;
  version = 100;
  #history: Change[] = [];
  #oldest = 100;
  #uids = 0;
  #watches = new Set<OpenWatch>();

  get openWatches(): number {
    return this.#watches.size;
  }

  put(name: string, data: string): void {
    const before = this.objects.get(name);
    const uid = before?.metadata.uid ?? `uid-${(this.#uids += 1)}`;
    this.version += 1;
    const metadata = { name, namespace: 'shop', uid, resourceVersion: String(this.version) };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { value: data } };
    this.objects.set(name, object);
    this.#record({ type: before === undefined ? 'ADDED' : 'MODIFIED', object });
  }

  remove(name: string): void {
    const object = this.objects.get(name);
    if (object === undefined) return;
    this.objects.delete(name);
    this.version += 1;
    this.#record({
      type: 'DELETED',
      object: { ...object, metadata: { ...object.metadata, resourceVersion: String(this.version) } },
    });
  }

  bookmark(version = this.version): void {
    this.#send({ type: 'BOOKMARK', resourceVersion: String(version) });
  }

  /** Forgets what was before now, as etcd's compaction does. */
  compact(): void {
    this.#oldest = this.version;
    this.#history = [];
  }

  /** etcd comes back from a backup: the objects as they were, the counter set back, and no watch of before is told. */
  restore(objects: ReadonlyMap<string, KubeObject>, version: number): void {
    this.objects.clear();
    for (const [name, object] of objects) this.objects.set(name, object);
    this.version = version;
    this.compact();
  }

  endWatches(): void {
    this.#end({ error: undefined });
  }

  breakWatches(error: unknown): void {
    this.#end({ error });
  }

  async *list<T extends KubeObject>(_: ResourceType<T>, options: ListOptions = {}): AsyncGenerator<Page<T>, void> {
    this.requests.push({ verb: 'list', limit: options.limit });
    throwNext(this.listErrors);
    const resourceVersion = String(this.version);
    const objects = [...this.objects.values()] as unknown as T[];
    const limit = options.limit ?? 500;
    for (let at = 0; at === 0 || at < objects.length; at += limit) {
      if (at > 0) {
        this.onNextPage?.();
        throwNext(this.listErrors);
      }
      yield { items: objects.slice(at, at + limit), resourceVersion };
    }
  }

  async *watch<T extends KubeObject>(_: ResourceType<T>, options: WatchOptions): AsyncGenerator<WatchEvent<T>, void> {
    const { resourceVersion: from, timeoutSeconds, signal } = options;
    this.requests.push({ verb: 'watch', from, timeoutSeconds });
    throwNext(this.watchErrors);
    if (Number(from) < this.#oldest) throw failure(410, 'Expired');
    const missed = this.#history.filter(({ version }) => version > Number(from)).map(({ event }) => event);
    const watch: OpenWatch = { queue: missed, end: undefined, wake: () => undefined };
    const onAbort = (): void => endWatch(watch, { error: signal?.reason });
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#watches.add(watch);
    try {
      for (;;) {
        const event = watch.queue.shift();
        if (event !== undefined) yield event as WatchEvent<T>;
        else if (watch.end?.error !== undefined) throw watch.end.error;
        else if (watch.end !== undefined) return;
        else await new Promise<void>((resolve) => (watch.wake = resolve));
      }
    } finally {
      this.#watches.delete(watch);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  #record(event: WatchEvent): void {
    this.#history.push({ version: this.version, event });
    this.#send(event);
  }

  #send(event: WatchEvent): void {
    for (const watch of this.#watches) {
      watch.queue.push(event);
      watch.wake();
    }
  }

  #end(end: NonNullable<OpenWatch['end']>): void {
    for (const watch of this.#watches) endWatch(watch, end);
  }
}

export function failure(status: number | undefined, reason: string, retryAfterSeconds?: number): KubeError {
  const tried = { verb: 'watch', kind: 'ConfigMap', object: 'shop' };
  return new KubeError({ tried, status, reason, message: 'a fault of this test', retryAfterSeconds });
}

function endWatch(watch: OpenWatch, end: NonNullable<OpenWatch['end']>): void {
  watch.end ??= end;
  watch.wake();
}

function throwNext(errors: unknown[]): void {
  const error = errors.shift();
  if (error !== undefined) throw error;
}
