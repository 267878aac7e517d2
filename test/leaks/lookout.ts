import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Mark } from './mark.ts';
import { NewProcesses } from './new-processes.ts';

const everyMs = 250;

/** Keeps looking for a password where what is there is soon gone: the arguments of every process of this machine, and the logs below a folder. */
export class Lookout implements Disposable {
  /** Where one was seen: `arguments of psql`, or the path of a log. */
  readonly seen = new Set<string>();
  readonly #mark: Mark;
  readonly #folder: string;
  readonly #timer: NodeJS.Timeout;
  readonly #processes = new NewProcesses();
  #seenOnce: readonly number[] = [];
  readonly #readBytes = new Map<string, number>();

  constructor(mark: Mark, folder: string) {
    this.#mark = mark;
    this.#folder = folder;
    this.#timer = setInterval(() => this.look(), everyMs).unref();
  }

  look(): void {
    this.#lookAtProcesses();
    for (const path of logsBelow(this.#folder)) this.#lookAtLog(path);
  }

  #lookAtProcesses(): void {
    // Twice at each: between fork and exec a process has the arguments of its parent.
    const fresh = this.#processes.take();
    for (const pid of [...this.#seenOnce, ...fresh]) {
      const line = argumentsOf(pid);
      if (this.#mark.isIn(line)) this.seen.add(`arguments of ${line.subarray(0, line.indexOf(0)).toString()}`);
    }
    this.#seenOnce = fresh;
  }

  #lookAtLog(path: string): void {
    const bytes = readFrom(path, this.#readBytes.get(path) ?? 0, this.#mark.overlapBytes);
    if (bytes === undefined) return;
    this.#readBytes.set(path, bytes.end);
    if (this.#mark.isIn(bytes.fresh)) this.seen.add(path);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** Of parts in the folder itself; of containers below `node/pod-logs`, where they are until their pod is gone. */
function logsBelow(folder: string): readonly string[] {
  const own = names(folder).filter((name) => name.endsWith('.log'));
  const pods = join(folder, 'node/pod-logs');
  const containers = names(pods).flatMap((pod) => names(join(pods, pod)).map((name) => join(pods, pod, name)));
  const rotated = containers.flatMap((container) => names(container).map((name) => join(container, name)));
  return [...own.map((name) => join(folder, name)), ...rotated];
}

/** What came into a file since it had a size, and a little before that. Undefined where there is nothing new, or no such file any more. */
function readFrom(path: string, size: number, overlap: number): { fresh: Buffer; end: number } | undefined {
  try {
    const end = statSync(path).size;
    if (end === size) return undefined;
    const file = openSync(path, 'r');
    try {
      // A shorter one is another one.
      const begin = end < size ? 0 : Math.max(0, size - overlap);
      const fresh = Buffer.alloc(end - begin);
      readSync(file, fresh, 0, fresh.length, begin);
      return { fresh, end };
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

function argumentsOf(pid: number): Buffer {
  try {
    return readFileSync(`/proc/${pid}/cmdline`);
  } catch (error) {
    if (isGone(error)) return Buffer.alloc(0);
    throw error;
  }
}

function names(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

/** ESRCH: a process that ended between. */
function isGone(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '');
}
