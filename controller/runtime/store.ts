/** Which secondary keys (an owner, say) a value is found under. Pure: the same value always gives the same keys. */
export type IndexKeys<T> = (value: T) => readonly string[];

/**
 * Values by key, and by the secondary keys that a function gives. Each operation costs O(1) plus its own output. Values
 * are taken as frozen: an index is kept by the value that was stored, so a change is a `set` of a new value.
 */
export class Store<T> {
  readonly #indexKeys: IndexKeys<T>;
  readonly #values = new Map<string, T>();
  readonly #keysByIndex = new Map<string, Set<string>>();

  constructor(indexKeys: IndexKeys<T> = () => []) {
    this.#indexKeys = indexKeys;
  }

  get size(): number {
    return this.#values.size;
  }

  get(key: string): T | undefined {
    return this.#values.get(key);
  }

  /** Returns the value that it replaces. */
  set(key: string, value: T): T | undefined {
    const previous = this.#values.get(key);
    if (previous !== undefined) this.#unindex(key, previous);
    this.#values.set(key, value);
    for (const indexKey of this.#indexKeys(value)) {
      const keys = this.#keysByIndex.get(indexKey);
      if (keys === undefined) this.#keysByIndex.set(indexKey, new Set([key]));
      else keys.add(key);
    }
    return previous;
  }

  /** Returns the value that was there. */
  delete(key: string): T | undefined {
    const previous = this.#values.get(key);
    if (previous !== undefined) this.#unindex(key, previous);
    this.#values.delete(key);
    return previous;
  }

  byIndex(indexKey: string): readonly T[] {
    const found: T[] = [];
    for (const key of this.#keysByIndex.get(indexKey) ?? []) {
      const value = this.#values.get(key);
      if (value !== undefined) found.push(value);
    }
    return found;
  }

  keys(): IterableIterator<string> {
    return this.#values.keys();
  }

  #unindex(key: string, value: T): void {
    for (const indexKey of this.#indexKeys(value)) {
      const keys = this.#keysByIndex.get(indexKey);
      keys?.delete(key);
      if (keys?.size === 0) this.#keysByIndex.delete(indexKey);
    }
  }
}
