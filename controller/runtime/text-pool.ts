/**
 * Gives equal texts as one, so that what many objects have alike is in memory once: each answer of an API server is made of texts of its own. What
 * was not asked for lately is forgotten; then it may be there twice.
 */
export class TextPool {
  readonly #capacity: number;
  #recent = new Map<string, string>();
  #older = new Map<string, string>();

  /** @param capacity the most texts that are remembered, more or less: up to twice as many */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Texts that are remembered; one that was found again is counted twice for a while. */
  get size(): number {
    return this.#recent.size + this.#older.size;
  }

  has(text: string): boolean {
    return this.#recent.has(text) || this.#older.has(text);
  }

  share(text: string): string {
    const recent = this.#recent.get(text);
    if (recent !== undefined) return recent;
    const shared = this.#older.get(text) ?? text;
    if (this.#recent.size >= this.#capacity) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(shared, shared);
    return shared;
  }
}
