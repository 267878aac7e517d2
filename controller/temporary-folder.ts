import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder for one run, which is made when somebody needs it: a process that is killed leaves none behind that had no use for it. */
export class TemporaryFolder {
  readonly #prefix: string;
  #path: string | undefined;

  /** @param prefix of its name */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  get path(): string {
    this.#path ??= mkdtempSync(join(tmpdir(), this.#prefix));
    return this.#path;
  }

  remove(): void {
    if (this.#path !== undefined) rmSync(this.#path, { recursive: true, force: true });
    this.#path = undefined;
  }
}
