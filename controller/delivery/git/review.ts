import { firstFew } from '../../../constructs/first-few.ts';
import type { GitReview } from '../../database/delivery.ts';
import { baseOn, type Base } from './base.ts';
import { planBatch } from './batch-plan.ts';
import type { Clone } from './clone.ts';
import { isNothing } from './folder-change.ts';
import { GitDeliveryError } from './git-delivery-error.ts';
import type { StrayFolders } from './stray-folders.ts';
import type { CheckedSubmission } from './submission.ts';

/** What is known of both branches. */
interface Sight {
  readonly own: string | undefined;
  readonly target: string;
  /** What a merge would come to, where both have moved. */
  readonly merge: { readonly tree: string; readonly conflicts: readonly string[] } | undefined;
  readonly base: Base;
  readonly isUnrelated: boolean;
}

/**
 * A branch of our own on which changes wait until people merge it into the target branch. Everybody's commits on it stay: where both branches have moved,
 * the target is merged into ours with the next change, and nothing is forced. Not for concurrent use.
 */
export class Review {
  readonly #clone: Clone;
  readonly #strays: StrayFolders;
  readonly branch: string;
  readonly target: string;
  #sight: Sight | undefined;
  #obstacle: string | undefined;
  /** What waits, by folder. */
  readonly #open = new Map<string, CheckedSubmission>();
  /** Hashes of what was declined, by folder. */
  readonly #declined = new Map<string, string>();

  constructor(clone: Clone, strays: StrayFolders, { branch, target }: { branch: string; target: string }) {
    this.#clone = clone;
    this.#strays = strays;
    this.branch = branch;
    this.target = target;
  }

  /**
   * Looks at both branches.
   * @throws GitDeliveryError BranchMissing, and as `Clone.fetch`
   */
  async look(): Promise<Base> {
    this.#sight = undefined;
    const listed = await this.#clone.heads([this.target, this.branch]);
    if (!listed.has(this.target)) throw withoutTarget(this.target, this.branch);
    const heads = await this.#clone.fetchHeads(listed);
    const [target = '', own] = [heads.get(this.target), heads.get(this.branch)];
    await this.#strays.look(this.target, target);
    await this.#noteOwn(own);
    const sight = await this.#see(target, own);
    this.#sight = sight;
    this.#noteObstacle(obstacleOf(sight, this.target));
    return sight.base;
  }

  /** What to commit on, and the databases to commit: also those that wait already, where they are what stands in the way of a merge. */
  prepare(base: Base, batch: readonly CheckedSubmission[]): { base: Base; batch: readonly CheckedSubmission[] } {
    const { merge } = this.#sight ?? {};
    if (merge === undefined || merge.conflicts.length === 0) return { base, batch };
    const folders = new Set(batch.map(({ folder }) => folder));
    const isInWay = ({ folder }: CheckedSubmission): boolean => merge.conflicts.some((path) => isIn(folder, path));
    const all = [...batch, ...[...this.#open.values()].filter((one) => !folders.has(one.folder) && isInWay(one))];
    // What was declined is not written, and so nothing in it resolved.
    const isResolved = (path: string): boolean =>
      all.some(({ folder }) => isIn(folder, path) && !this.#declined.has(folder));
    if (!merge.conflicts.every(isResolved)) return { base, batch };
    return { base: this.#merging(merge.tree), batch: all };
  }

  /** Whether a conflict in a folder is resolved by committing it, though nothing in it changes. */
  isInConflict(base: Base, { folder }: CheckedSubmission): boolean {
    const { merge } = this.#sight ?? {};
    return base.onto === merge?.tree && merge?.conflicts.some((path) => isIn(folder, path)) === true;
  }

  /** How far each database has come, by folder, if nothing is committed. What was declined is not to be. */
  async states(batch: readonly CheckedSubmission[]): Promise<ReadonlyMap<string, GitReview>> {
    const planned = await planBatch(this.#clone, this.#sight?.target, batch);
    return new Map(
      planned.map(({ submission, change }) => {
        const { folder, hash } = submission;
        const isMerged = isNothing(change);
        const isDeclined = !isMerged && this.#declined.get(folder) === hash;
        if (!isDeclined) this.#declined.delete(folder);
        return [folder, this.#state(isMerged ? 'merged' : isDeclined ? 'declined' : 'open')];
      }),
    );
  }

  /** Notes what has become of a database. @returns the target's commit where its files were waited for and are there now */
  note(submission: CheckedSubmission, state: GitReview): string | undefined {
    const { folder } = submission;
    if (state.kind === 'open') {
      this.#open.set(folder, submission);
      return undefined;
    }
    const wasOpen = this.#open.delete(folder);
    return wasOpen && state.kind === 'merged' ? this.#sight?.target : undefined;
  }

  /** Our branch has moved on by a commit of our own. @returns what the next one goes on, undefined where that has to be looked at */
  committed(base: Base, commit: string): Base | undefined {
    this.#strays.moved(this.branch, commit);
    const { target = '', merge, isUnrelated = false } = this.#sight ?? {};
    // The commit does not have the target in it, since both conflict.
    if (merge !== undefined && base.onto !== merge.tree) return undefined;
    const next = baseOn(commit);
    this.#sight = { own: commit, target, merge: undefined, base: next, isUnrelated };
    this.#noteObstacle(obstacleOf(this.#sight, this.target));
    return next;
  }

  #state(kind: GitReview['kind']): GitReview {
    const { branch, target } = this;
    const obstacle = kind === 'open' ? this.#obstacle : undefined;
    return { kind, branch, target, ...(obstacle === undefined ? {} : { obstacle }) };
  }

  async #noteOwn(own: string | undefined): Promise<void> {
    const before = this.#strays.seen(this.branch);
    if (own !== undefined) {
      // Somebody has brought it back.
      if (before === undefined) this.#forgetDeclined();
      return this.#strays.look(this.branch, own);
    }
    if (before === undefined) return;
    // It is deleted after a merge, and by whoever does not want what is on it; but also to have one made anew that can be merged.
    this.#strays.gone(this.branch);
    this.#strays.add(this.#open.keys());
    if (this.#obstacle !== undefined) return;
    for (const [folder, { hash }] of this.#open) this.#declined.set(folder, hash);
  }

  #forgetDeclined(): void {
    this.#strays.add(this.#declined.keys());
    this.#declined.clear();
  }

  async #see(target: string, own: string | undefined): Promise<Sight> {
    const seen = { own, target, merge: undefined, isUnrelated: false };
    if (own === undefined) return { ...seen, base: { tip: undefined, parents: [target], onto: target } };
    const common = await this.#clone.objects.commonAncestor(target, own);
    if (common === undefined) return { ...seen, base: baseOn(own), isUnrelated: true };
    // All of it is merged.
    if (common === own) return { ...seen, base: { tip: own, parents: [target], onto: target } };
    if (common === target) return { ...seen, base: baseOn(own) };
    const merge = await this.#clone.objects.merged(target, own);
    this.#sight = { ...seen, merge, base: baseOn(own) };
    return { ...this.#sight, base: merge.conflicts.length === 0 ? this.#merging(merge.tree) : baseOn(own) };
  }

  #merging(tree: string): Base {
    const { own = '', target = '' } = this.#sight ?? {};
    return { tip: own, parents: [own, target], onto: tree };
  }

  /** What waits is told of it. */
  #noteObstacle(obstacle: string | undefined): void {
    if (obstacle !== this.#obstacle) this.#strays.add(this.#open.keys());
    this.#obstacle = obstacle;
  }
}

const longestList = 3;

function obstacleOf({ merge, isUnrelated }: Sight, target: string): string | undefined {
  if (isUnrelated) return `It shares no history with ${target} any more: delete it, and it is made anew.`;
  if (merge === undefined || merge.conflicts.length === 0) return undefined;
  const files = firstFew(merge.conflicts, longestList);
  return `It conflicts with ${target} in ${files}: merge ${target} into it, or delete it, and it is made anew.`;
}

function isIn(folder: string, path: string): boolean {
  return path.startsWith(`${folder}/`);
}

function withoutTarget(target: string, branch: string): GitDeliveryError {
  const message = `The branch ${target} that ${branch} is to be merged into does not exist. Make it, if only with a README.`;
  return new GitDeliveryError('BranchMissing', message);
}
