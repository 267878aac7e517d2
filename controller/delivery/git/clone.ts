import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AccessFiles } from './access-files.ts';
import type { GitAccess } from './access.ts';
import { atHand, isFailure, onDisk } from './clone-failure.ts';
import { CommitSigning, hashIn } from './commit-signing.ts';
import { fastImportStream, type NewCommit } from './fast-import.ts';
import { GitDeliveryError } from './git-delivery-error.ts';
import { GitProcess, type GitProcessOptions } from './git-process.ts';
import type { LastTouch } from './last-touch.ts';
import { GitObjects } from './objects.ts';

export interface CloneOptions extends Omit<GitProcessOptions, 'gitDirectory' | 'home'> {
  readonly url: string;
  readonly branch: string;
  /** What the server is told with a push (`git push --push-option`); asked for each. Defaults to nothing. */
  readonly pushOptions?: () => readonly string[];
  /** A folder of its own, which may be lost at any time. */
  readonly directory: string;
  /** What the server lets us in by; asked for each batch, so that a change counts at once. Defaults to nothing. */
  readonly access?: () => GitAccess | Promise<GitAccess>;
}

export type PushOutcome = { readonly kind: 'pushed' } | { readonly kind: 'rejected'; readonly words: string };

/** Nothing of a commit or a push runs a program, whatever the machine's templates say. */
const config = `[core]
	repositoryformatversion = 0
	bare = true
	hooksPath = /dev/null
	autocrlf = false
	fsmonitor = false
[commit]
	gpgsign = false
[push]
	gpgsign = false
[credential]
	helper =
[merge]
	renames = false
[gc]
	auto = 0
[maintenance]
	auto = false
`;

const remoteHead = 'refs/plumbline/head';
const history = 'refs/plumbline/history';
const nextCommit = 'refs/plumbline/next';
/** git runs no clean-up here, so that after as many commits the copy is made anew instead. */
const commitsPerClone = 500;
/** So far back it is looked who changed a file, in commits: the first is enough as a rule. */
const depths = [100, 1000];
const fetchQuietly = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance'];
/** The whole history of a large repository takes its time, once. */
const wholeHistoryMs = 600_000;
/** More than any history has. Source: git-fetch(1), `--unshallow` */
const infiniteDepth = 2_147_483_647;

/**
 * A bare copy of one branch, or two, shallow as long as there is one. There is no work tree: trees are read and commits are made inside git's own store.
 */
export class Clone {
  /** What was fetched. */
  readonly objects: GitObjects;
  readonly #git: GitProcess;
  readonly #options: CloneOptions;
  readonly #gitDirectory: string;
  readonly #home: string;
  readonly #accessFiles: AccessFiles;
  readonly #signing: CommitSigning;
  #access: GitAccess | undefined;
  #isReady = false;
  #commits = 0;
  /** Commits that are at hand. */
  readonly #held = new Set<string>();
  #isWhole = false;

  constructor(options: CloneOptions) {
    this.#options = options;
    this.#gitDirectory = join(options.directory, 'repository.git');
    this.#home = join(options.directory, 'home');
    this.#accessFiles = new AccessFiles(join(options.directory, 'access'), options.url);
    this.#git = new GitProcess({ ...options, gitDirectory: this.#gitDirectory, home: this.#home });
    this.objects = new GitObjects(this.#git);
    this.#signing = new CommitSigning(this.#git, this.#accessFiles, options);
  }

  /** How many git commands were ever started. */
  get processes(): number {
    return this.#git.started;
  }

  /** @throws GitDeliveryError GitMissing, CloneBroken */
  async checkGit(): Promise<void> {
    await this.#makeHome();
    await this.#git.run(['version']);
  }

  /** What the server lets us in by from now on. @throws what its source throws */
  async readAccess(): Promise<void> {
    this.#access = await this.#options.access?.();
  }

  /**
   * Gets the newest commit of the branch and returns its hash, or undefined where the branch doesn't exist yet.
   * @throws GitDeliveryError RemoteUnreachable, CredentialsRefused, HostKeyRefused, CertificateRefused, AccessRefused,
   * CloneBroken, DiskFull
   */
  async fetch(): Promise<string | undefined> {
    if (this.#commits >= commitsPerClone) await this.wipe();
    try {
      return await this.#fetchOnce();
    } catch (error) {
      if (!isFailure(error)) throw error;
      if (!(await this.#isBranchThere())) return undefined;
      await this.wipe();
      return atHand(() => this.#fetchOnce());
    }
  }

  /**
   * The newest commits of the branches, without those that do not exist.
   * @throws GitDeliveryError RemoteUnreachable, CredentialsRefused, HostKeyRefused, CertificateRefused, AccessRefused
   */
  async heads(branches: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { url } = this.#options;
    const refs = branches.map((branch) => `refs/heads/${branch}`);
    try {
      await this.#makeHome();
      const listed = await this.#remote(['ls-remote', '--heads', url, ...refs]);
      const hashes = new Map(listed.split('\n').map((line) => line.split('\t').reverse() as [string, string]));
      return new Map(branches.flatMap((branch, i) => pairOf(branch, hashes.get(refs[i] ?? ''))));
    } catch (error) {
      if (!isFailure(error)) throw error;
      const advice = 'Check the URL, the network and the right to read.';
      throw new GitDeliveryError('RemoteUnreachable', `The Git repository can't be read (${error.message}). ${advice}`);
    }
  }

  /**
   * Has the newest commits of branches at hand, and of two of them all that led there: what they have in common is in it.
   * @param heads as they were listed
   * @returns them as they are @throws GitDeliveryError as `fetch`
   */
  async fetchHeads(heads: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, string>> {
    if (this.#commits >= commitsPerClone) await this.wipe();
    const isAtHand = [...heads.values()].every((hash) => this.#held.has(hash)) && (this.#isWhole || heads.size < 2);
    if (isAtHand) return heads;
    try {
      return await this.#fetchHeadsOnce([...heads.keys()]);
    } catch (error) {
      if (!isFailure(error)) throw error;
      await this.wipe();
      return atHand(() => this.#fetchHeadsOnce([...heads.keys()]));
    }
  }

  /**
   * The commits that changed these paths last, without what lies too far back. It asks the server for more of the history.
   * @throws GitDeliveryError as `fetch` does
   */
  async lastTouches(commit: string, paths: readonly string[]): Promise<ReadonlyMap<string, LastTouch>> {
    const { url, branch } = this.#options;
    let touches: ReadonlyMap<string, LastTouch> = new Map();
    for (const depth of depths) {
      const deepen = [...fetchQuietly, `--depth=${depth}`, url, `+refs/heads/${branch}:${history}`];
      await this.#remote(['fetch', ...deepen]);
      const boundary = await this.#boundary();
      touches = await this.objects.touches(commit, paths, boundary);
      if (paths.every((path) => touches.has(path)) || boundary.size === 0) break;
    }
    return touches;
  }

  /** Makes a commit, signed where there is a key, and returns its hash. Nobody sees it before `push`. */
  async commit(commit: Omit<NewCommit, 'ref'>): Promise<string> {
    const stream = fastImportStream({ ...commit, ref: nextCommit });
    const output = await atHand(() => this.#git.run(['fast-import', '--quiet', '--force'], { input: stream }));
    this.#commits++;
    const hash = hashIn(output);
    return this.#access?.signingKey === undefined ? hash : this.#signing.sign(hash, commit, this.#access);
  }

  /**
   * Never by force: the branch moves forward or stays.
   * @param seen where it has to be still: a hash, or nowhere. Defaults to wherever it moves forward from
   * @throws GitDeliveryError CredentialsRefused, HostKeyRefused, CertificateRefused, AccessRefused
   */
  async push(commit: string, seen?: { readonly tip: string | undefined }): Promise<PushOutcome> {
    const { url, branch, pushOptions = () => [] } = this.#options;
    // Of commits that go on from there it forces nothing: it keeps a branch away that somebody deletes meanwhile.
    const lease = seen === undefined ? [] : [`--force-with-lease=refs/heads/${branch}:${seen.tip ?? ''}`];
    const told = [...lease, ...pushOptions().map((option) => `--push-option=${option}`)];
    try {
      await this.#remote(['push', '--quiet', '--no-verify', ...told, url, `${commit}:refs/heads/${branch}`]);
      this.#held.add(commit);
      return { kind: 'pushed' };
    } catch (error) {
      if (!isFailure(error)) throw error;
      return { kind: 'rejected', words: error.message };
    }
  }

  /** Throws the copy away; the next fetch makes a new one. */
  async wipe(): Promise<void> {
    await rm(this.#gitDirectory, { recursive: true, force: true });
    this.#isReady = false;
    this.#commits = 0;
    this.#held.clear();
    this.#isWhole = false;
  }

  async #fetchOnce(): Promise<string> {
    const { url, branch } = this.#options;
    await this.#prepare();
    await this.#remote(['fetch', ...fetchQuietly, '--depth=1', url, `+refs/heads/${branch}:${remoteHead}`]);
    return (await this.#git.run(['rev-parse', '--verify', `${remoteHead}^{commit}`])).trim();
  }

  async #fetchHeadsOnce(branches: readonly string[]): Promise<ReadonlyMap<string, string>> {
    await this.#prepare();
    const isWhole = this.#isWhole || branches.length > 1;
    const depth = this.#isWhole ? [] : [`--depth=${isWhole ? infiniteDepth : 1}`];
    const refs = branches.map((_, i) => `${remoteHead}-${i}`);
    const specs = branches.map((branch, i) => `+refs/heads/${branch}:${refs[i]}`);
    await this.#remote(
      ['fetch', ...fetchQuietly, ...depth, this.#options.url, ...specs],
      isWhole ? wholeHistoryMs : undefined,
    );
    this.#isWhole = isWhole;
    const commits = refs.map((ref) => `${ref}^{commit}`);
    const hashes = (await this.#git.run(['rev-parse', ...commits])).trim().split('\n');
    for (const hash of hashes) this.#held.add(hash);
    return new Map(branches.flatMap((branch, i) => pairOf(branch, hashes[i])));
  }

  /** Commits whose parents are not at hand. */
  async #boundary(): Promise<ReadonlySet<string>> {
    const file = join(this.#gitDirectory, 'shallow');
    // git removes it when all are at hand.
    return new Set(existsSync(file) ? (await readFile(file, 'utf8')).split('\n').filter(Boolean) : []);
  }

  /** Asks without a look at the words of the failed fetch, which differ by version, protocol and server. */
  async #isBranchThere(): Promise<boolean> {
    const { branch } = this.#options;
    return (await this.heads([branch])).has(branch);
  }

  async #prepare(): Promise<void> {
    if (this.#isReady) return;
    await this.#makeHome();
    try {
      await this.#git.run(['init', '--quiet', '--bare']);
    } catch (error) {
      if (!isFailure(error)) throw error;
      await this.wipe();
      await this.#git.run(['init', '--quiet', '--bare']);
    }
    await onDisk(async () => {
      await rm(join(this.#gitDirectory, 'hooks'), { recursive: true, force: true });
      await writeFile(join(this.#gitDirectory, 'config'), config);
    });
    this.#isReady = true;
  }

  async #makeHome(): Promise<void> {
    await onDisk(() => mkdir(this.#home, { recursive: true }));
  }

  /** Talks to the server. */
  async #remote(args: readonly string[], timeoutMs?: number): Promise<string> {
    const access = this.#access;
    const how = { isRemote: true, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
    if (access === undefined) return this.#git.run(args, how);
    return onDisk(() => this.#accessFiles.during(access, (run) => this.#git.run(args, { ...run, ...how })));
  }
}

function pairOf(branch: string, hash: string | undefined): [string, string][] {
  return hash === undefined || hash === '' ? [] : [[branch, hash]];
}
