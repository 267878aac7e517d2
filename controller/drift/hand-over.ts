import type { KubeObject, ManagedFieldsEntry } from '../kube/index.ts';
import { field, type FieldPath } from './field-path.ts';
import { isFormer, isOldHand, isWiped } from './old-hands.ts';
import { withOrphans } from './orphan.ts';
import { appliedEntry, at, fieldsOf, isLeaf, merged, nodeAt, treeTo, type FieldTree } from './owned-fields.ts';

const metadata = field('metadata');

/**
 * The managedFields by which the fields at the paths are ours and nobody else's, so that an apply which does not state them removes them. Of old
 * hands, what we state becomes ours as well; the rest stays theirs. What was written through a subresource stays its writer's, but for metadata, which
 * goes with any write. After a wipe, what others had added is owned by `unknown`, so that it is seen as long as it is there. Pure.
 *
 * @param manager our field manager
 * @param stated what an apply of ours comes to own
 */
export function handOver(
  live: KubeObject,
  manager: string,
  paths: readonly FieldPath[],
  stated: FieldTree = {},
): readonly ManagedFieldsEntry[] {
  const isTaken = Object.keys(stated).length > 0 && isWiped(live, manager);
  const { managedFields: entries = [] } = isTaken ? withOrphans(live, manager, stated).metadata : live.metadata;
  const ours = appliedEntry(live, manager) ?? emptyEntry(live, manager);
  const others = entries.filter((entry) => entry !== ours);
  // After a wipe nobody owns anything, and an apply would invent somebody who does.
  let own = isTaken ? stated : fieldsOf(ours);
  const rest = new Map(others.map((entry) => [entry, fieldsOf(entry)]));
  for (const entry of others.filter((one) => isOldHand(one, entries.includes(ours)))) {
    const tree = fieldsOf(entry);
    const { taken, left } = isFormer(entry) ? { taken: tree, left: undefined } : split(tree, stated);
    own = merged(own, taken ?? {});
    rest.set(entry, left ?? {});
  }
  for (const path of paths) {
    for (const [entry, tree] of rest) {
      const taken = nodeAt(tree, path);
      if (taken === undefined || (isOfSubresource(entry) && path[0] !== metadata)) continue;
      own = merged(own, treeTo(path, taken));
      rest.set(entry, pruned(tree, path) ?? {});
    }
  }
  const all = entries.includes(ours) ? entries : [ours, ...entries];
  return all
    .map((entry) => ({ ...entry, fieldsV1: entry === ours ? own : (rest.get(entry) ?? entry.fieldsV1 ?? {}) }))
    .filter(({ fieldsV1 }) => Object.keys(fieldsV1).length > 0);
}

function isOfSubresource({ subresource = '' }: ManagedFieldsEntry): boolean {
  return subresource !== '';
}

function emptyEntry({ apiVersion }: KubeObject, manager: string): ManagedFieldsEntry {
  return { manager, operation: 'Apply', apiVersion, fieldsType: 'FieldsV1', fieldsV1: {} };
}

/** The tree without what is at a path; undefined when nothing is left of it. */
function pruned(tree: FieldTree, [step, ...below]: FieldPath): FieldTree | undefined {
  if (step === undefined) return undefined;
  const { [step]: node = {}, ...rest } = tree;
  const left = below.length === 0 ? undefined : pruned(node, below);
  const result = left === undefined ? rest : { ...rest, [step]: left };
  return orNothing(result);
}

/** The part of a tree that is in another, and the rest. */
function split(
  tree: FieldTree,
  wanted: FieldTree,
): { readonly taken: FieldTree | undefined; readonly left: FieldTree | undefined } {
  const taken: Record<string, FieldTree> = {};
  const left: Record<string, FieldTree> = {};
  for (const [step, below] of Object.entries(tree)) {
    const inside = at(wanted, step);
    const isWhole = inside !== undefined && (isLeaf(below) || isLeaf(inside));
    const parts = inside === undefined || isWhole ? undefined : split(below, inside);
    if (isWhole || parts?.taken !== undefined) taken[step] = parts?.taken ?? below;
    if (!isWhole && (parts === undefined || parts.left !== undefined)) left[step] = parts?.left ?? below;
  }
  return { taken: orNothing(taken), left: orNothing(left) };
}

function orNothing(tree: FieldTree): FieldTree | undefined {
  return isLeaf(tree) ? undefined : tree;
}
