import { GitDeliveryError } from './git-delivery-error.ts';
import { ancestorsOf } from './repository-path.ts';
import type { CheckedSubmission } from './submission.ts';

/**
 * Whose folder is whose. Destinations with different layouts may share a branch, and a folder inside another one would be
 * taken for what is left over there.
 */
export class FolderClaims {
  /** Database by folder. */
  readonly #owners = new Map<string, string>();
  /** How many folders there are below a path. */
  readonly #below = new Map<string, number>();

  /**
   * Takes the folder for its database, or gives it up where the database is gone.
   * @throws GitDeliveryError PathBlocked where it is another one's, or inside or around another one's
   */
  claim({ key, folder, isRemoval }: Pick<CheckedSubmission, 'key' | 'folder' | 'isRemoval'>): void {
    const owner = this.#owners.get(folder);
    if (owner === key) {
      if (isRemoval) this.#release(folder);
      return;
    }
    const above = ancestorsOf(folder).find((path) => this.#owners.has(path));
    const isAround = this.#below.has(folder);
    if (owner !== undefined || above !== undefined || isAround) {
      const whose = this.#owners.get(above ?? folder) ?? 'another database';
      const message = `The folder ${folder} of ${key} is that of ${whose}, or inside or around it. Give their destinations paths that do not meet.`;
      throw new GitDeliveryError('PathBlocked', message);
    }
    if (isRemoval) return;
    this.#owners.set(folder, key);
    for (const path of ancestorsOf(folder)) this.#below.set(path, (this.#below.get(path) ?? 0) + 1);
  }

  #release(folder: string): void {
    this.#owners.delete(folder);
    for (const path of ancestorsOf(folder)) {
      const left = (this.#below.get(path) ?? 1) - 1;
      if (left === 0) this.#below.delete(path);
      else this.#below.set(path, left);
    }
  }
}
