import { setTimeout as sleepFor } from 'node:timers/promises';

/** Time, handed in wherever something waits or measures, so that a test needs no waiting. */
export interface Clock {
  /** Milliseconds. What they count from is the clock's own business; see {@link systemClock} and {@link monotonicClock}. */
  now(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason as soon as `signal` is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/**
 * A sleeper keeps the process alive, since something waits for it; undici's idle connections do not.
 * Node's timers wrap delays beyond 2^31-1 ms to 1 ms, so longer ones are cut to that (about 24 days).
 */
async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  try {
    await sleepFor(Math.min(Math.max(ms, 0), 2_147_483_647), undefined, { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
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
