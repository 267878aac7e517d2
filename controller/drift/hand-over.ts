import type { KubeObject, ManagedFieldsEntry } from '../kube/index.ts';
import type { FieldPath } from './field-path.ts';
import { appliedEntry, at, fieldsOf, isLeaf, type FieldTree } from './owned-fields.ts';

/**
 * The managedFields by which the fields at the paths are ours and nobody else's, so that an apply which does not state them removes them. What was
 * written through a subresource stays its writer's. Pure.
 *
 * @param manager our field manager
 */
export function handOver(
  live: KubeObject,
  manager: string,
  paths: readonly FieldPath[],
): readonly ManagedFieldsEntry[] {
  const entries = live.metadata.managedFields ?? [];
  const ours = appliedEntry(live, manager) ?? emptyEntry(live, manager);
  const others = entries.filter((entry) => entry !== ours && (entry.subresource ?? '') === '');
  let own = fieldsOf(ours);
  const rest = new Map(others.map((entry) => [entry, fieldsOf(entry)]));
  for (const path of paths) {
    for (const [entry, tree] of rest) {
      const taken = nodeAt(tree, path);
      if (taken === undefined) continue;
      own = merged(
        own,
        path.reduceRight<FieldTree>((below, step) => ({ [step]: below }), taken),
      );
      rest.set(entry, pruned(tree, path) ?? {});
    }
  }
  const kept = entries
    .filter((entry) => entry !== ours)
    .map((entry) => ({ ...entry, fieldsV1: rest.get(entry) ?? entry.fieldsV1 }))
    .filter(({ fieldsV1 }) => Object.keys(fieldsV1 ?? {}).length > 0);
  return [{ ...ours, fieldsV1: own }, ...kept];
}

function emptyEntry({ apiVersion }: KubeObject, manager: string): ManagedFieldsEntry {
  return { manager, operation: 'Apply', apiVersion, fieldsType: 'FieldsV1', fieldsV1: {} };
}

function nodeAt(tree: FieldTree, path: FieldPath): FieldTree | undefined {
  return path.reduce<FieldTree | undefined>((node, step) => at(node, step), tree);
}

function merged(a: FieldTree, b: FieldTree): FieldTree {
  const both = Object.entries(b).map(([step, below]) => [step, merged(a[step] ?? {}, below)] as const);
  return { ...a, ...Object.fromEntries(both) };
}

/** The tree without what is at a path; undefined when nothing is left of it. */
function pruned(tree: FieldTree, [step, ...below]: FieldPath): FieldTree | undefined {
  if (step === undefined) return undefined;
  const { [step]: node = {}, ...rest } = tree;
  const left = below.length === 0 ? undefined : pruned(node, below);
  const result = left === undefined ? rest : { ...rest, [step]: left };
  return isLeaf(result) ? undefined : result;
}
