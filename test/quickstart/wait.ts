const aMinute = 60_000;

/** Asks again each 10 ms until there is an answer. @throws Error that names what did not come in time; `limitMs` defaults to a minute */
export async function waitFor<T>(what: string, ask: () => Promise<T | undefined>, limitMs = aMinute): Promise<T> {
  const until = Date.now() + limitMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > until) throw new Error(`${what}: not within ${limitMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
