import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** By the word with which Node's test runner closes: `tests`, `pass`, `fail` and so on. */
export type Counts = ReadonlyMap<string, number>;

const closing = /^(?:ℹ|#) (tests|suites|pass|fail|cancelled|skipped|todo) (\d+)$/;

/** Reads the closing lines of a run of Node's test runner. */
export async function count(output: Readable): Promise<Counts> {
  const counts = new Map<string, number>();
  for await (const line of createInterface({ input: output })) {
    const [, word = '', number] = closing.exec(line) ?? [];
    if (number !== undefined) counts.set(word, Number(number));
  }
  return counts;
}

/** The closing lines of several runs as if they had been one. */
export function closingLines(runs: readonly Counts[]): string {
  const words = [...new Set(runs.flatMap((run) => [...run.keys()]))];
  const sum = (word: string) => runs.reduce((total, run) => total + (run.get(word) ?? 0), 0);
  return words.map((word) => `ℹ ${word} ${sum(word)}\n`).join('');
}
