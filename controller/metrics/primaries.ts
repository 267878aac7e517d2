import type { Clock } from '../kube/index.ts';

/** How long a primary may take to go after it was asked to, in milliseconds. */
const patienceMs = 300_000;

/** Tells changes of a primary that were asked for from those that were not, and counts these. */
export class Primaries {
  readonly #clock: Clock;
  readonly #last = new Map<string, string>();
  /** By the key of the database: until when a change is taken for the one that was asked for, in milliseconds. */
  readonly #asked = new Map<string, number>();
  /** By the key of the database; those without any are not in it. */
  readonly #failovers = new Map<string, number>();

  /** @param clock measures durations */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A switchover of this database was asked for. */
  ask(key: string): void {
    this.#asked.set(key, this.#clock.now() + patienceMs);
  }

  /** Takes who the primary is; undefined where there is none at the moment. */
  see(key: string, primary: string | undefined): void {
    if (primary === undefined) return;
    const last = this.#last.get(key);
    this.#last.set(key, primary);
    if (last === undefined || last === primary) return;
    const until = this.#asked.get(key) ?? -Infinity;
    this.#asked.delete(key);
    if (this.#clock.now() > until) this.#failovers.set(key, this.failovers(key) + 1);
  }

  /** How often the primary became another one that nobody had asked for. */
  failovers(key: string): number {
    return this.#failovers.get(key) ?? 0;
  }

  /** The database is gone; one of its name is another. */
  forget(key: string): void {
    this.#last.delete(key);
    this.#asked.delete(key);
    this.#failovers.delete(key);
  }
}
