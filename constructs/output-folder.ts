import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, realpathSync, renameSync, rmSync, statSync, type Stats } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { foreignIn } from './output-layout.ts';

/** Why a folder is not written to; nothing was changed. Its message is one sentence. */
export class OutputError extends Error {
  override readonly name = 'OutputError';
}

/** A folder that is replaced as a whole, so it has to hold nothing that synth has not written. */
export class OutputFolder {
  readonly path: string;
  readonly #asked: string;
  readonly #kept: readonly string[];

  /**
   * @param kept folders that must not be lost, whatever is in them
   * @throws OutputError when it holds, or is, something of somebody's
   */
  constructor(asked: string, kept: readonly string[]) {
    if (asked === '') throw new OutputError('--output names no folder: name an empty or a new one.');
    this.#asked = asked;
    this.path = resolve(asked);
    this.#kept = kept;
    this.#requireReplaceable();
    this.#sweep();
  }

  /**
   * A new, empty folder on the same file system, for what is to replace this one.
   * @throws OutputError when nothing can be written there
   */
  stage(): string {
    const fresh = this.#beside('new');
    try {
      mkdirSync(fresh);
    } catch (cause) {
      throw this.#refused(`nothing can be written into ${dirname(fresh)} (${codeOf(cause)})`, cause);
    }
    return fresh;
  }

  /**
   * Puts a folder in the place of this one, which stays as it was when that fails.
   * @throws OutputError when somebody has put something into it meanwhile, or it cannot be moved
   */
  replaceBy(fresh: string): void {
    const exists = this.#requireReplaceable();
    const old = this.#beside('old');
    try {
      if (exists) renameSync(this.path, old);
    } catch (cause) {
      throw this.#refused(`it cannot be moved (${codeOf(cause)})`, cause);
    }
    try {
      mkdirSync(dirname(this.path), { recursive: true });
      renameSync(fresh, this.path);
    } catch (cause) {
      if (exists) renameSync(old, this.path);
      throw this.#refused(`nothing can be put in its place (${codeOf(cause)})`, cause);
    }
    if (exists) rmSync(old, { recursive: true, force: true });
  }

  /** @returns whether there is something to replace */
  #requireReplaceable(): boolean {
    const parent = nearestFolder(dirname(this.path));
    const realParent = this.#attempt('cannot be reached', () => realpathSync(parent));
    if (!statSync(realParent).isDirectory()) throw this.#refused(`${parent} is not a folder`);
    const real = join(realParent, relative(parent, this.path));
    const lost = this.#kept.find((folder) => contains(real, realpathSync(nearestFolder(resolve(folder)))));
    if (lost !== undefined) throw this.#refused(`${resolve(lost)} would be lost with it`);
    const found = statsOf(this.path);
    if (found === undefined) return false;
    if (!found.isDirectory()) throw this.#refused(found.isSymbolicLink() ? 'it is a symbolic link' : 'it is a file');
    const foreign = this.#attempt('cannot be read', () => foreignIn(this.path));
    if (foreign !== undefined) throw this.#refused(`it holds ${foreign}, which was not written by synth`);
    return true;
  }

  /** A run that was killed leaves its unfinished folder. What another run has moved aside is not ours to remove. */
  #sweep(): void {
    const parent = nearestFolder(dirname(this.path));
    const left = `.${basename(this.path)}.new-`;
    for (const entry of this.#attempt(`lies in ${parent}, which cannot be read`, () => foldersIn(parent))) {
      const owner = entry.startsWith(left) ? /^(\d+)-[0-9a-f]{12}$/.exec(entry.slice(left.length))?.[1] : undefined;
      if (owner === undefined || isRunning(Number(owner))) continue;
      const folder = join(parent, entry);
      if (foreignIn(folder) === undefined) rmSync(folder, { recursive: true, force: true });
    }
  }

  #beside(what: 'new' | 'old'): string {
    const name = `.${basename(this.path)}.${what}-${process.pid}-${randomBytes(6).toString('hex')}`;
    return join(nearestFolder(dirname(this.path)), name);
  }

  #attempt<T>(failure: string, look: () => T): T {
    try {
      return look();
    } catch (cause) {
      throw this.#refused(`it ${failure} (${codeOf(cause)})`, cause);
    }
  }

  #refused(why: string, cause?: unknown): OutputError {
    return new OutputError(`--output ${this.#asked} is not replaced, because ${why}: name an empty or a new folder.`, {
      cause,
    });
  }
}

function foldersIn(folder: string): readonly string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

/** The path itself where there is something, otherwise the nearest above it. */
function nearestFolder(path: string): string {
  return statsOf(path) === undefined && dirname(path) !== path ? nearestFolder(dirname(path)) : path;
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

function contains(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`);
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
}
