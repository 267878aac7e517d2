import type { KubeObject } from '../kube/index.ts';
import { field, item, type FieldPath, type Step } from './field-path.ts';
import { hasAtomicItems, isAtomicMap, listKeys } from './list-keys.ts';
import { appliedEntry, at, covers, fieldsOf, leaves, type FieldTree } from './owned-fields.ts';
import { isFields, isLeftOut, isZero, says, type Fields } from './value.ts';
import { writable } from './writable.ts';

/** One field in which a live object is not, or not by our hand, what we state. */
export interface Deviation {
  readonly path: FieldPath;
  /**
   * `changed`: another value, or a second item under the same key, and the field is no longer ours. `removed`: gone, and no longer ours. `unowned`: the right value that is not ours.
   * `pending`: ours, but not yet (or not after admission) the value that we state now. `extra`: ours, but no longer stated.
   */
  readonly kind: 'changed' | 'removed' | 'unowned' | 'pending' | 'extra';
  readonly was: unknown;
  readonly now: unknown;
}

/**
 * Compares what we state with a live object, by value and by ownership. Pure; the order is that of the stated object.
 *
 * @param stated the object as we apply it
 * @param manager our field manager
 */
export function deviations(stated: KubeObject, live: KubeObject, manager: string): readonly Deviation[] {
  const own = fieldsOf(appliedEntry(live, manager));
  const root: Place = { stated: ownable(stated), live, own, path: [], names: [] };
  const wanted = statedTree(stated);
  const extras = [...leaves(own)].filter((path) => !covers(wanted, path));
  return [...walk(root), ...extras.map((path) => ({ path, kind: 'extra' as const, was: undefined, now: undefined }))];
}

/** The tree of fields that an apply of the object comes to own. */
export function statedTree(stated: KubeObject): FieldTree {
  return tree({ stated: ownable(stated), live: undefined, own: undefined, path: [], names: [] });
}

function ownable(stated: KubeObject): Fields {
  const { metadata, ...rest } = writable(stated);
  const own = Object.entries(metadata).filter(([, value]) => value);
  return own.length === 0 ? rest : { metadata: Object.fromEntries(own), ...rest };
}

/** One value in the stated object, with what belongs to it elsewhere. */
interface Place {
  readonly stated: unknown;
  readonly live: unknown;
  /** What we own there; undefined when nothing. */
  readonly own: FieldTree | undefined;
  readonly path: FieldPath;
  /** The field names of the path. */
  readonly names: readonly string[];
  /** There are several items under the key: nobody owns parts of them. */
  readonly isDoubled?: boolean;
}

function* walk(place: Place): Generator<Deviation> {
  const { stated, live, own, path, names } = place;
  if (stated === undefined) return;
  const parts = place.isDoubled === true ? undefined : partsOf(place);
  if (live === undefined && !isLeftOut(stated, names)) {
    yield { path, kind: isHeld(place) ? 'pending' : 'removed', was: stated, now: undefined };
    return;
  }
  if (parts !== undefined) {
    for (const part of parts) yield* walk(part);
    return;
  }
  const isSame = says(live, stated, names, own === undefined ? 'defaults' : 'any');
  if (isSame && own !== undefined) return;
  yield { path, kind: own !== undefined ? 'pending' : isSame ? 'unowned' : 'changed', was: stated, now: live };
}

/**
 * Whether something of a value is ours. What is left of a map or list whose fields were all taken is an empty node, and of an item its zero values:
 * nobody takes those away, for the API server does not store them.
 */
function isHeld(place: Place): boolean {
  if (place.own === undefined) return false;
  const parts = partsOf(place);
  return parts === undefined || parts.some((part) => !isLeftOut(part.stated, part.names) && isHeld(part));
}

function tree(place: Place): FieldTree {
  const parts = partsOf(place) ?? [];
  const stated = parts.filter((part) => part.stated !== undefined);
  return Object.fromEntries(stated.map((part) => [part.path.at(-1), tree(part)]));
}

/** The parts that are owned one by one; undefined where a value is owned as a whole. */
function partsOf(place: Place): readonly Place[] | undefined {
  const { stated, live, names } = place;
  if (isZero(stated)) return undefined;
  if (isFields(stated)) {
    if (isAtomicMap(names) || hasAtomicItems(names)) return undefined;
    const below = isFields(live) ? live : {};
    return Object.entries(stated).map(([name, value]) =>
      part(place, field(name), value, below[name], [...names, name]),
    );
  }
  const keys = Array.isArray(stated) ? listKeys(names) : undefined;
  if (!Array.isArray(stated) || keys === undefined) return undefined;
  return stated.map((value) => itemPart(place, value, keys));
}

/**
 * Of several items under one key, which the API server lets be written by all but an apply, the one that is not ours counts: of variables, the
 * kubelet takes the last.
 */
function itemPart(place: Place, value: unknown, keys: readonly string[] | 'set'): Place {
  const { live, names } = place;
  const step = stepTo(value, keys);
  const found = Array.isArray(live) ? live.filter((candidate) => stepTo(candidate, keys) === step) : [];
  const other = found.findLast((candidate) => !says(candidate, value, names, 'defaults'));
  return { ...part(place, step, value, other ?? found[0], names), isDoubled: found.length > 1 };
}

function part({ own, path }: Place, step: Step, stated: unknown, live: unknown, names: readonly string[]): Place {
  return { stated, live, own: at(own, step), path: [...path, step], names };
}

function stepTo(value: unknown, keys: readonly string[] | 'set'): Step {
  return keys === 'set' ? `v:${JSON.stringify(value)}` : item(pick(value, keys));
}

function pick(value: unknown, keys: readonly string[]): Readonly<Record<string, unknown>> {
  const fields = isFields(value) ? value : {};
  // The one key that the API server fills in.
  return Object.fromEntries(keys.map((key) => [key, fields[key] ?? (key === 'protocol' ? 'TCP' : undefined)]));
}
