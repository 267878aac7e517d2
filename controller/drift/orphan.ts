import type { KubeObject, ManagedFieldsEntry } from '../kube/index.ts';
import { statedTree } from './deviation.ts';
import { unknownManager } from './editor.ts';
import { foreignFields } from './foreign.ts';
import { fieldsOf, merged, nodeAt, treeTo, type FieldTree } from './owned-fields.ts';

/**
 * The object as if somebody unknown had written what nobody owns of it: what is there, is not stated, and is not what the API server fills in. So a
 * wipe of managedFields hides nothing that others added. Pure.
 *
 * @param manager our field manager
 * @param stated what an apply of ours comes to own
 */
export function withOrphans(live: KubeObject, manager: string, stated: FieldTree): KubeObject {
  const entries = live.metadata.managedFields ?? [];
  const { apiVersion } = live;
  const all = statedTree(live);
  const entry = (name: string, operation: 'Apply' | 'Update', fieldsV1: FieldTree): ManagedFieldsEntry => ({
    manager: name,
    operation,
    apiVersion,
    fieldsType: 'FieldsV1',
    fieldsV1,
  });
  const asIf = [entry(manager, 'Apply', stated), entry(unknownManager, 'Update', all)];
  const orphans = foreignFields(withEntries(live, asIf), manager)
    .filter(({ path }) => !entries.some((one) => nodeAt(fieldsOf(one), path) !== undefined))
    .map(({ path }) => treeTo(path, withSelves(path.at(-1) ?? '', nodeAt(all, path) ?? {})));
  if (orphans.length === 0) return live;
  return withEntries(live, [...entries, entry(unknownManager, 'Update', orphans.reduce(merged, {}))]);
}

function withEntries(live: KubeObject, managedFields: readonly ManagedFieldsEntry[]): KubeObject {
  return { ...live, metadata: { ...live.metadata, managedFields } };
}

/** With the mark that an item of a list is owned as such, which has it go with its owner. */
function withSelves(step: string, tree: FieldTree): FieldTree {
  const below = Object.entries(tree).map(([name, node]) => [name, withSelves(name, node)] as const);
  return { ...(step.startsWith('k:') && below.length > 0 ? { '.': {} } : {}), ...Object.fromEntries(below) };
}
