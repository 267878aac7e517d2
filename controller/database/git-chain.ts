import type { StatusCondition } from '../../constructs/api/status.ts';
import { firstFew } from '../../constructs/first-few.ts';
import { episodes, inWords, type Drift } from '../drift/index.ts';
import type { Verdict } from '../health/judge.ts';
import type { Reason } from '../health/reasons.ts';
import type { GitReview, GitState } from './delivery.ts';
import type { Leaving } from './git-places.ts';
import { longestMessage } from './longest-message.ts';

/** What is known of the way from the spec through Git to the cluster. */
export interface GitFacts {
  /** Undefined where nothing is delivered to Git. */
  readonly git: GitState | undefined;
  /** Why files of it are where they are not to be any more, in sentences. */
  readonly remains?: string | undefined;
  /** Of a database that is being deleted, while its files are in Git. */
  readonly leaving?: Leaving | undefined;
  /** The last commit, of an earlier process too. */
  readonly commit: string | undefined;
  /** Why a part of the spec is not delivered yet, in a sentence. */
  readonly hold: string | undefined;
  /** Where a GitOps tool applies: names of the objects that are not as they are rendered. Undefined where we apply. */
  readonly behind: readonly string[] | undefined;
  /** What others changed of what the tool had applied. */
  readonly left: readonly Drift[];
  readonly generation: number;
}

/** Whether the branch holds what is stated; undefined where nothing is delivered to Git. Pure. @param before the condition as it was */
export function committed(facts: GitFacts, before: StatusCondition | undefined): Verdict | undefined {
  const { git, remains, leaving, commit, hold, generation } = facts;
  if (leaving?.kind === 'waiting') return no('RemovalPending', leaving.message);
  if (leaving?.kind === 'left') return no('LeftInGit', leaving.message);
  if (git === undefined) return remains === undefined ? undefined : no('OldFilesRemain', remains);
  if (git.failure !== undefined) return no(git.isUnusable === true ? 'DestinationUnusable' : 'GitFailed', git.failure);
  if (git.isPending === true) {
    // After a restart it is looked whether the branch still has it: until that is known it is taken to have it.
    if (before !== undefined && wasThere(before, generation)) return kept(before);
    const last = commit === undefined ? '' : ` Commit ${commit} was the last.`;
    return no('CommitPending', `Generation ${generation} is on its way to the repository.${last}`);
  }
  const { review, edits = [] } = git;
  if (review?.kind === 'declined') return no('ReviewDeclined', declined(review));
  if (edits.length > 0) return no('EditedInGit', `${episodes(edits).map(inWords).join(' ')} ${whileLeft}`);
  const where = `the branch ${review === undefined ? '' : `${branchOf(review)} `}has it in ${git.path}`;
  const has = commit === undefined ? `${capital(where)}.` : `Commit ${commit} was pushed, ${where}.`;
  if (hold !== undefined) return no('ChangeHeld', `${hold} It is committed then. ${has}`);
  if (remains !== undefined) return no('OldFilesRemain', `${has} ${remains}`);
  return { holds: true, reason: 'Pushed', message: has };
}

/** Whether people have merged what is stated; undefined where changes are not reviewed. Pure. @param before the condition as it was */
export function merged(
  { git, commit, generation }: GitFacts,
  before: StatusCondition | undefined,
): Verdict | undefined {
  const review = git?.review;
  if (git?.isPending === true || git?.failure !== undefined) {
    if (review === undefined && before === undefined) return undefined;
    if (git.failure === undefined && before?.observedGeneration === generation) return kept(before);
    return no('CommitPending', 'It is not there to be reviewed yet; the condition Committed says why.');
  }
  switch (review?.kind) {
    case undefined:
      return undefined;
    case 'merged':
      return { holds: true, reason: 'Merged', message: `The branch ${review.target} has it in ${git?.path}.` };
    case 'declined':
      return no('ReviewDeclined', declined(review));
    case 'open': {
      const what = commit === undefined ? 'It' : `Commit ${commit}`;
      const waits = `${what} waits on the branch ${review.branch} to be merged into ${review.target}.`;
      if (review.obstacle !== undefined) return no('ReviewBlocked', `${waits} ${review.obstacle}`);
      return no('ReviewPending', waits);
    }
  }
}

/** Whether the live objects are what Git has; undefined where we apply. Pure. */
export function synced({ git, commit, behind, left }: GitFacts): Verdict | undefined {
  if (behind === undefined) return undefined;
  const review = git?.review;
  if (review !== undefined && review.kind !== 'merged' && left.length === 0) {
    if (review.kind === 'declined') return no('ReviewDeclined', declined(review));
    return no('MergePending', `What is to be applied is not in ${review.target} yet; the condition Merged says why.`);
  }
  const what = commit === undefined ? 'they are rendered' : `commit ${commit} has them`;
  if (behind.length === 0) return { holds: true, reason: 'LiveIsCurrent', message: `The live objects are as ${what}.` };
  if ((git?.edits ?? []).length > 0) {
    return no('EditedInGit', 'Somebody edited what is applied in Git; the condition Committed says who, and what.');
  }
  if (left.length > 0) return no('LiveWasChanged', episodes(left).map(inWords).join(' '));
  if (git?.isPending === true || git?.failure !== undefined) {
    return no('CommitPending', 'What is to be applied is not in Git yet; the condition Committed says why.');
  }
  return no(
    'SyncPending',
    `The GitOps tool has yet to apply ${firstFew(behind, longestList)}: they are not as ${what}.`,
  );
}

/** Whether a condition Committed says that the branch had what this generation states, whatever others have made of it since. */
export function wasThere({ reason, observedGeneration }: StatusCondition, generation: number): boolean {
  return observedGeneration === generation && (reason === 'Pushed' || reason === 'EditedInGit');
}

const whileLeft =
  'It is left as long as drift.policy or drift.pause has it so and nothing else is to be written there.';
const longestList = 5;

function branchOf({ kind, branch, target }: GitReview): string {
  return kind === 'merged' ? target : branch;
}

function declined({ branch, target }: GitReview): string {
  const what = `The branch ${branch} was deleted, and ${target} does not have what was on it.`;
  return `${what} Change the spec, or restore the branch; it is not written again before.`;
}

function no(reason: Reason, message: string): Verdict {
  return { holds: false, reason, message: message.slice(0, longestMessage) };
}

function kept({ status, reason, message }: StatusCondition): Verdict {
  return { holds: status === 'True', reason: reason as Reason, message };
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
