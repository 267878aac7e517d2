import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { isOlder, keyOf, type KubeObject, type ObjectKey } from '../kube/index.ts';

/** What is remembered of a database beside its object; gone with the process, so nothing depends on it but the cost. */
export interface Memory {
  /** uid of the object that this is about. */
  readonly uid: string;
  /** Keys of the objects that were found or made true. */
  readonly known: Set<string>;
  /** The generation whose manifests were all found or made true. */
  settledGeneration: number | undefined;
  /** Version of the object that our last write of the status left. */
  statusVersion: string | undefined;
}

/** The DatabaseServices as the watch last showed them. */
export class Databases {
  readonly #resources = new Map<string, StoredDatabaseService>();
  readonly #memories = new Map<string, Memory>();
  readonly #changed: (key: string, isInitial: boolean) => void;

  constructor(changed: (key: string, isInitial: boolean) => void) {
    this.#changed = changed;
  }

  get(key: string): StoredDatabaseService | undefined {
    return this.#resources.get(key);
  }

  get size(): number {
    return this.#resources.size;
  }

  /** Takes an object from the watch; the echo of our own write of its status wakes nobody. */
  upsert(object: KubeObject, isInitial: boolean): void {
    const key = keyOf(object.metadata);
    const before = this.#resources.get(key);
    const version = object.metadata.resourceVersion;
    if (before?.metadata.uid === object.metadata.uid && isOlder(version, before?.metadata.resourceVersion)) return;
    this.#resources.set(key, withoutManagers(object));
    const isEcho = this.#memories.get(key)?.statusVersion === version && before?.metadata.uid === object.metadata.uid;
    if (!isEcho) this.#changed(key, isInitial);
  }

  delete(key: ObjectKey): void {
    this.#resources.delete(key);
    this.#changed(key, false);
  }

  /** Takes the object as our own write of its status left it. */
  written(object: KubeObject): void {
    const key = keyOf(object.metadata);
    const before = this.#resources.get(key);
    const memory = this.#memories.get(key);
    if (before === undefined || before.metadata.uid !== object.metadata.uid || memory === undefined) return;
    memory.statusVersion = object.metadata.resourceVersion;
    if (isOlder(before.metadata.resourceVersion, object.metadata.resourceVersion))
      this.#resources.set(key, withoutManagers(object));
  }

  memory(key: string, uid: string): Memory {
    const known = this.#memories.get(key);
    if (known?.uid === uid) return known;
    const fresh: Memory = {
      uid,
      known: new Set(),
      settledGeneration: undefined,
      statusVersion: undefined,
    };
    this.#memories.set(key, fresh);
    return fresh;
  }

  forget(key: string): void {
    this.#memories.delete(key);
  }
}

function withoutManagers(object: KubeObject): StoredDatabaseService {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata } as unknown as StoredDatabaseService;
}
