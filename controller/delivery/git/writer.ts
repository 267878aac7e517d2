import type { GitReview } from '../../database/delivery.ts';
import type { Drift } from '../../drift/index.ts';
import { Backoff } from '../../kube/backoff.ts';
import { pause } from '../../kube/clock.ts';
import { Branch, type BranchOptions, type BranchStats, type Outcome } from './branch.ts';
import { GitDeliveryError } from './git-delivery-error.ts';
import { checkRemoteUrl } from './remote-url.ts';
import { checkBranch, folderOf } from './repository-path.ts';
import {
  checkSubmission,
  contentHash,
  submittedFolder,
  type CheckedSubmission,
  type GitSubmission,
} from './submission.ts';
import { FolderClaims } from './folder-claims.ts';

export interface GitWriterOptions extends BranchOptions {
  /** The folder under `clusters/`. */
  readonly cluster: string;
  /** How long changes are gathered for one commit. Defaults to 1 s. */
  readonly windowMs?: number;
  /** How often the branches are looked at while changes wait for their review. Defaults to 1 minute. */
  readonly lookAgainMs?: number;
  /** Told of what became of each batch. Defaults to nothing. */
  readonly onBatch?: (end: BatchEnd) => void;
}

/** What became of a batch. */
export interface BatchEnd {
  /** The commit that was pushed; undefined where there was nothing to commit, or it failed. */
  readonly commit: string | undefined;
  /** What kept all of it from the branch, and would keep the next one too; undefined where some of it arrived. */
  readonly failure: unknown;
  /** Databases that it was for. */
  readonly size: number;
  /** Databases whose change is not merged yet, as far as is known. */
  readonly inReview: number;
}

export interface GitDelivery {
  /**
   * The commit that holds the files, as far as this writer knows: undefined where they were in the branch before the
   * writer's start.
   */
  readonly commit: string | undefined;
  /** The database's folder in the repository. */
  readonly path: string;
  /** Whether a commit was made for this. */
  readonly isNew: boolean;
  /** Where changes are reviewed: how far this one is. */
  readonly review?: GitReview;
  /** What others have changed in the files, and is left. Defaults to nothing. */
  readonly edits?: readonly Drift[];
  /** What others had changed, and this commit has undone. Defaults to nothing. */
  readonly restored?: readonly Drift[];
}

export interface GitWriterStats extends BranchStats {
  /** Databases that wait for a commit. */
  readonly waiting: number;
}

interface Written {
  readonly key: string;
  readonly hash: string;
  readonly commit: string | undefined;
  readonly review: GitReview | undefined;
  /** What others have changed since, and is left. */
  readonly edits: readonly Drift[];
  /** Others have changed something there: it is to be looked at again. */
  isStray: boolean;
}

/** While a repository takes nothing, it is tried once in so long; a change of its destination is tried at once. */
const longestPauseMs = 60_000;
/** Nobody tells of a merge. */
const defaultLookAgainMs = 60_000;

interface Waiting {
  readonly submission: CheckedSubmission;
  readonly settled: PromiseWithResolvers<GitDelivery>;
}

/**
 * The only writer of one branch of one repository. What is submitted within a short time becomes one commit; what the
 * branch holds already becomes none. The branch only moves forward, and what others commit stays.
 */
export class GitWriter {
  readonly #options: GitWriterOptions;
  readonly #branch: Branch;
  readonly #stopping = new AbortController();
  readonly #backoff: Backoff;
  #hurry = new AbortController();
  #isLookWanted = false;
  readonly #claims = new FolderClaims();
  /** By folder, as what waits. */
  readonly #written = new Map<string, Written>();
  #lost: (key: string) => void = () => undefined;
  #waiting = new Map<string, Waiting>();
  #underWay: ReadonlyMap<string, Waiting> = new Map();
  #wake = Promise.withResolvers<void>();
  #running: Promise<void> = Promise.resolve();

  /** @throws GitDeliveryError UrlRefused, BranchRefused, PathRefused */
  constructor(options: GitWriterOptions) {
    checkRemoteUrl(options.url);
    checkBranch(options.branch);
    if (options.reviewBranch !== undefined) checkBranch(options.reviewBranch);
    folderOf({ cluster: options.cluster, namespace: 'namespace', name: 'name' });
    this.#options = options;
    this.#branch = new Branch(options);
    this.#backoff = new Backoff({ initialMs: 1000, maxMs: longestPauseMs, random: options.random });
  }

  get stats(): GitWriterStats {
    return { ...this.#branch.stats, waiting: this.#waiting.size + this.#underWay.size };
  }

  /**
   * Begins to write. The repository may be out of reach at that time.
   * @throws GitDeliveryError GitMissing
   */
  async start(): Promise<void> {
    await this.#branch.checkGit();
    this.#running = this.#run();
    if (this.#options.reviewBranch !== undefined) void this.#follow();
  }

  /**
   * Calls `listener` with the `namespace/name` of a database whose files others have changed or removed. It is seen when there is something to
   * commit anyway, or to look at. What is submitted for the database then is compared again.
   */
  whenLost(listener: (key: string) => void): void {
    this.#lost = listener;
  }

  /** Looks at the repository without further delay: it may be reached by other means than before. */
  look(): void {
    this.#isLookWanted = true;
    this.#backoff.reset();
    this.#hurry.abort();
    this.#wake.resolve();
  }

  /** Takes no more, writes what was submitted and resolves. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake.resolve();
    await this.#running;
    for (const { settled } of this.#waiting.values()) settled.reject(stopped());
    this.#waiting.clear();
  }

  /**
   * Resolves once the branch holds the files. Of two submissions of one database within a window the later counts, for
   * both callers.
   * @throws GitDeliveryError
   */
  async submit(submission: GitSubmission): Promise<GitDelivery> {
    if (this.#stopping.signal.aborted) throw stopped();
    const { cluster } = this.#options;
    const path = submittedFolder(cluster, submission);
    const hash = contentHash(submission.files);
    const known = this.#written.get(path);
    const isSame = known?.hash === hash && !this.#waiting.has(path) && !this.#underWay.has(path);
    if (isSame && !known.isStray && (known.edits.length === 0 || submission.foreign === 'left')) {
      return asFound(known, path);
    }
    const wasThere = known === undefined ? told(submission) : known.hash === hash ? 'yes' : 'no';
    const checked = checkSubmission(cluster, submission, { hash, wasThere });
    this.#claims.claim(checked);
    const settled = this.#waiting.get(path)?.settled ?? Promise.withResolvers<GitDelivery>();
    this.#waiting.set(path, { submission: checked, settled });
    this.#wake.resolve();
    return settled.promise;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    let pauseMs = 0;
    for (;;) {
      await this.#wake.promise;
      this.#wake = Promise.withResolvers();
      if (this.#waiting.size === 0 && signal.aborted) return;
      const { clock, windowMs = 1000 } = this.#options;
      await pause(clock, Math.max(windowMs, pauseMs), AbortSignal.any([signal, this.#hurry.signal]));
      this.#hurry = new AbortController();
      pauseMs = (await this.#writeWaiting()) ? 0 : this.#backoff.next();
      if (this.#waiting.size > 0 || signal.aborted) this.#wake.resolve();
    }
  }

  /** Looks again and again while something waits to be merged. */
  async #follow(): Promise<void> {
    const { clock, lookAgainMs = defaultLookAgainMs } = this.#options;
    while (await pause(clock, lookAgainMs, this.#stopping.signal)) {
      if (this.#inReview === 0) continue;
      this.#isLookWanted = true;
      this.#wake.resolve();
    }
  }

  get #inReview(): number {
    const isOpen = ({ review, isStray }: Written): boolean =>
      !isStray && review !== undefined && review.kind !== 'merged';
    return [...this.#written.values()].filter(isOpen).length;
  }

  /** @returns whether there is no reason to wait longer before the next batch */
  async #writeWaiting(): Promise<boolean> {
    const batch = this.#waiting;
    if (this.#isLookWanted) this.#branch.forgetTip();
    this.#isLookWanted = false;
    this.#underWay = batch;
    this.#waiting = new Map();
    const outcomes = await this.#branch.publish([...batch.values()].map(({ submission }) => submission));
    this.#underWay = new Map();
    for (const [folder, waiting] of batch) this.#settle(waiting, outcomes.get(folder));
    this.#forgetStrays(batch);
    const all = [...outcomes.values()];
    const failure = all.some(({ kind }) => kind !== 'failed') ? undefined : this.#branch.failure;
    const commit = all.findLast((outcome) => outcome.kind === 'committed')?.commit;
    if (failure === undefined) this.#backoff.reset();
    this.#options.onBatch?.({ commit, failure, size: batch.size, inReview: this.#inReview });
    return failure === undefined;
  }

  #forgetStrays(batch: ReadonlyMap<string, Waiting>): void {
    const strays = this.#branch.takeStrays();
    const gone = [...this.#written].filter(
      ([folder, { isStray }]) => !isStray && !batch.has(folder) && (strays === 'all' || strays.has(folder)),
    );
    for (const [, written] of gone) {
      written.isStray = true;
      this.#lost(written.key);
    }
  }

  #settle({ submission, settled }: Waiting, outcome: Outcome | undefined): void {
    const { key, hash, folder: path } = submission;
    const known = this.#written.get(path);
    switch (outcome?.kind) {
      case 'committed': {
        const { commit, review, restored } = outcome;
        const written = { key, hash, commit, review, edits: [], isStray: false };
        this.#written.set(path, written);
        return settled.resolve({ ...asFound(written, path), isNew: true, ...filled('restored', restored) });
      }
      case 'unchanged':
      case 'left': {
        const isLeft = outcome.kind === 'left';
        const before = known?.hash === hash ? known.commit : undefined;
        const [commit, review] = isLeft ? [before, undefined] : [outcome.commit ?? before, outcome.review];
        const found = { key, hash, commit, review, edits: isLeft ? outcome.edits : [], isStray: false };
        this.#written.set(path, found);
        return settled.resolve(asFound(found, path));
      }
      case 'failed':
        return settled.reject(outcome.error);
      case undefined:
        return settled.reject(new Error(`${key} came to no outcome; this is a mistake in Plumbline`));
    }
  }
}

function told({ wasThere = false }: GitSubmission): CheckedSubmission['wasThere'] {
  return wasThere ? 'supposedly' : 'no';
}

function asFound({ commit, review, edits }: Written, path: string): GitDelivery {
  return { commit, path, isNew: false, ...(review && { review }), ...filled('edits', edits) };
}

function filled(name: 'edits' | 'restored', drifts: readonly Drift[]): Partial<GitDelivery> {
  return drifts.length === 0 ? {} : { [name]: drifts };
}

function stopped(): GitDeliveryError {
  return new GitDeliveryError(
    'WriterStopped',
    'The Git writer was stopped. What is missing in Git is written after the next start.',
  );
}
