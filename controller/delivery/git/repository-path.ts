import { GitDeliveryError } from './git-delivery-error.ts';

/** Whose files they are. */
export interface DatabasePlace {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
}

/** No leading dot or dash, so neither `..`, `.git` nor an option; no separator, blank, quote or control character. */
const segment = /^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/;

/** One folder per database, and all at one depth. */
export const defaultLayout = 'clusters/<cluster>/<namespace>/<name>/';

/**
 * The folder of a database in the repository, without a slash at its end.
 * @param layout folders, of which `<cluster>`, `<namespace>` and `<name>` are put in
 * @throws GitDeliveryError PathRefused
 */
export function folderOf({ cluster, namespace, name }: DatabasePlace, layout = defaultLayout): string {
  const places: Readonly<Record<string, string>> = { '<cluster>': cluster, '<namespace>': namespace, '<name>': name };
  const parts = layout.replace(/\/$/, '').split('/');
  return joined(parts.map((part) => places[part] ?? part));
}

/** @throws GitDeliveryError PathRefused */
export function checkFolder(folder: string): string {
  return joined(folder.split('/'));
}

function joined(parts: readonly string[]): string {
  for (const part of parts) {
    if (!segment.test(part)) throw refused(part, 'as the name of a folder');
  }
  return parts.join('/');
}

/**
 * The file's path in the repository.
 * @param relativePath with `/` between its segments.
 * @throws GitDeliveryError PathRefused where it leaves the folder, or is spelt in a way that some file system might read as such.
 */
export function pathIn(folder: string, relativePath: string): string {
  if (!relativePath.split('/').every((part) => segment.test(part)))
    throw refused(relativePath, `for a file of ${folder}`);
  return `${folder}/${relativePath}`;
}

/** All folders above a path, from the top. */
export function ancestorsOf(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, i) => parts.slice(0, i + 1).join('/'));
}

/** @throws GitDeliveryError BranchRefused where git would not take it as the name of a branch (git-check-ref-format). */
export function checkBranch(branch: string): void {
  const parts = branch.split('/');
  if (parts.every((part) => segment.test(part) && !/\.\.|\.$|\.lock$/.test(part))) return;
  throw new GitDeliveryError(
    'BranchRefused',
    `${JSON.stringify(branch)} can't be the name of a branch. Use a name such as main.`,
  );
}

function refused(what: string, use: string): GitDeliveryError {
  const shown = JSON.stringify(what.length > 100 ? `${what.slice(0, 100)}…` : what);
  const rule = 'Letters, digits, dots, dashes and underscores are allowed, with a letter or digit first.';
  return new GitDeliveryError('PathRefused', `${shown} was refused ${use}. ${rule}`);
}
