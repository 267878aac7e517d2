import type { KubeObject, ManagedFieldsEntry } from '../kube/index.ts';
import type { FieldPath } from './field-path.ts';
import { covers, fieldsOf } from './owned-fields.ts';

/** Who holds a field now. A removal leaves no trace in managedFields, so then nobody can be named. */
export interface Editor {
  readonly manager: string;
  readonly operation: string;
  /** RFC 3339, whole seconds. */
  readonly time: string | undefined;
}

export const unknownEditor: Editor = { manager: 'unknown', operation: 'Remove', time: undefined };

/** The manager, other than ours, that came to own the path last. */
export function editorOf(live: KubeObject, path: FieldPath, ours: string): Editor {
  const holders = (live.metadata.managedFields ?? [])
    .filter((entry) => !(entry.manager === ours && entry.operation === 'Apply'))
    .filter((entry) => covers(fieldsOf(entry), path))
    .sort((a, b) => (b.time ?? '').localeCompare(a.time ?? ''));
  return holders[0] ? editor(holders[0]) : unknownEditor;
}

function editor(entry: ManagedFieldsEntry): Editor {
  const operation =
    (entry.subresource ?? '') === '' ? entry.operation : `${entry.operation ?? 'Update'} of ${entry.subresource}`;
  return { manager: entry.manager ?? 'unknown', operation: operation ?? 'Update', time: entry.time };
}
