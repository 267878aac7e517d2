import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Figures } from '../figures.ts';

/** Where the figures of the last run are, those of one that was cut off too. Not in Git. */
export const lastRun = fileURLToPath(new URL('../../../build/scale.json', import.meta.url));

/** A run, or as much of it as there was time for. */
export interface Run {
  /** Such as `2026-11-30`. */
  readonly date: string;
  readonly cores: number;
  /** As many runnable processes there were on the average of the last minute, at the beginning (proc_loadavg(5)). */
  readonly load: number;
  /** In the order in which they were measured. One that is not whole has not got all its figures. */
  readonly stages: readonly Figures[];
}

/** What is measured, written down as it becomes known. */
export class FigureFile {
  readonly path: string;
  readonly #head: Omit<Run, 'stages'>;
  readonly #stages: Figures[] = [];

  constructor(path = lastRun) {
    this.path = path;
    const date = new Date().toISOString().slice(0, 10);
    this.#head = { date, cores: cpus().length, load: loadavg()[0] ?? NaN };
  }

  /** The next stage. */
  begin(): void {
    this.#stages.push({});
  }

  /** Adds figures to those of the present stage. */
  note(figures: Figures): void {
    this.#stages.push({ ...this.#stages.pop(), ...figures });
    mkdirSync(dirname(this.path), { recursive: true });
    writeFileSync(
      this.path,
      `${JSON.stringify({ ...this.#head, stages: this.#stages } satisfies Run, undefined, 2)}\n`,
    );
  }

  /** Of the present stage. */
  get figures(): Figures {
    return this.#stages.at(-1) ?? {};
  }
}
