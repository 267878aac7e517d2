import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { isOlder, keyOf, type KubeObject, type ObjectKey } from '../kube/index.ts';
import { TextPool } from '../runtime/text-pool.ts';
import { newMemory, type Memory } from './memory.ts';
import { statusManager } from './status-writer.ts';

/** The DatabaseServices as the watch and our own writes last showed them, and what is remembered of each. */
export class Databases {
  readonly #resources = new Map<ObjectKey, StoredDatabaseService>();
  readonly #memories = new Map<ObjectKey, Memory>();
  readonly #orphaning = new Set<ObjectKey>();
  readonly #changed: (key: ObjectKey, isInitial: boolean) => void;

  constructor(changed: (key: ObjectKey, isInitial: boolean) => void) {
    this.#changed = changed;
  }

  get(key: ObjectKey): StoredDatabaseService | undefined {
    return this.#resources.get(key);
  }

  keys(): Iterable<ObjectKey> {
    return this.#resources.keys();
  }

  get size(): number {
    return this.#resources.size;
  }

  /** Takes an object from the watch. What is older than our own write of its status is passed over; the echo of that wakes nobody. */
  upsert(object: KubeObject, isInitial: boolean): void {
    const key = keyOf(object.metadata);
    const { uid, resourceVersion } = object.metadata;
    const known = this.#memories.get(key);
    const memory = known?.uid === uid ? known : undefined;
    if (isOlder(resourceVersion, memory?.awaitedVersion)) return;
    const isEcho = memory !== undefined && memory.awaitedVersion === resourceVersion;
    if (memory !== undefined) {
      memory.awaitedVersion = undefined;
      memory.isStatusOurs = isStatusOurs(object);
    }
    // What we have written we know, and share parts of it.
    if (!isEcho) this.#resources.set(key, trimmed(object));
    if (object.metadata.finalizers?.includes(orphanFinalizer) === true) this.#orphaning.add(key);
    else if (object.metadata.deletionTimestamp === undefined) this.#orphaning.delete(key);
    if (!isEcho) this.#changed(key, isInitial);
  }

  delete(key: ObjectKey): void {
    this.#resources.delete(key);
    this.#changed(key, false);
  }

  /** Takes the object as our own write of its status left it. It may show a change of the spec before the watch does. */
  written(object: KubeObject): void {
    const key = keyOf(object.metadata);
    const before = this.#resources.get(key);
    const memory = this.#memories.get(key);
    const { uid, resourceVersion, generation, deletionTimestamp } = object.metadata;
    if (before === undefined || before.metadata.uid !== uid || memory?.uid !== uid) return;
    if (!isOlder(before.metadata.resourceVersion, resourceVersion)) return;
    memory.awaitedVersion = resourceVersion;
    this.#resources.set(key, trimmed(object));
    const isNews = generation !== before.metadata.generation || deletionTimestamp !== before.metadata.deletionTimestamp;
    if (isNews) this.#changed(key, false);
  }

  /** Whether a database was last seen on its way out, with all that it owns to stay: `kubectl delete --cascade=orphan`. */
  isOrphaning(key: ObjectKey): boolean {
    return this.#orphaning.has(key);
  }

  /** Whether it is as it was created, and not all of it has been made yet. */
  isNew(key: ObjectKey): boolean {
    const resource = this.#resources.get(key);
    if (resource === undefined || resource.metadata.generation > 1) return false;
    return this.#memories.get(key)?.wholeGeneration === undefined && resource.status?.phase !== 'Running';
  }

  memory(key: ObjectKey, uid: string): Memory {
    const known = this.#memories.get(key);
    if (known?.uid === uid) return known;
    const fresh = newMemory(uid);
    this.#memories.set(key, fresh);
    return fresh;
  }

  /** An object of the database is missing from a list: before it is made again, the database has to be asked for. */
  doubt(key: ObjectKey): void {
    const memory = this.#memories.get(key);
    if (memory !== undefined) memory.isDoubtful = true;
  }

  forget(key: ObjectKey): void {
    this.#memories.delete(key);
    this.#orphaning.delete(key);
  }

  /** Notes that the history of the server went back: a generation seen before may come again with another spec. */
  forgetVersions(): void {
    for (const memory of this.#memories.values()) {
      memory.awaitedVersion = undefined;
      memory.settledGeneration = undefined;
    }
  }
}

/** Put on by the API server. Source: https://kubernetes.io/docs/concepts/architecture/garbage-collection/#orphaned-dependents */
const orphanFinalizer = 'orphan';

/** By managedFields. */
function isStatusOurs({ metadata }: KubeObject): boolean {
  const writers = (metadata.managedFields ?? []).filter(({ subresource }) => subresource === 'status');
  return writers.every(({ manager }) => manager === statusManager);
}

/** What databases say of themselves is mostly the same for all of them. */
const words = new TextPool(4096);

/** Without what is not read again, and with common words in memory once. */
function trimmed(object: KubeObject): StoredDatabaseService {
  const { managedFields: _, ...metadata } = object.metadata;
  const { status, ...rest } = { ...object, metadata } as unknown as StoredDatabaseService;
  if (status === undefined) return rest;
  const conditions = status.conditions?.map(({ type, reason, message, lastTransitionTime, ...more }) => ({
    ...more,
    type: words.share(type),
    reason: words.share(reason),
    message: words.share(message),
    lastTransitionTime: words.share(lastTransitionTime),
  }));
  return { ...rest, status: conditions === undefined ? status : { ...status, conditions } };
}
