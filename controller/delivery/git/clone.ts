import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AccessFiles, type AccessRun } from './access-files.ts';
import { checkAccess, type GitAccess, type OpenPgpKey } from './access.ts';
import { fastImportStream, identityVariables, type NewCommit } from './fast-import.ts';
import { GitDeliveryError } from './git-delivery-error.ts';
import { defaultTimeoutMs, GitProcess, type GitProcessOptions } from './git-process.ts';
import { signOpenPgp, withSignature } from './open-pgp.ts';
import { failureOf } from './remote-failure.ts';
import { parseTouches, touchFormat, type LastTouch } from './last-touch.ts';
import { parseTree, type TreeEntry } from './tree-entry.ts';

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

/** What comes of bringing two commits together. */
export interface MergedTree {
  readonly tree: string;
  /** Files that both have changed in ways that do not go together: they have both versions in the tree, or one of them. */
  readonly conflicts: readonly string[];
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
/** Keeps an argument list well below what Linux takes. */
const pathsPerCommand = 1000;
/** The whole history of a large repository takes its time, once. */
const wholeHistoryMs = 600_000;
/** More than any history has. Source: git-fetch(1), `--unshallow` */
const infiniteDepth = 2_147_483_647;

/**
 * A bare copy of one branch, or two, shallow as long as there is one. There is no work tree: trees are read and commits are made inside git's own store.
 */
export class Clone {
  readonly #git: GitProcess;
  readonly #options: CloneOptions;
  readonly #gitDirectory: string;
  readonly #home: string;
  readonly #accessFiles: AccessFiles;
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
      return this.#local(() => this.#fetchOnce());
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
      return this.#local(() => this.#fetchHeadsOnce([...heads.keys()]));
    }
  }

  /** The newest commit that both go back to; undefined where there is none. Of whole histories alone. */
  async commonAncestor(one: string, other: string): Promise<string | undefined> {
    const found = await this.#local(() => this.#git.run(['merge-base', one, other], { answers: [1] }));
    return found === '' ? undefined : found.trim();
  }

  /** What is changed in the one or the other since their common ancestor. */
  async merged(one: string, other: string): Promise<MergedTree> {
    const args = ['merge-tree', '--write-tree', '--name-only', '--no-messages', '-z', one, other];
    const [tree = '', ...paths] = (await this.#local(() => this.#git.run(args, { answers: [1] }))).split('\0');
    return { tree, conflicts: paths.filter((path) => path !== '') };
  }

  /** Every file, link or submodule in the folders, and whatever other than a folder stands in their way. */
  async entries(commit: string, folders: readonly string[]): Promise<TreeEntry[]> {
    return this.#inPortions(folders, async (paths) =>
      parseTree(await this.#git.run(['ls-tree', '-r', '--long', '-z', commit, '--', ...paths])),
    );
  }

  /** What the paths themselves are. A folder is left out where another path is in it. */
  async entriesAt(commit: string, paths: readonly string[]): Promise<TreeEntry[]> {
    return this.#inPortions(paths, async (paths) =>
      parseTree(await this.#git.run(['ls-tree', '--long', '-z', commit, '--', ...paths])),
    );
  }

  /** The files in the folders of which a line matches the extended regular expression. */
  async matching(commit: string, pattern: string, folders: readonly string[]): Promise<string[]> {
    return this.#inPortions(folders, async (paths) => {
      const args = ['--literal-pathspecs', 'grep', '-z', '-l', '-I', '-E', '-e', pattern, commit, '--', ...paths];
      const output = await this.#git.run(args, { answers: [1] });
      return output.split('\0').flatMap((line) => (line === '' ? [] : [line.slice(commit.length + 1)]));
    });
  }

  /** Paths that are not the same in both commits; undefined where the older one is not at hand any more. */
  async changedPaths(from: string, to: string): Promise<readonly string[] | undefined> {
    try {
      const output = await this.#git.run(['diff-tree', '-r', '-z', '--name-only', '--no-renames', from, to]);
      return output.split('\0').filter((path) => path !== '');
    } catch (error) {
      if (!isFailure(error)) throw error;
      return undefined;
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
      const log = ['--literal-pathspecs', 'log', '-z', '--name-only', '--no-renames', touchFormat, commit, '--'];
      const found = await this.#inPortions(paths, async (some) => {
        const output = await this.#git.run([...log, ...some]);
        return [...parseTouches(output, boundary)];
      });
      touches = new Map(found);
      if (paths.every((path) => touches.has(path)) || boundary.size === 0) break;
    }
    return touches;
  }

  /** What files hold, by git's names of that. */
  async contents(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (ids.length === 0) return new Map();
    const input = ids.map((id) => `${id}\n`).join('');
    const contents = blobs(await this.#local(() => this.#git.bytes(['cat-file', '--batch=%(objectsize)'], { input })));
    return new Map(ids.map((id, index) => [id, contents[index] ?? '']));
  }

  /** Makes a commit, signed where there is a key, and returns its hash. Nobody sees it before `push`. */
  async commit(commit: Omit<NewCommit, 'ref'>): Promise<string> {
    const stream = fastImportStream({ ...commit, ref: nextCommit });
    const output = await this.#local(() => this.#git.run(['fast-import', '--quiet', '--force'], { input: stream }));
    this.#commits++;
    const hash = hashIn(output);
    return this.#access?.signingKey === undefined ? hash : this.#sign(hash, commit, this.#access);
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
    const args = [
      '--quiet',
      ...depth,
      '--no-tags',
      '--no-write-fetch-head',
      '--no-auto-maintenance',
      this.#options.url,
    ];
    const specs = branches.map((branch, i) => `+refs/heads/${branch}:${refs[i]}`);
    await this.#remote(['fetch', ...args, ...specs], isWhole ? wholeHistoryMs : undefined);
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

  /** git fast-import signs nothing, so that the commit is made once more. */
  #sign(unsigned: string, commit: Omit<NewCommit, 'ref'>, access: GitAccess): Promise<string> {
    checkAccess(this.#options.url, access);
    const { signingKey } = access;
    return signingKey?.kind === 'openpgp'
      ? onDisk(() => this.#signOpenPgp(unsigned, signingKey))
      : this.#signBySsh(unsigned, commit, access);
  }

  /** From the tree that it made, by git itself. */
  async #signBySsh(unsigned: string, commit: Omit<NewCommit, 'ref'>, access: GitAccess): Promise<string> {
    const { parents, message: input } = commit;
    const args = ['commit-tree', '-S', `${unsigned}^{tree}`, ...parents.flatMap((one) => ['-p', one])];
    try {
      const sign = ({ variables, secrets }: AccessRun): Promise<string> =>
        this.#git.run(args, {
          input,
          secrets,
          startsOthers: true,
          variables: { ...variables, ...identityVariables(commit) },
        });
      return hashIn(await onDisk(() => this.#accessFiles.during(access, sign)));
    } catch (error) {
      if (!isFailure(error)) throw error;
      const advice = 'Check the signing key, and that ssh-keygen is installed.';
      throw new GitDeliveryError('SigningFailed', `The commit can't be signed (${error.message}). ${advice}`);
    }
  }

  /** git would start gpg, and keep to itself what that says of a passphrase or a key that has expired. */
  async #signOpenPgp(unsigned: string, key: OpenPgpKey): Promise<string> {
    const { directory, environment = process.env, timeoutMs = defaultTimeoutMs } = this.#options;
    const commit = await this.#local(() => this.#git.run(['cat-file', 'commit', unsigned]));
    const signature = await signOpenPgp(commit, key, { folder: join(directory, 'gpg'), environment, timeoutMs });
    const input = withSignature(commit, signature);
    return hashIn(await this.#local(() => this.#git.run(['hash-object', '-t', 'commit', '-w', '--stdin'], { input })));
  }

  async #inPortions<T>(paths: readonly string[], ask: (paths: readonly string[]) => Promise<T[]>): Promise<T[]> {
    const answers: T[] = [];
    for (let start = 0; start < paths.length; start += pathsPerCommand) {
      const portion = paths.slice(start, start + pathsPerCommand);
      answers.push(...(await this.#local(() => ask(portion))));
    }
    return answers;
  }

  /** What needs no network can only fail because the copy is damaged. */
  async #local<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      throw isFailure(error) ? broken(error.message) : error;
    }
  }
}

function isFailure(error: unknown): error is GitDeliveryError {
  return error instanceof GitDeliveryError && error.reason === 'GitFailed';
}

/** What `git cat-file --batch` prints with the size alone: of each blob a line with that, its bytes, and an end of line. */
function blobs(output: Buffer): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at < output.length;) {
    const begin = output.indexOf('\n', at) + 1;
    const end = begin + Number(output.toString('utf8', at, begin));
    found.push(output.toString('utf8', begin, end));
    at = end + 1;
  }
  return found;
}

function pairOf(branch: string, hash: string | undefined): [string, string][] {
  return hash === undefined || hash === '' ? [] : [[branch, hash]];
}

function hashIn(output: string): string {
  const hash = output.trim();
  if (!/^[0-9a-f]{40}$/.test(hash)) throw broken('git made a commit and gave no hash');
  return hash;
}

/** Names what the file system says. */
async function onDisk<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof GitDeliveryError) throw error;
    const words = error instanceof Error ? error.message : String(error);
    const { reason, remedy } = failureOf(words, false);
    throw remedy === undefined ? broken(words) : new GitDeliveryError(reason, `${words}. ${remedy}`);
  }
}

function broken(words: string): GitDeliveryError {
  const advice = 'It is made anew at the next try; see whether its folder is writable and the disk has room.';
  return new GitDeliveryError('CloneBroken', `Plumbline's copy of the Git repository is damaged (${words}). ${advice}`);
}
