/** Time, handed in wherever something waits or measures, so that a test needs no waiting. */
export interface Clock {
  /** Milliseconds. What they count from is the clock's own business; see {@link systemClock} and {@link monotonicClock}. */
  now(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason as soon as `signal` is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Node's timers wrap longer delays to 1 ms. About 24 days. */
const longestMs = 2_147_483_647;

/**
 * A sleeper keeps the process alive, since something waits for it; undici's idle connections do not. Not by `node:timers/promises`: there each sleep
 * that ends early makes an error with a stack, and each request has a deadline that is called off.
 */
function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(reasonOf(signal));
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(reasonOf(signal));
    };
    const onTime = (): void => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    };
    const timer = setTimeout(onTime, Math.min(Math.max(ms, 0), longestMs));
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

function reasonOf(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}

/** Wall-clock time since the epoch, for times that people read. It jumps when somebody sets the machine's clock. */
export const systemClock: Clock = { now: () => Date.now(), sleep };

/** Time since the process started, for durations and deadlines: it never goes back or jumps. */
export const monotonicClock: Clock = { now: () => performance.now(), sleep };

/**
 * Waits as `clock.sleep` does, but says whether it may go on instead of throwing.
 * @returns true after the time, false as soon as `signal` is aborted.
 */
export async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await clock.sleep(ms, signal);
    return !signal.aborted;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}
