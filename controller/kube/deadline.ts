import type { Clock } from './clock.ts';

/** Settles as `promise` does, or rejects with the signal's reason before; the promise itself is not stopped. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  // Nobody waits for it any more, however it ends.
  if (signal.aborted) promise.catch(() => undefined);
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** One for all: a reason of each one's own would be an error with a stack, for each request. */
const disarmed = new Error('disarmed');

/**
 * A signal that is aborted by its parent or by a timer, whichever comes first.
 *
 * `AbortSignal.any` is not used: on a parent as long-lived as the process it keeps an entry for each child until a
 * garbage collection, and `AbortSignal.timeout` can't be stopped or run on a test's clock.
 */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #timer = new AbortController();
  readonly #parent: AbortSignal | undefined;
  readonly #follow = (): void => this.#controller.abort(this.#parent?.reason);

  /** @param expired makes the reason with which the signal is aborted when `ms` milliseconds have passed. */
  constructor(clock: Clock, ms: number, parent: AbortSignal | undefined, expired: () => Error) {
    this.#parent = parent;
    if (parent?.aborted === true) this.#follow();
    else parent?.addEventListener('abort', this.#follow, { once: true });
    clock.sleep(ms, this.#timer.signal).then(
      () => this.#controller.abort(expired()),
      () => undefined,
    );
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Aborts now, for a reason of the caller's own. */
  abort(reason: Error): void {
    this.#controller.abort(reason);
  }

  /** Stops the timer; the parent is still followed. */
  disarm(): void {
    this.#timer.abort(disarmed);
  }

  /** Stops the timer and lets go of the parent. */
  release(): void {
    this.disarm();
    this.#parent?.removeEventListener('abort', this.#follow);
  }
}
