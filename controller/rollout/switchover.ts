/** A switchover that was asked for and has not been seen to happen. */
export interface Switchover {
  readonly from: string;
  /** Milliseconds. */
  readonly askedAt: number;
  /** How often it was asked for. */
  readonly tries: number;
}

/** How long one may take before it is asked for again, at first, in milliseconds. */
const patienceMs = 15_000;
const longestMs = 300_000;

export function askedAgain(before: Switchover | undefined, from: string, now: number): Switchover {
  return { from, askedAt: now, tries: before?.from === from ? before.tries + 1 : 1 };
}

/** When it may be asked for again, in milliseconds: it takes longer each time, for whatever refuses it may last. */
export function patientUntil({ askedAt, tries }: Switchover): number {
  return askedAt + Math.min(longestMs, patienceMs * 2 ** (tries - 1));
}
