/** Of what takes seconds, on a machine that does much else. */
const longestMs = 180_000;

export interface WaitOptions {
  /** Ends the waiting at once. Defaults to none: what is cleaned up is waited for in any case. */
  readonly signal?: AbortSignal | undefined;
  /** Defaults to three minutes. */
  readonly limitMs?: number;
}

/**
 * Asks again each 10 ms until there is an answer, and after a second each 100 ms.
 *
 * @throws the signal's reason, or an Error that names what did not come in time
 */
export async function waitFor<T>(
  what: string,
  ask: () => Promise<T | undefined>,
  { signal, limitMs = longestMs }: WaitOptions = {},
): Promise<T> {
  const start = Date.now();
  for (;;) {
    signal?.throwIfAborted();
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > start + limitMs) throw new Error(`${what}: not within ${limitMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, Date.now() < start + 1000 ? 10 : 100));
  }
}
