/** Stands for all values after the first ones. */
export const other = 'other';

/** Values of a label that others choose: the first few are told apart, so that nobody can make series without end. */
export class BoundedLabel {
  readonly #most: number;
  readonly #known = new Set<string>();

  /** @param most how many values are told apart */
  constructor(most: number) {
    this.#most = most;
  }

  of(value: string): string {
    if (this.#known.has(value)) return value;
    if (this.#known.size >= this.#most) return other;
    this.#known.add(value);
    return value;
  }
}
