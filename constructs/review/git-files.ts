import { spawnSync } from 'node:child_process';
import { basename, dirname } from 'node:path';

/**
 * The files below a folder as git has them in a revision, by their paths in the folder; none where the revision has no such folder.
 *
 * @param folder an absolute path in a working tree
 * @throws Error in the words of git
 */
export function filesAt(revision: string, folder: string): ReadonlyMap<string, string> {
  const git = (args: readonly string[], input = ''): Buffer => run(dirname(folder), args, input);
  const prefix = git(['rev-parse', '--show-prefix']).toString().trim();
  const tree = `${prefix}${basename(folder)}/`;
  const commit = commitOf(revision, git);
  const entries = git(['ls-tree', '-r', '-z', '--full-tree', commit, tree]).toString().split('\0').filter(Boolean);
  const found = entries.map((entry) => {
    const [facts = '', path = ''] = entry.split('\t');
    return { path: path.slice(tree.length), id: facts.split(' ')[2] ?? '' };
  });
  const contents = blobs(git(['cat-file', '--batch'], found.map(({ id }) => `${id}\n`).join('')));
  return new Map(found.map(({ path }, index) => [path, contents[index] ?? '']));
}

function commitOf(revision: string, git: (args: readonly string[]) => Buffer): string {
  try {
    return git(['rev-parse', '--verify', '--end-of-options', `${revision}^{commit}`])
      .toString()
      .trim();
  } catch (cause) {
    throw new Error(`git has no commit ${revision}: fetch it, or name another one by --base`, { cause });
  }
}

function run(cwd: string, args: readonly string[], input: string): Buffer {
  const { status, stdout, stderr, error } = spawnSync('git', args, { cwd, input, maxBuffer: 2 ** 30 });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`git ${args[0]}: ${stderr.toString().trim()}`);
  return stdout;
}

/** What `git cat-file --batch` prints: of each blob a line that ends with its size, and its bytes. */
function blobs(output: Buffer): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at < output.length;) {
    const begin = output.indexOf('\n', at) + 1;
    const size = Number(output.toString('utf8', at, begin).trim().split(' ').at(-1));
    found.push(output.toString('utf8', begin, begin + size));
    at = begin + size + 1;
  }
  return found;
}
