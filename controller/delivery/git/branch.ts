import type { GitReview } from '../../database/delivery.ts';
import type { Drift } from '../../drift/index.ts';
import type { Clock } from '../../kube/clock.ts';
import { baseOn, type Base } from './base.ts';
import { planBatch, type PlannedDatabase } from './batch-plan.ts';
import { Clone, type CloneOptions } from './clone.ts';
import { commitMessage, type ChangedThing, type CommittedDatabase } from './commit-message.ts';
import { editedPaths, editsIn } from './edits.ts';
import type { Author } from './fast-import.ts';
import { fieldChanges } from './field-changes.ts';
import { isNothing, type FileRewrite, type FolderChange } from './folder-change.ts';
import { GitDeliveryError } from './git-delivery-error.ts';
import type { LastTouch } from './last-touch.ts';
import { Review } from './review.ts';
import { StrayFolders, type Strays } from './stray-folders.ts';
import type { CheckedSubmission } from './submission.ts';

export interface BranchOptions extends Omit<CloneOptions, 'branch'> {
  /** The branch that holds what counts. */
  readonly branch: string;
  /** The branch that is committed to instead, and that people merge into `branch`. Defaults to none. */
  readonly reviewBranch?: string | undefined;
  /** A wall clock: its time is written into the commits. */
  readonly clock: Clock;
  /** Defaults to `Plumbline <plumbline@localhost>`. */
  readonly author?: Author | undefined;
  /** From 0 to 1, for the jitter. Defaults to Math.random. */
  readonly random?: () => number;
  /** Asked before the repository is looked at, and again before each push; where it says no, nothing is done. Defaults to always. */
  readonly mayWrite?: () => boolean;
}

/** What became of one database of a batch. */
export type Outcome =
  | {
      readonly kind: 'committed';
      readonly commit: string;
      readonly review?: GitReview;
      /** Changes by others that were undone with it. */
      readonly restored: readonly Drift[];
    }
  /** Others have changed its files, and that is left. */
  | { readonly kind: 'left'; readonly edits: readonly Drift[] }
  /** The branch has these files already; `commit` is known where they were waited for. Or they were declined. */
  | { readonly kind: 'unchanged'; readonly commit?: string; readonly review?: GitReview }
  | { readonly kind: 'failed'; readonly error: unknown };

export interface BranchStats {
  readonly commits: number;
  /** Pushes that the repository did not take. */
  readonly rejections: number;
  readonly gitProcesses: number;
}

/** A repository that is being written to by others takes a push sooner or later: so many times it is tried again. */
const retries = 5;
/** So many rejections in a row while nobody else pushed are no race: the repository does not want the commit. */
const patience = 3;
/** So many single databases refused in a row mean that every one is refused. */
const refusalsBeforeGivingUp = 3;
const firstRetryMs = 100;
/** So many files of a commit are compared field by field, none of them longer, in bytes; of the others the message gives the names. */
const comparedFiles = 200;
const longestCompared = 256 * 1024;
/** Of so many files of one batch it is looked who has changed them. */
const tracedFiles = 500;

/** One branch of one repository, moved forward one commit at a time. Not for concurrent use. */
export class Branch {
  readonly #options: BranchOptions;
  readonly #clone: Clone;
  readonly #strays: StrayFolders;
  readonly #review: Review | undefined;
  /** What the next commit goes on, unknown at first and after a failure. */
  #base: Base | undefined;
  #failure: unknown;
  #commits = 0;
  #rejections = 0;

  constructor(options: BranchOptions) {
    const { branch: target, reviewBranch: branch } = options;
    this.#options = options;
    this.#clone = new Clone({ ...options, branch: branch ?? target });
    this.#strays = new StrayFolders(this.#clone);
    this.#review = branch === undefined ? undefined : new Review(this.#clone, this.#strays, { branch, target });
  }

  get stats(): BranchStats {
    return { commits: this.#commits, rejections: this.#rejections, gitProcesses: this.#clone.processes };
  }

  /** What the last part of the last batch that failed did so for; undefined where none did. */
  get failure(): unknown {
    return this.#failure;
  }

  /** What others have changed since this was asked last, in however many commits. */
  takeStrays(): Strays {
    return this.#strays.take();
  }

  /** Has the next batch, though it be empty, begin with a look at the repository. */
  forgetTip(): void {
    this.#base = undefined;
  }

  /** @throws GitDeliveryError GitMissing */
  async checkGit(): Promise<void> {
    await this.#clone.checkGit();
  }

  /**
   * Brings the databases' folders into the branch with one commit. Where the repository refuses that commit, the batch is
   * halved until the refused database is alone. The outcomes go by the folders. Never rejects.
   */
  async publish(batch: readonly CheckedSubmission[]): Promise<Map<string, Outcome>> {
    const outcomes = new Map<string, Outcome>();
    let refusals = 0;
    this.#failure = undefined;
    // The branch that changes are merged into moves with none of our pushes refused.
    if (this.#review !== undefined) this.#base = undefined;
    const parts = [batch];
    for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
      try {
        await this.#publishWhole(part, outcomes, part === batch ? patience : 1);
        refusals = 0;
      } catch (error) {
        const isRefusal = error instanceof GitDeliveryError && error.reason === 'PushRefused';
        // After a refusal the newest commit was just read; after anything else nothing is certain.
        if (!isRefusal) this.#base = undefined;
        // What we hold of the repository may be what the disk is full of.
        if (error instanceof GitDeliveryError && error.reason === 'DiskFull') await this.#clone.wipe();
        if (isRefusal && part.length > 1 && refusals < refusalsBeforeGivingUp) {
          const half = part.length >> 1;
          parts.push(part.slice(half), part.slice(0, half));
        } else {
          this.#failure = error;
          refusals += isRefusal ? 1 : 0;
          for (const { folder } of part) outcomes.set(folder, { kind: 'failed', error });
        }
      }
    }
    return outcomes;
  }

  async #publishWhole(
    batch: readonly CheckedSubmission[],
    outcomes: Map<string, Outcome>,
    patience: number,
  ): Promise<void> {
    await this.#clone.readAccess();
    let hasHealed = false;
    let refusals = 0;
    for (let attempt = 0; ;) {
      try {
        const rejection = await this.#publishOnce(batch, outcomes);
        if (rejection === undefined) return;
        refusals = rejection.isOvertaken ? 0 : refusals + 1;
        if (refusals >= patience) throw refused(rejection.words);
        if (attempt >= retries) throw overtaken(rejection.words);
        await this.#options.clock.sleep(this.#retryMs(attempt));
        attempt++;
      } catch (error) {
        if (hasHealed || !(error instanceof GitDeliveryError) || error.reason !== 'CloneBroken') throw error;
        hasHealed = true;
        this.#base = undefined;
        await this.#clone.wipe();
      }
    }
  }

  /** Returns undefined where it is done, or the words of a rejection and whether somebody else's push was the cause. */
  async #publishOnce(
    batch: readonly CheckedSubmission[],
    outcomes: Map<string, Outcome>,
  ): Promise<{ words: string; isOvertaken: boolean } | undefined> {
    this.#checkMayWrite();
    const seen = this.#base ?? (await this.#look());
    const { base, all, planned } = await this.#plan(seen, batch);
    const states = await this.#review?.states(all);
    const differing = planned.flatMap((database) => this.#record(database, base, states, outcomes));
    const old = await this.#contents(differing);
    const edits = await this.#editsIn(base, differing, old);
    const changing = differing.filter(({ submission: { isLeft, folder } }) => {
      const left = isLeft ? edits.get(folder) : undefined;
      if (left !== undefined) outcomes.set(folder, { kind: 'left', edits: left });
      return left === undefined;
    });
    if (changing.length === 0) return undefined;

    const commit = await this.#commit(base, changing, old);
    this.#checkMayWrite();
    const pushed = await this.#clone.push(commit, this.#review && base);
    if (pushed.kind === 'pushed') {
      this.#base = this.#review === undefined ? baseOn(commit) : this.#review.committed(base, commit);
      this.#strays.moved(this.#written, commit);
      this.#commits++;
      for (const { submission } of changing) {
        const { folder } = submission;
        const review = states?.get(folder);
        if (review !== undefined) this.#review?.note(submission, review);
        const restored = edits.get(folder) ?? [];
        outcomes.set(folder, { kind: 'committed', commit, restored, ...(review && { review }) });
      }
      return undefined;
    }
    // Servers say it in a dozen ways ("fetch first", "stale info", "cannot lock ref"). What counts is whether the branch moved.
    this.#rejections++;
    const newest = await this.#look();
    return { words: pushed.words, isOvertaken: newest.tip !== base.tip };
  }

  async #plan(seen: Base, batch: readonly CheckedSubmission[]): Promise<Plan> {
    const { base, batch: all } = this.#review?.prepare(seen, batch) ?? { base: seen, batch };
    const planned = await planBatch(this.#clone, base.onto, all);
    // A conflict that a database cannot be written over is not resolved by it.
    if (base === seen || planned.every(({ change }) => change.kind === 'change')) return { base, all, planned };
    return { base: seen, all: batch, planned: await planBatch(this.#clone, seen.onto, batch) };
  }

  get #written(): string {
    return this.#options.reviewBranch ?? this.#options.branch;
  }

  /** A push moves the branch on from the commit that was planned on, or not at all; this keeps an old plan from being made again on a newer commit. */
  #checkMayWrite(): void {
    const { mayWrite = () => true } = this.#options;
    if (!mayWrite()) throw notLeading();
  }

  async #look(): Promise<Base> {
    this.#base = undefined;
    if (this.#review !== undefined) return (this.#base = await this.#review.look());
    const commit = await this.#clone.fetch();
    await this.#strays.look(this.#written, commit);
    return (this.#base = baseOn(commit));
  }

  /** Writes down what needs no commit and returns what does. */
  #record(
    { submission, change }: PlannedDatabase,
    base: Base,
    states: ReadonlyMap<string, GitReview> | undefined,
    outcomes: Map<string, Outcome>,
  ): ChangingDatabase[] {
    const { folder } = submission;
    if (change.kind === 'blocked') {
      outcomes.set(folder, { kind: 'failed', error: blocked(submission, change) });
      return [];
    }
    const review = states?.get(folder);
    const isDone = isNothing(change) && this.#review?.isInConflict(base, submission) !== true;
    if (!isDone && review?.kind !== 'declined') return [{ submission, change }];
    const commit = review && this.#review?.note(submission, review);
    outcomes.set(folder, { kind: 'unchanged', ...(commit && { commit }), ...(review && { review }) });
    return [];
  }

  /** What the branch has of the files that are to change, by git's names of it. */
  #contents(changing: readonly ChangingDatabase[]): Promise<ReadonlyMap<string, string>> {
    const changed = changing.flatMap(({ change }) => change.changed.map(({ old }) => old));
    const compared = changed.filter(({ size = 0 }) => size <= longestCompared).slice(0, comparedFiles);
    return this.#clone.objects.contents([...new Set(compared.map(({ id }) => id))]);
  }

  /** What others have changed, by the folder: where the branch had at some time what it is to have now. */
  async #editsIn(
    { tip }: Base,
    changing: readonly ChangingDatabase[],
    old: ReadonlyMap<string, string>,
  ): Promise<ReadonlyMap<string, readonly Drift[]>> {
    // On the way through a review people edit what they please, and merge what they want.
    const edited = this.#review === undefined ? changing.filter(isEdited) : [];
    if (edited.length === 0) return new Map();
    const paths = edited.flatMap(({ change }) => editedPaths(change)).slice(0, tracedFiles);
    const touches = tip === undefined ? new Map() : await this.#touches(tip, paths);
    return new Map(edited.map(({ submission, change }) => [submission.folder, editsIn({ change, old, touches })]));
  }

  /** Who it was is good to know; what is to be done goes on without. */
  async #touches(commit: string, paths: readonly string[]): Promise<ReadonlyMap<string, LastTouch>> {
    try {
      return await this.#clone.lastTouches(commit, paths);
    } catch (error) {
      if (!(error instanceof GitDeliveryError)) throw error;
      return new Map();
    }
  }

  #commit(
    { parents, onto }: Base,
    changing: readonly ChangingDatabase[],
    old: ReadonlyMap<string, string>,
  ): Promise<string> {
    const { clock, author = { name: 'Plumbline', email: 'plumbline@localhost' } } = this.#options;
    return this.#clone.commit({
      parents,
      onto,
      author,
      epochSeconds: Math.floor(clock.now() / 1000),
      message: commitMessage(changing.map((database) => forMessage(database, old))),
      writes: changing.flatMap(({ change }) => [...change.added, ...change.changed]),
      deletes: changing.flatMap(({ change }) => change.removed),
    });
  }

  #retryMs(attempt: number): number {
    const { random = Math.random } = this.#options;
    return firstRetryMs * 2 ** attempt * (0.5 + random());
  }
}

interface Plan {
  readonly base: Base;
  readonly all: readonly CheckedSubmission[];
  readonly planned: readonly PlannedDatabase[];
}

interface ChangingDatabase {
  readonly submission: CheckedSubmission;
  readonly change: Extract<FolderChange, { kind: 'change' }>;
}

function blocked(
  { key }: CheckedSubmission,
  { by, path }: Extract<FolderChange, { kind: 'blocked' }>,
): GitDeliveryError {
  const what = `A ${by} at ${path} is in the way of ${key}`;
  return new GitDeliveryError(
    'PathBlocked',
    `${what}. It is not Plumbline's, so move it away or choose another branch.`,
  );
}

/** Whether what differs is what others have changed. Where nothing is left, it may never have been there: the repository may be another one. */
function isEdited({ submission, change }: ChangingDatabase): boolean {
  const { wasThere, isRemoval, wanted } = submission;
  const isLeftOver = change.added.length < wanted.size;
  return !isRemoval && (wasThere === 'yes' || (wasThere === 'supposedly' && isLeftOver));
}

/** @param old content by git's name of it, as far as it was read */
function forMessage({ submission, change }: ChangingDatabase, old: ReadonlyMap<string, string>): CommittedDatabase {
  const { namespace, name, folder, isRemoval, hash, things, change: why } = submission;
  const inFolder = (path: string): string => path.slice(folder.length + 1);
  const added = change.added.map(({ path }) => path);
  const changed = change.changed.map(({ path }) => path);
  const isNew = changed.length + change.removed.length === 0 && added.length === submission.wanted.size;
  const compared = ({ path, content, old: { id } }: FileRewrite): ChangedThing => {
    const before = old.get(id);
    return { path: inFolder(path), fields: before === undefined ? [] : fieldChanges(before, content) };
  };
  return {
    namespace,
    name,
    generation: why.generation,
    renderHash: isRemoval ? undefined : hash,
    summary: why.summary,
    kind: isRemoval ? 'remove' : isNew ? 'add' : 'update',
    things: [
      ...[...changed, ...added].map((path) => things.get(path) ?? inFolder(path)),
      ...change.removed.map(inFolder),
    ],
    added: added.map(inFolder),
    changed: change.changed.map(compared),
    removed: change.removed.map(inFolder),
  };
}

function notLeading(): GitDeliveryError {
  const message =
    'The lease is not known to be held any more, so nothing was written. Whoever leads writes what is missing.';
  return new GitDeliveryError('NotLeading', message);
}

function refused(words: string): GitDeliveryError {
  const advice = 'Check the right to push, branch protection and the hooks of the server.';
  return new GitDeliveryError('PushRefused', `The Git repository does not take the commit (${words}). ${advice}`);
}

function overtaken(words: string): GitDeliveryError {
  const what = `Others pushed to the branch each of ${retries + 1} times before the commit arrived (${words}).`;
  return new GitDeliveryError(
    'PushOvertaken',
    `${what} It is tried again later; a branch of its own would end the race.`,
  );
}
