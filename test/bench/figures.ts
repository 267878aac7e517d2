/** Figures by name; the name carries the unit. */
export type Figures = Readonly<Record<string, number>>;

/** What a benchmark found, and the most that each figure should be. */
export interface Result {
  readonly figures: Figures;
  readonly targets: Figures;
}

/**
 * @param repeats how often, for a benchmark of which that is a choice; it has a default
 * @returns several where it is done in stages
 */
export type Bench = (progress: (line: string) => void, repeats?: number) => Promise<Result | readonly Result[]>;

/** The value below which a part of the samples lies; 0.5 is the median. */
export function quantile(samples: readonly number[], part: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN;
}

export const median = (samples: readonly number[]): number => quantile(samples, 0.5);
