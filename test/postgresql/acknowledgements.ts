/** A row that a writer was told is stored. */
export interface Acknowledgement {
  readonly number: number;
  /** Seconds by the machine's monotonic clock. */
  readonly at: number;
}

/** Now, by the clock of `Acknowledgement`. */
export function monotonicSeconds(): number {
  return Number(process.hrtime.bigint()) / 1e9;
}

/** The longest time between two acknowledgements that follow each other, of those that end after a moment; 0 where there are none. */
export function longestGap(acknowledgements: readonly Acknowledgement[], after: number): number {
  const gaps = acknowledgements.slice(1).map(({ at }, i) => (at > after ? at - (acknowledgements[i]?.at ?? at) : 0));
  return Math.max(0, ...gaps);
}

/** Numbers that were acknowledged and are not in the table. */
export function lostRows(acknowledgements: readonly Acknowledgement[], stored: ReadonlySet<number>): readonly number[] {
  return acknowledgements.map(({ number }) => number).filter((number) => !stored.has(number));
}
