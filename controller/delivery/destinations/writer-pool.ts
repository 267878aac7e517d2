import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoredGitDestination } from '../../../constructs/api/git-destination/resource.ts';
import type { Clock } from '../../kube/index.ts';
import type { GitAccess } from '../git/access.ts';
import { GitDeliveryError } from '../git/git-delivery-error.ts';
import { checkBranch } from '../git/repository-path.ts';
import type { GitSubmission } from '../git/submission.ts';
import { GitWriter, type BatchEnd, type GitDelivery } from '../git/writer.ts';
import { InstallationTokens } from '../github-app/installation-tokens.ts';
import { placeKey, placeOf, writtenKey, type Place } from './place.ts';
import { readAccess, type SecretSource } from './secret-access.ts';

export interface WriterPoolOptions extends SecretSource {
  /** A folder of its own for the copies of the repositories; asked for when there is one. */
  readonly folder: () => string;
  /** Stands for `<cluster>` in paths. */
  readonly cluster: string;
  readonly clock: Clock;
  /** Told of each batch, with the place that it was for. */
  readonly onBatch: (place: string, end: BatchEnd) => void;
  /** Told of each database whose files others have changed. */
  readonly onLost: (key: string) => void;
  /** Of each writer. */
  readonly mayWrite: () => boolean;
}

interface Pooled {
  readonly writer: GitWriter;
  readonly started: Promise<void>;
  /** Of the copy of the repository. */
  readonly directory: string;
  /** Whose credentials, author, key and window it has. */
  destination: StoredGitDestination;
}

/** One writer for each branch of each repository, shared by the destinations that mean the same. */
export class WriterPool {
  readonly #options: WriterPoolOptions;
  readonly #pooled = new Map<string, Pooled>();
  /** Places that are not served, with why. */
  readonly #refused = new Map<string, string>();
  readonly #tokens: InstallationTokens;
  /** Each writer has a folder that no other one ever had. */
  #count = 0;

  constructor(options: WriterPoolOptions) {
    this.#options = options;
    this.#tokens = new InstallationTokens(options);
  }

  /**
   * Makes the writers of these destinations, and stops those that no destination means any more. Those that are new, or
   * whose destination changed, look at their repository.
   */
  async settle(destinations: Iterable<StoredGitDestination>): Promise<void> {
    const wanted = this.#served(destinations);
    const stopping = [...this.#pooled].filter(([place]) => !wanted.has(place));
    for (const [place] of stopping) this.#pooled.delete(place);
    for (const [place, destination] of wanted) this.#settleOne(place, destination);
    await Promise.all(stopping.map(([, pooled]) => dismiss(pooled)));
  }

  /** @throws GitDeliveryError */
  async submit(place: string, submission: GitSubmission): Promise<GitDelivery> {
    const pooled = this.#pooled.get(place);
    if (pooled === undefined) throw new TypeError(`There is no writer for ${place}; this is a mistake in Plumbline`);
    await pooled.started;
    return pooled.writer.submit(submission);
  }

  /** Without further delay. */
  look(place: string): void {
    this.#pooled.get(place)?.writer.look();
  }

  has(place: string): boolean {
    return this.#pooled.has(place);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#pooled.values()].map(({ writer }) => writer.stop()));
    this.#pooled.clear();
  }

  /**
   * The first by name of those that mean the same place. Of those that would write one branch for the sake of different ones, it is the first by name that
   * is served: what waits on it for one is not to be merged into the other.
   */
  #served(destinations: Iterable<StoredGitDestination>): ReadonlyMap<string, StoredGitDestination> {
    const sorted = [...destinations].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    const served = new Map<string, StoredGitDestination>();
    const writers = new Map<string, string>();
    for (const destination of sorted) {
      const place = placeOf(destination, this.#options.cluster);
      const [key, written] = [placeKey(place), writtenKey(place)];
      const writer = writers.get(written) ?? key;
      const why = writer === key ? refusalOf(place) : taken(place);
      if (why === undefined) this.#refused.delete(key);
      else this.#refuse(key, why);
      if (why !== undefined || served.has(key)) continue;
      served.set(key, destination);
      writers.set(written, key);
    }
    return served;
  }

  #refuse(place: string, error: GitDeliveryError): void {
    if (this.#refused.get(place) === error.message) return;
    this.#refused.set(place, error.message);
    this.#options.onBatch(place, { commit: undefined, failure: error, size: 0, inReview: 0 });
  }

  #settleOne(place: string, destination: StoredGitDestination): void {
    const known = this.#pooled.get(place);
    if (known !== undefined) {
      const { uid, generation } = known.destination.metadata;
      const isSame = uid === destination.metadata.uid && generation === destination.metadata.generation;
      known.destination = destination;
      if (!isSame) known.writer.look();
      return;
    }
    this.#count++;
    const directory = join(this.#options.folder(), `destination-${this.#count}`);
    const writer = this.#newWriter(place, destination, directory);
    writer.whenLost(this.#options.onLost);
    const started = writer.start();
    // Whoever submits is told too.
    started.catch((failure) => this.#options.onBatch(place, { commit: undefined, failure, size: 0, inReview: 0 }));
    this.#pooled.set(place, { writer, started, directory, destination });
    writer.look();
  }

  #newWriter(place: string, destination: StoredGitDestination, directory: string): GitWriter {
    const { cluster, clock, onBatch, mayWrite } = this.#options;
    const spec = () => (this.#pooled.get(place)?.destination ?? destination).spec;
    let password: string | undefined;
    const access = async (): Promise<GitAccess> => {
      const found = await readAccess(spec(), this.#options, this.#tokens);
      password = found.login?.kind === 'password' ? found.login.password : undefined;
      return found;
    };
    return new GitWriter({
      ...placeOf(destination, cluster),
      cluster,
      clock,
      directory,
      mayWrite,
      access,
      onBatch: (end) => {
        const isRefused = end.failure instanceof GitDeliveryError && end.failure.reason === 'CredentialsRefused';
        if (isRefused && password !== undefined) this.#tokens.forget(password);
        onBatch(place, end);
      },
      pushOptions: () => spec().pullRequest?.pushOptions ?? [],
      get author() {
        return spec().author;
      },
      get windowMs() {
        return (spec().windowSeconds ?? 1) * 1000;
      },
    });
  }
}

async function dismiss({ writer, directory }: Pooled): Promise<void> {
  await writer.stop();
  await rm(directory, { recursive: true, force: true });
}

function refusalOf({ branch, reviewBranch }: Place): GitDeliveryError | undefined {
  if (reviewBranch === undefined) return undefined;
  if (reviewBranch === branch)
    return new GitDeliveryError('BranchTaken', `The branch ${branch} can't be merged into itself: name another one.`);
  try {
    checkBranch(reviewBranch);
    return undefined;
  } catch (error) {
    if (error instanceof GitDeliveryError) return error;
    throw error;
  }
}

function taken({ branch, reviewBranch = branch }: Place): GitDeliveryError {
  const message = `Another GitDestination, the first by name, writes the branch ${reviewBranch} for another target than ${branch}. Name another branch in pullRequest.branch.`;
  return new GitDeliveryError('BranchTaken', message);
}
