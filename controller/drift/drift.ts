import type { KubeObject } from '../kube/index.ts';
import { contrast } from './contrast.ts';
import type { Deviation } from './deviation.ts';
import { disclosed } from './disclosure.ts';
import { editorIn, editorOf, unknownEditor, type Editor } from './editor.ts';
import { readable } from './field-path.ts';
import type { Foreign } from './foreign.ts';
import { appliedEntry } from './owned-fields.ts';
import { valueAt } from './value-at.ts';

/** One change by somebody else to what we state. Values are texts that are fit to be shown. */
export interface Drift {
  /** Such as `StatefulSet/orders`. */
  readonly object: string;
  /** Such as `spec.template.spec.containers[name=postgres].image`; empty for the whole object. */
  readonly field: string;
  /** What we state; undefined for an addition. */
  readonly was: string | undefined;
  /** What was found; undefined where it was removed. */
  readonly now: string | undefined;
  readonly editor: Editor;
}

/** The field of a drift that says: nobody owns anything any more. */
export const managedFields = 'metadata.managedFields';

/**
 * The deviations that somebody else made. `pending` and `extra` are ours to do and no drift. Fields with the right value that are not ours are
 * one drift of managedFields if all of ours are gone, for only a wipe does that; otherwise somebody undid an edit, and nothing is left to tell.
 *
 * @param moved items of lists that have another key now: those are changed, not removed
 */
export function drifts(
  found: readonly Deviation[],
  live: KubeObject,
  manager: string,
  moved: ReadonlyMap<Deviation, Foreign> = new Map(),
): readonly Drift[] {
  const object = `${live.kind}/${live.metadata.name}`;
  const foreign = found.filter(isForeign).map((deviation) => {
    const to = moved.get(deviation);
    const told = to === undefined ? deviation : { ...deviation, kind: 'changed' as const, now: valueAt(live, to.path) };
    return drift(told, object, live, manager, to?.editor);
  });
  const isWiped = foreign.length === 0 && found.length > 0 && appliedEntry(live, manager) === undefined;
  return isWiped
    ? [{ object, field: managedFields, was: undefined, now: undefined, editor: unknownEditor('Remove') }]
    : foreign;
}

/** Whether somebody else changed a value. */
export function isForeign({ kind }: Deviation): boolean {
  return kind === 'changed' || kind === 'removed';
}

function drift(
  { kind, path, was, now }: Deviation,
  object: string,
  live: KubeObject,
  manager: string,
  mover: Editor | undefined,
): Drift {
  const shown = disclosed(live.kind, path);
  const isRemoved = kind === 'removed';
  const differing = contrast(was, now);
  return {
    object,
    field: readable(path),
    was: shown(differing.was),
    now: isRemoved ? undefined : shown(differing.now),
    editor: mover ?? (isRemoved ? unknownEditor('Remove') : editorOf(live, path, manager)),
  };
}

/** Whether it is nothing that we state. */
export function isAddition({ was, now }: Drift): boolean {
  return was === undefined && now !== undefined;
}

/** Who made an object anew; nothing where nobody can be named. */
export function creation(live: KubeObject): readonly Drift[] {
  const { name, managedFields = [], creationTimestamp: time } = live.metadata;
  const entries = managedFields.filter(({ manager, subresource = '' }) => manager !== undefined && subresource === '');
  const [first] = entries.toSorted((a, b) => (a.time ?? '').localeCompare(b.time ?? ''));
  if (first === undefined) return [];
  const editor = { ...editorIn(first), operation: creationOperation, time };
  return [{ object: `${live.kind}/${name}`, field: '', was: undefined, now: undefined, editor }];
}

const creationOperation = 'Create';

/** Whether it tells who made an object anew. */
export function isCreation({ field, editor }: Drift): boolean {
  return field === '' && editor.operation === creationOperation;
}

/** The drift of an object that is gone. */
export function deletion(kind: string, name: string): Drift {
  return { object: `${kind}/${name}`, field: '', was: undefined, now: undefined, editor: unknownEditor('Delete') };
}
