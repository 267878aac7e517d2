import type { Clock } from '../kube/clock.ts';

/** The longest delay of a Node timer; a longer one fires at once. */
const longestSleepMs = 2 ** 31 - 1;

/** One timer that can be set to an earlier time. It may ring early (never late): the callback looks at the clock. */
export class Alarm {
  readonly #clock: Clock;
  readonly #onRing: () => void;
  #pending: { readonly at: number; readonly controller: AbortController } | undefined;

  constructor(clock: Clock, onRing: () => void) {
    this.#clock = clock;
    this.#onRing = onRing;
  }

  /** Rings at `at` (milliseconds since the epoch), or earlier where it was set to an earlier time already. */
  set(at: number): void {
    if (this.#pending !== undefined && this.#pending.at <= at) return;
    this.cancel();
    const pending = { at, controller: new AbortController() };
    this.#pending = pending;
    const ms = Math.min(Math.max(0, at - this.#clock.now()), longestSleepMs);
    this.#clock.sleep(ms, pending.controller.signal).then(
      () => this.#ring(pending),
      () => this.#ring(pending),
    );
  }

  cancel(): void {
    this.#pending?.controller.abort();
    this.#pending = undefined;
  }

  #ring(pending: object): void {
    // A cancelled sleep may resolve or reject, as the clock likes: either way it is not ours any more.
    if (this.#pending !== pending) return;
    this.#pending = undefined;
    this.#onRing();
  }
}
