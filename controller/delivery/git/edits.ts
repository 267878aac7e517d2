import { hiddenValue, unknownManager, type Drift, type Editor } from '../../drift/index.ts';
import { fieldChanges } from './field-changes.ts';
import type { FolderChange } from './folder-change.ts';
import { authorOf, type LastTouch } from './last-touch.ts';

/** What is known of the folder of a database that others have edited. */
export interface EditedFolder {
  readonly change: Extract<FolderChange, { kind: 'change' }>;
  /** Content of files in the branch by git's name of it, as far as it was read. */
  readonly old: ReadonlyMap<string, string>;
  /** The last commit of each file, by its path, as far as it is known. */
  readonly touches: ReadonlyMap<string, LastTouch>;
}

/** Of one file, so many fields are told. */
const mostFields = 20;

/**
 * What others did to files of ours, as drift: the object is the file in the repository, the editor the author of its last commit. Pure. Of a text that is no manifest,
 * or differs in what is not part of it, only the `text` is told.
 */
export function editsIn({ change, old, touches }: EditedFolder): readonly Drift[] {
  const by = (path: string): Editor => editor(touches.get(path));
  const changed = change.changed.flatMap(({ path, content, old: { id } }) => {
    const now = old.get(id);
    const fields = now === undefined ? [] : fieldChanges(content, now).slice(0, mostFields);
    const told = fields.length > 0 ? fields : [{ field: wholeText, was: hiddenValue, now: hiddenValue }];
    return told.map((one) => ({ object: fileAt(path), ...one, editor: by(path) }));
  });
  const removed = change.added.map(({ path }) => ({ object: fileAt(path), field: '', ...nothing, editor: by(path) }));
  const added = change.removed.map((path) => ({
    object: fileAt(path),
    field: wholeText,
    was: undefined,
    now: hiddenValue,
    editor: by(path),
  }));
  return [...changed, ...removed, ...added];
}

/** The files that were edited. */
export function editedPaths({ added, changed, removed }: EditedFolder['change']): readonly string[] {
  return [...[...changed, ...added].map(({ path }) => path), ...removed];
}

const fileAt = (path: string): string => `File/${path}`;
const wholeText = 'text';
const nothing = { was: undefined, now: undefined };

function editor(touch: LastTouch | undefined): Editor {
  if (touch === undefined) return { manager: unknownManager, operation: 'Commit', time: undefined };
  return { manager: authorOf(touch), operation: `Commit ${touch.commit}`, time: touch.time };
}
