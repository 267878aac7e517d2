import type { Clone } from './clone.ts';
import { changeOf, leftOvers, markerPattern, type FolderChange } from './folder-change.ts';
import { ancestorsOf } from './repository-path.ts';
import type { CheckedSubmission } from './submission.ts';
import type { TreeEntry } from './tree-entry.ts';

/** What one database of a batch comes to on top of a commit. */
export interface PlannedDatabase {
  readonly submission: CheckedSubmission;
  readonly change: FolderChange;
}

type EntriesByFolder = ReadonlyMap<string, readonly TreeEntry[]>;

/**
 * Compares what each database's folder should hold with what the commit has there: two or three git commands for the
 * whole batch.
 * @param commit undefined where the branch has none yet.
 */
export async function planBatch(
  clone: Clone,
  commit: string | undefined,
  batch: readonly CheckedSubmission[],
): Promise<PlannedDatabase[]> {
  const entries: EntriesByFolder = commit === undefined ? new Map() : await readFolders(clone, commit, batch);
  const marked = commit === undefined ? new Set<string>() : await readMarked(clone, commit, batch, entries);
  return batch.map((submission) => ({
    submission,
    change: changeOf(submission.wanted, entries.get(submission.folder) ?? [], marked),
  }));
}

async function readFolders(
  clone: Clone,
  commit: string,
  batch: readonly CheckedSubmission[],
): Promise<EntriesByFolder> {
  const folders = batch.map(({ folder }) => folder);
  const isFolder = new Set(folders);
  const folderOfPath = (path: string): string => [...ancestorsOf(path), path].find((at) => isFolder.has(at)) ?? path;
  const entries = Map.groupBy(await clone.objects.entries(commit, folders), ({ path }) => folderOfPath(path));
  // A folder with something in it stands under folders; an empty one may be missing because a link is in its way.
  const empty = folders.filter((folder) => !entries.has(folder));
  const above = new Set(empty.flatMap((folder) => [...ancestorsOf(folder), folder]));
  const obstacles = new Map<string, TreeEntry>();
  for (const entry of await clone.objects.entriesAt(commit, [...above])) {
    if (entry.kind !== 'folder') obstacles.set(entry.path, entry);
  }
  for (const folder of empty) {
    const inTheWay = [...ancestorsOf(folder), folder].flatMap((path) => obstacles.get(path) ?? []);
    entries.set(folder, inTheWay);
  }
  return entries;
}

async function readMarked(
  clone: Clone,
  commit: string,
  batch: readonly CheckedSubmission[],
  entries: EntriesByFolder,
): Promise<ReadonlySet<string>> {
  const hasLeftOvers = ({ folder, wanted }: CheckedSubmission): boolean =>
    leftOvers(wanted, entries.get(folder) ?? []).length > 0;
  const folders = batch.filter(hasLeftOvers).map(({ folder }) => folder);
  return new Set(await clone.objects.matching(commit, markerPattern, folders));
}
