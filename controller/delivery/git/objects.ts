import { atHand, isFailure } from './clone-failure.ts';
import type { GitProcess } from './git-process.ts';
import { parseTouches, touchFormat, type LastTouch } from './last-touch.ts';
import { parseTree, type TreeEntry } from './tree-entry.ts';

/** What comes of bringing two commits together. */
export interface MergedTree {
  readonly tree: string;
  /** Files that both have changed in ways that do not go together: they have both versions in the tree, or one of them. */
  readonly conflicts: readonly string[];
}

/** Keeps an argument list well below what Linux takes. */
const pathsPerCommand = 1000;

/** Commits, trees and files that a copy of a repository has at hand; the server is asked for nothing. Where that fails, the copy is damaged: CloneBroken. */
export class GitObjects {
  readonly #git: GitProcess;

  constructor(git: GitProcess) {
    this.#git = git;
  }

  /** The newest commit that both go back to; undefined where there is none. Of whole histories alone. */
  async commonAncestor(one: string, other: string): Promise<string | undefined> {
    const found = await atHand(() => this.#git.run(['merge-base', one, other], { answers: [1] }));
    return found === '' ? undefined : found.trim();
  }

  /** What is changed in the one or the other since their common ancestor. */
  async merged(one: string, other: string): Promise<MergedTree> {
    const args = ['merge-tree', '--write-tree', '--name-only', '--no-messages', '-z', one, other];
    const [tree = '', ...paths] = (await atHand(() => this.#git.run(args, { answers: [1] }))).split('\0');
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
   * The commits that changed these paths last, as far as their parents are at hand.
   * @param boundary commits whose parents are not
   */
  async touches(
    commit: string,
    paths: readonly string[],
    boundary: ReadonlySet<string>,
  ): Promise<ReadonlyMap<string, LastTouch>> {
    const log = ['--literal-pathspecs', 'log', '-z', '--name-only', '--no-renames', touchFormat, commit, '--'];
    const found = await this.#inPortions(paths, async (some) => [
      ...parseTouches(await this.#git.run([...log, ...some]), boundary),
    ]);
    return new Map(found);
  }

  /** What files hold, by git's names of that. */
  async contents(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (ids.length === 0) return new Map();
    const input = ids.map((id) => `${id}\n`).join('');
    const contents = blobs(await atHand(() => this.#git.bytes(['cat-file', '--batch=%(objectsize)'], { input })));
    return new Map(ids.map((id, index) => [id, contents[index] ?? '']));
  }

  async #inPortions<T>(paths: readonly string[], ask: (paths: readonly string[]) => Promise<T[]>): Promise<T[]> {
    const answers: T[] = [];
    for (let start = 0; start < paths.length; start += pathsPerCommand) {
      const portion = paths.slice(start, start + pathsPerCommand);
      answers.push(...(await atHand(() => ask(portion))));
    }
    return answers;
  }
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
