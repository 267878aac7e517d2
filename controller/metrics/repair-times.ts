import type { Clock } from '../kube/index.ts';

/** Since when each database waits for a run because one of its objects changed. */
export class RepairTimes {
  readonly #clock: Clock;
  /** By the key of the database, in milliseconds: the first change that no run has seen. */
  readonly #changed = new Map<string, number>();
  /** The same of the runs in progress. */
  readonly #running = new Map<string, number>();

  /** @param clock measures durations */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A watch has shown a change of an object. */
  changed(key: string): void {
    if (!this.#changed.has(key)) this.#changed.set(key, this.#clock.now());
  }

  /** Whatever changed before is for this run to see. One that fails leaves it to the next. */
  async during<T>(key: string, run: () => Promise<T>): Promise<T> {
    const since = this.#changed.get(key);
    this.#changed.delete(key);
    if (since !== undefined) this.#running.set(key, since);
    try {
      return await run();
    } catch (error) {
      if (since !== undefined) this.#changed.set(key, since);
      throw error;
    } finally {
      this.#running.delete(key);
    }
  }

  /** How long ago the first change was that this run is about, in milliseconds; undefined where it is about none. */
  elapsed(key: string): number | undefined {
    const since = this.#running.get(key);
    return since === undefined ? undefined : this.#clock.now() - since;
  }
}
