import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../controller/kube/clock.ts';

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** The system's clock cuts longer sleeps to this too. */
const longestSleepMs = 2 ** 31 - 1;

/** A clock that stands still until a test moves it. */
export class VirtualClock implements Clock {
  readonly #sleepers = new Set<Sleeper>();
  #now: number;
  #sleeps = 0;

  /** Starts at 2026-01-01T00:00:00Z unless told otherwise. */
  constructor(now: number = Date.UTC(2026, 0, 1)) {
    this.#now = now;
  }

  /** How many sleeps were ever begun. */
  get sleeps(): number {
    return this.#sleeps;
  }

  /** How many sleeps go on. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.#sleeps++;
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(abortReason(signal));
      const sleeper: Sleeper = { at: this.#now + Math.min(ms, longestSleepMs), wake: () => finish(resolve) };
      const onAbort = (): void => finish(() => reject(abortReason(signal)));
      const finish = (settle: () => void): void => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener('abort', onAbort);
        settle();
      };
      signal?.addEventListener('abort', onAbort);
      this.#sleepers.add(sleeper);
    });
  }

  /** Moves the time on; sleepers wake in the order of their times, and what they start runs before the next wakes. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await this.settle();
    for (let next = this.#nextUntil(until); next !== undefined; next = this.#nextUntil(until)) {
      this.#now = Math.max(this.#now, next.at);
      next.wake();
      await this.settle();
    }
    this.#now = until;
  }

  /** Lets everything run that waits for no time and no input or output. */
  async settle(): Promise<void> {
    await setImmediate();
  }

  #nextUntil(until: number): Sleeper | undefined {
    let next: Sleeper | undefined;
    for (const sleeper of this.#sleepers) {
      if (sleeper.at <= until && (next === undefined || sleeper.at < next.at)) next = sleeper;
    }
    return next;
  }
}

function abortReason(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error('aborted');
}
