import { median } from './figures.ts';

/** What a client saw in one trial. */
export interface Outage {
  readonly secondsWithoutWrites: number;
  /** Rows. */
  readonly acknowledged: number;
  readonly lost: number;
}

/** The columns of a table over the trials of one kind. */
export function outageColumns(trials: readonly Outage[]): Readonly<Record<string, number | string>> {
  const seconds = trials.map(({ secondsWithoutWrites }) => secondsWithoutWrites);
  return {
    times: trials.length,
    'min s': Math.min(...seconds).toFixed(2),
    'median s': median(seconds).toFixed(2),
    'max s': Math.max(...seconds).toFixed(2),
    acknowledged: sum(trials.map(({ acknowledged }) => acknowledged)),
    lost: sum(trials.map(({ lost }) => lost)),
  };
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
