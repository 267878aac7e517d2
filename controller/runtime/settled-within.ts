import type { Clock } from '../kube/clock.ts';

/** Whether the promise was settled within the time. Its rejection is not thrown: whoever made it handles it. */
export async function settledWithin(promise: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  const timer = new AbortController();
  const settled = promise.then(
    () => true,
    () => true,
  );
  const late = clock.sleep(ms, timer.signal).then(
    () => false,
    () => false,
  );
  const isSettled = await Promise.race([settled, late]);
  timer.abort();
  return isSettled;
}
