import type { Clock } from '../kube/clock.ts';

/**
 * One timer that can be set to an earlier time. It may ring too early, since a clock may cut a long sleep short: the
 * callback looks at the clock and sets it again.
 */
export class Alarm {
  readonly #clock: Clock;
  readonly #onRing: () => void;
  #pending: { readonly at: number; readonly controller: AbortController } | undefined;

  constructor(clock: Clock, onRing: () => void) {
    this.#clock = clock;
    this.#onRing = onRing;
  }

  /** Rings at `at` (on the clock's own scale), or earlier where it was set to an earlier time already. */
  set(at: number): void {
    if (this.#pending !== undefined && this.#pending.at <= at) return;
    this.cancel();
    const pending = { at, controller: new AbortController() };
    this.#pending = pending;
    this.#clock.sleep(at - this.#clock.now(), pending.controller.signal).then(
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
