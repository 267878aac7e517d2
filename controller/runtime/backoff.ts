export interface BackoffOptions {
  /** Delay after the first failure. Defaults to 5. */
  readonly baseMs?: number;
  /** The longest delay. Defaults to 1,000,000 (1000 s). */
  readonly maxMs?: number;
}

/** Exponential delay per key, with client-go's numbers (util/workqueue/default_rate_limiters.go). */
export class Backoff {
  readonly #baseMs: number;
  readonly #maxMs: number;
  readonly #failures = new Map<string, number>();

  constructor(options: BackoffOptions = {}) {
    this.#baseMs = options.baseMs ?? 5;
    this.#maxMs = options.maxMs ?? 1_000_000;
  }

  /** Counts one more failure of the key and returns how long to wait because of it. */
  next(key: string): number {
    const failures = this.failures(key);
    this.#failures.set(key, failures + 1);
    return Math.min(this.#baseMs * 2 ** failures, this.#maxMs);
  }

  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  forget(key: string): void {
    this.#failures.delete(key);
  }
}
