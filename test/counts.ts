import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { generated } from './leaks/mark.ts';

/** By the word with which Node's test runner closes: `tests`, `pass`, `fail` and so on. */
export type Counts = ReadonlyMap<string, number>;

export interface Outcome {
  readonly counts: Counts;
  /**
   * What is listed as failed, line by line; empty when nothing is. Where tests share a process Node neither counts a hook that belongs to no test nor ends
   * with another code when one fails.
   */
  readonly failures: readonly string[];
  /**
   * What went wrong when no test was there any more to fail for it, such as a promise that was rejected and that nobody waited for. Node counts it nowhere
   * and ends with code 1.
   */
  readonly late: readonly string[];
  /** A password of a database was printed. */
  readonly hasTold: boolean;
}

const closing = /^(?:ℹ|#) (tests|suites|pass|fail|cancelled|skipped|todo) (\d+)$/;
const listOfFailures = '✖ failing tests:';
// Source: Node's lib/internal/test_runner/harness.js
const lateActivity = /^(?:ℹ|#) Error: .* generated asynchronous activity after the test ended\./;

/** Reads the closing lines of a run of Node's test runner. */
export async function outcome(output: Readable): Promise<Outcome> {
  const counts = new Map<string, number>();
  const failures: string[] = [];
  const late: string[] = [];
  let hasTold = false;
  for await (const line of createInterface({ input: output })) {
    const [, word = '', number] = closing.exec(line) ?? [];
    if (number !== undefined) counts.set(word, Number(number));
    if (failures.length > 0 || line === listOfFailures) failures.push(line);
    else if (lateActivity.test(line)) late.push(line);
    hasTold ||= generated.isIn(line);
  }
  return { counts, failures, late, hasTold };
}

/** Those that come last of all lines. */
export async function lastLines(output: Readable, count: number): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const line of createInterface({ input: output })) {
    lines.push(line);
    if (lines.length > count) lines.shift();
  }
  return lines;
}

/** The closing lines of several runs as if they had been one. */
export function closingLines(runs: readonly Counts[]): string {
  const words = [...new Set(runs.flatMap((run) => [...run.keys()]))];
  const sum = (word: string) => runs.reduce((total, run) => total + (run.get(word) ?? 0), 0);
  return words.map((word) => `ℹ ${word} ${sum(word)}\n`).join('');
}
