import { blobId } from './blob-id.ts';
import type { FileWrite } from './fast-import.ts';
import { ancestorsOf } from './repository-path.ts';
import type { TreeEntry } from './tree-entry.ts';

/** A file that has other content. */
export interface FileRewrite extends FileWrite {
  /** What it has now, in the branch. */
  readonly old: TreeEntry;
}

/** What has to happen in one database's folder. Paths are those of the repository. */
export type FolderChange =
  | {
      readonly kind: 'change';
      readonly added: readonly FileWrite[];
      readonly changed: readonly FileRewrite[];
      readonly removed: readonly string[];
    }
  | { readonly kind: 'blocked'; readonly path: string; readonly by: TreeEntry['kind'] };

/** Whether the branch has the files as they are to be. */
export function isNothing(change: FolderChange): boolean {
  return change.kind === 'change' && change.added.length + change.changed.length + change.removed.length === 0;
}

/** A line of every manifest that Plumbline renders. Only files that have it are ever removed. */
export const markerPattern = `^[[:space:]]*"?app\\.kubernetes\\.io/managed-by"?:[[:space:]]*"?plumbline"?,?[[:space:]]*$`;

/** Files in the folder that are not wanted: those of them that bear our marker are to be removed. */
export function leftOvers(wanted: ReadonlyMap<string, string>, entries: readonly TreeEntry[]): string[] {
  return entries.flatMap(({ path, kind }) => (kind === 'file' && !wanted.has(path) ? [path] : []));
}

/**
 * Pure: from what is in the folder to what has to change.
 * @param wanted content by path; empty where the database is gone.
 * @param entries everything in the folder, and whatever stands where a folder above it should be.
 * @param marked left-overs that bear our marker.
 */
export function changeOf(
  wanted: ReadonlyMap<string, string>,
  entries: readonly TreeEntry[],
  marked: ReadonlySet<string>,
): FolderChange {
  const byPath = new Map(entries.map((entry) => [entry.path, entry]));
  const folders = new Set(entries.flatMap(({ path }) => ancestorsOf(path)));
  const added: FileWrite[] = [];
  const changed: FileRewrite[] = [];
  for (const [path, content] of wanted) {
    const known = byPath.get(path);
    if (known !== undefined && known.kind !== 'file') return { kind: 'blocked', path, by: known.kind };
    if (folders.has(path)) return { kind: 'blocked', path, by: 'folder' };
    const obstacle = ancestorsOf(path)
      .map((above) => byPath.get(above))
      .find((entry) => entry !== undefined);
    if (obstacle !== undefined) return { kind: 'blocked', path: obstacle.path, by: obstacle.kind };
    if (known === undefined) added.push({ path, content });
    else if (known.id !== blobId(content)) changed.push({ path, content, old: known });
  }
  return { kind: 'change', added, changed, removed: leftOvers(wanted, entries).filter((path) => marked.has(path)) };
}
