import { digest } from '../digest.ts';
import type { KubeObject, ManagedFieldsEntry } from '../kube/index.ts';
import type { FieldPath, Step } from './field-path.ts';

/** A tree of steps; a step without children is a leaf. `.` marks that the node itself is owned. */
export interface FieldTree {
  readonly [step: Step]: FieldTree;
}

/** What the manager owns by server-side apply; undefined when it has no entry (never applied, or wiped). */
export function appliedEntry(object: KubeObject, manager: string): ManagedFieldsEntry | undefined {
  return object.metadata.managedFields?.find(
    (entry) => entry.manager === manager && entry.operation === 'Apply' && (entry.subresource ?? '') === '',
  );
}

export function fieldsOf(entry: ManagedFieldsEntry | undefined): FieldTree {
  return (entry?.fieldsV1 ?? {}) as FieldTree;
}

/**
 * 128 bits over what the manager owns of the object, and since when. As long as it is equal, nobody changed or removed a field of ours: a write
 * of another value moves the field to the writer's entry. Seen on a real API server for every kind of write. The time of an entry is that of
 * the manager's own last write, so that a write by somebody who uses our name is seen too; an apply that changes nothing leaves it.
 */
export function fingerprint(object: KubeObject, manager: string): string {
  const entry = appliedEntry(object, manager);
  return digest([entry?.time, fieldsOf(entry)]);
}

/** The node at a path; undefined when the manager does not own it. */
export function at(tree: FieldTree | undefined, step: Step): FieldTree | undefined {
  return tree !== undefined && Object.hasOwn(tree, step) ? tree[step] : undefined;
}

/** All leaves of a tree, as paths. */
export function* leaves(tree: FieldTree, above: FieldPath = []): Generator<FieldPath> {
  for (const [step, below] of Object.entries(tree)) {
    if (step === '.') continue;
    const path = [...above, step];
    if (isLeaf(below)) yield path;
    else yield* leaves(below, path);
  }
}

/** Whether the tree reaches the path, or ends in a leaf above it. */
export function covers(tree: FieldTree, path: FieldPath): boolean {
  let node: FieldTree = tree;
  for (const step of path) {
    const next = at(node, step);
    if (next === undefined) return node !== tree && isLeaf(node);
    node = next;
  }
  return true;
}

/** Whether nothing below the node is owned by itself. */
export function isLeaf(node: FieldTree): boolean {
  return Object.keys(node).every((child) => child === '.');
}

/** What is owned at a path; undefined when the tree does not reach it. */
export function nodeAt(tree: FieldTree, path: FieldPath): FieldTree | undefined {
  return path.reduce<FieldTree | undefined>((node, step) => at(node, step), tree);
}

/** The tree of one path, with what is below. */
export function treeTo(path: FieldPath, below: FieldTree): FieldTree {
  return path.reduceRight<FieldTree>((node, step) => ({ [step]: node }), below);
}

export function merged(a: FieldTree, b: FieldTree): FieldTree {
  const both = Object.entries(b).map(([step, below]) => [step, merged(a[step] ?? {}, below)] as const);
  return { ...a, ...Object.fromEntries(both) };
}
