import type { KubeObject } from '../kube/index.ts';
import { isDefault } from './default-value.ts';
import { disclosed } from './disclosure.ts';
import type { Drift } from './drift.ts';
import { editorIn, type Editor } from './editor.ts';
import { field, readable, type FieldPath } from './field-path.ts';
import { appliedEntry, at, fieldsOf, isLeaf, type FieldTree } from './owned-fields.ts';
import { valueAt } from './value-at.ts';
import { fieldsThatCount, isOfKubernetes } from './what-counts.ts';

/** A field that somebody else wrote, and that is not ours: added, or taken from us. */
export interface Foreign {
  readonly path: FieldPath;
  readonly editor: Editor;
  /** Fit to be shown. */
  readonly value: string;
}

const metadata = field('metadata');
/** Maps whose keys are named one by one, though all of a map may be somebody's. */
const maps: ReadonlySet<string> = new Set(['labels', 'annotations'].map(field));
const none: readonly Foreign[] = [];

/**
 * What others added to an object that we apply, or took from us, by managedFields alone. Pure; costs nothing where nobody else has written what counts.
 */
export function foreignFields(object: KubeObject, manager: string): readonly Foreign[] {
  const held = heldByOthers(object, manager);
  return held.length === 0 ? none : held.filter(({ path }) => !isFilledIn(object, path));
}

/** The same, and what the API server filled in where somebody else wrote: that is nobody's wish, but it may be in the way of what we state. */
export function heldByOthers(object: KubeObject, manager: string): readonly Foreign[] {
  const own = appliedEntry(object, manager);
  const found = new Map<string, Foreign>();
  const entries = object.metadata.managedFields ?? [];
  const others = entries.flatMap((entry) => {
    const tree = entry === own ? undefined : fieldsThatCount(object.kind, entry, fieldsOf(own));
    return tree === undefined ? [] : [{ entry, tree }];
  });
  if (others.length === 0) return none;
  for (const { entry, tree } of others.toSorted((a, b) => (a.entry.time ?? '').localeCompare(b.entry.time ?? ''))) {
    for (const path of notIn(fieldsOf(own), tree, [])) {
      const value = valueAt(object, path);
      if (value === undefined || isOfKubernetes(path)) continue;
      const shown = disclosed(object.kind, path)(value) ?? '';
      found.set(path.join('/'), { path, editor: editorIn(entry), value: shown });
    }
  }
  return found.size === 0 ? none : [...found.values()];
}

function isFilledIn(object: KubeObject, path: FieldPath): boolean {
  const isOfMap = maps.has(path.at(-2) ?? '');
  return !isOfMap && isDefault(path.at(-1)?.slice(2) ?? '', valueAt(object, path));
}

/** The outermost of their fields that are not ours: an item of a list as a whole, of a struct that is not ours the struct. */
function* notIn(own: FieldTree | undefined, theirs: FieldTree, above: FieldPath): Generator<FieldPath> {
  for (const [step, below] of Object.entries(theirs)) {
    if (step === '.') continue;
    const path = [...above, step];
    const ours = at(own, step);
    if (ours === undefined && above.length > 0 && !isOpen(step, below)) yield path;
    else if (ours === undefined && isLeaf(below)) yield path;
    else if (!isLeaf(below)) yield* notIn(ours, below, path);
  }
}

/** Whether what is below is named one by one. */
function isOpen(step: string, below: FieldTree): boolean {
  if (isLeaf(below) || !step.startsWith('f:')) return false;
  return step === metadata || maps.has(step) || Object.keys(below).some((one) => /^[kv]:/.test(one));
}

/** An addition as it is told. @param object such as `StatefulSet/orders` */
export function additionOf(object: string, { path, editor, value }: Foreign): Drift {
  return { object, field: readable(path), was: undefined, now: value, editor };
}
