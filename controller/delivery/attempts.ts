import { holdersOf, type Child } from '../database/child.ts';
import type { Stated } from '../database/stated.ts';
import type { FieldPath } from '../drift/index.ts';
import { classify, type Clock } from '../kube/index.ts';

/** How long a take-over that was of no use is not tried again, in milliseconds. */
const pauseMs = 10_000;
/** The most that are remembered. */
const most = 1024;

interface Attempt {
  readonly of: string;
  readonly error: unknown;
  /** Milliseconds. */
  readonly at: number;
}

/**
 * Take-overs that the API server answered with a refusal. To take over and to give back are two writes, which the watch shows: tried again at each
 * of them, there would be no end.
 */
export class Attempts {
  readonly #clock: Clock;
  readonly #failed = new Map<string, Attempt>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * @param taken what is taken over
   * @throws what the act throws, or has thrown a moment ago for the same object in the same state
   */
  async once(
    stated: Stated,
    child: Child | undefined,
    taken: readonly FieldPath[],
    act: () => Promise<void>,
  ): Promise<void> {
    const key = [stated.key, ...taken.map((path) => path.join('/'))].join(' ');
    const of = `${stated.hash} ${child?.uid} ${child?.fingerprint} ${child && holdersOf(child.foreign)}`;
    const before = this.#failed.get(key);
    if (before?.of === of && this.#clock.now() - before.at < pauseMs) throw before.error;
    this.#failed.delete(key);
    try {
      await act();
    } catch (error) {
      if (isRefusal(error)) this.#failed.set(key, { of, error, at: this.#clock.now() });
      const [oldest] = this.#failed.keys();
      if (this.#failed.size > most && oldest !== undefined) this.#failed.delete(oldest);
      throw error;
    }
  }
}

/** The server has judged the object, and did not only fail to answer. */
function isRefusal(error: unknown): boolean {
  const { class: errorClass, kind } = classify(error);
  return errorClass === 'terminal' || errorClass === 'wait-for' || kind === 'co-ownership';
}
