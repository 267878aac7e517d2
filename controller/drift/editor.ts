import type { KubeObject, ManagedFieldsEntry } from '../kube/index.ts';
import type { FieldPath } from './field-path.ts';
import { covers, fieldsOf } from './owned-fields.ts';

/** Who made a change, as far as managedFields tell, or the history of a file in Git. */
export interface Editor {
  /** Chosen by the client, as is the author of a commit; `unknown` where nothing tells. */
  readonly manager: string;
  /** `Apply`, `Update`, `Update of scale`, `Create`, `Remove` or `Delete`; `Commit <hash>` in Git. */
  readonly operation: string;
  /** RFC 3339, whole seconds. */
  readonly time: string | undefined;
}

export const unknownManager = 'unknown';

/** A removal leaves no trace in managedFields, so nobody can be named. */
export function unknownEditor(operation: 'Update' | 'Remove' | 'Delete'): Editor {
  return { manager: unknownManager, operation, time: undefined };
}

/** The manager, other than ours, that came to own the path last. */
export function editorOf(live: KubeObject, path: FieldPath, ours: string): Editor {
  const holders = (live.metadata.managedFields ?? [])
    .filter((entry) => !(entry.manager === ours && entry.operation === 'Apply'))
    .filter((entry) => covers(fieldsOf(entry), path))
    .sort((a, b) => (b.time ?? '').localeCompare(a.time ?? ''));
  return holders[0] ? editorIn(holders[0]) : unknownEditor('Update');
}

/** Who an entry of managedFields speaks of. */
export function editorIn({ manager, operation = 'Update', subresource = '', time }: ManagedFieldsEntry): Editor {
  return {
    manager: manager ?? unknownManager,
    operation: subresource === '' ? operation : `${operation} of ${subresource}`,
    time,
  };
}
