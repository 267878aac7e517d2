import type { Clone } from './clone.ts';
import { ancestorsOf } from './repository-path.ts';

/** Folders in which something was changed, with those above them. */
export type Strays = ReadonlySet<string> | 'all';

/** Where others have changed something, by the commits that a branch is seen at. */
export class StrayFolders {
  readonly #clone: Clone;
  /** The newest commit of each branch that is known to hold what was committed and found. */
  readonly #seen = new Map<string, string>();
  #strays: Strays = new Set();

  constructor(clone: Clone) {
    this.#clone = clone;
  }

  /** The commit that a branch was at last; undefined where there was no branch, or nobody has looked. */
  seen(branch: string): string | undefined {
    return this.#seen.get(branch);
  }

  /** A commit of our own: nobody else has changed anything. */
  moved(branch: string, commit: string): void {
    this.#seen.set(branch, commit);
  }

  /** Somebody may have edited our files, rewritten the history, or deleted the branch. */
  async look(branch: string, to: string | undefined): Promise<void> {
    const from = this.#seen.get(branch);
    if (to === undefined) this.#seen.delete(branch);
    else this.#seen.set(branch, to);
    if (from === undefined || from === to) return;
    const changed = to === undefined ? undefined : await this.#clone.objects.changedPaths(from, to);
    if (changed === undefined) this.#strays = 'all';
    else this.add(changed.flatMap((path) => ancestorsOf(path)));
  }

  /** The branch is gone, and what becomes of its folders is known otherwise. */
  gone(branch: string): void {
    this.#seen.delete(branch);
  }

  add(folders: Iterable<string>): void {
    if (this.#strays !== 'all') this.#strays = new Set([...this.#strays, ...folders]);
  }

  /** What others have changed since this was asked last, in however many commits. */
  take(): Strays {
    const strays = this.#strays;
    this.#strays = new Set();
    return strays;
  }
}
