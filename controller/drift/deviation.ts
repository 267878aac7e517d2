import type { KubeObject } from '../kube/index.ts';
import { field, item, type FieldPath } from './field-path.ts';
import { isAtomicMap, listKeys } from './list-keys.ts';
import { appliedEntry, at, covers, fieldsOf, leaves, type FieldTree } from './owned-fields.ts';
import { isFields, says } from './value.ts';

/** One field in which a live object is not, or not by our hand, what we state. */
export interface Deviation {
  readonly path: FieldPath;
  /**
   * `changed`: another value, and the field is no longer ours. `removed`: gone, and no longer ours. `unowned`: the right value that is not ours.
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
  const found: Deviation[] = [];
  for (const [name, value] of Object.entries(stated)) {
    if (name === 'apiVersion' || name === 'kind' || name === 'status') continue;
    if (name === 'metadata' && isFields(value)) {
      for (const part of ['labels', 'annotations', 'ownerReferences', 'finalizers']) {
        if (value[part] === undefined) continue;
        const node = at(at(own, 'f:metadata'), field(part));
        walk(value[part], live.metadata[part], node, [field(name), field(part)], [name, part], found);
      }
    } else {
      walk(value, live[name], at(own, field(name)), [field(name)], [name], found);
    }
  }
  found.push(...extras(own, stated));
  return found;
}

type Names = readonly string[];

function walk(
  stated: unknown,
  live: unknown,
  own: FieldTree | undefined,
  path: FieldPath,
  names: Names,
  found: Deviation[],
): void {
  if (stated === undefined) return;
  if (live === undefined && !isEmpty(stated)) {
    found.push({ path, kind: own === undefined ? 'removed' : 'pending', was: stated, now: undefined });
    return;
  }
  if (isFields(stated) && !isAtomicMap(names) && Object.keys(stated).length > 0) {
    for (const [name, value] of Object.entries(stated)) {
      const below = isFields(live) ? live[name] : undefined;
      walk(value, below, at(own, field(name)), [...path, field(name)], [...names, name], found);
    }
    return;
  }
  const keys = Array.isArray(stated) ? listKeys(names) : undefined;
  if (Array.isArray(stated) && keys !== undefined && stated.length > 0) {
    for (const value of stated) {
      const step = keys === 'set' ? `v:${JSON.stringify(value)}` : item(pick(value, keys));
      walkItem(value, find(live, value, keys), at(own, step), [...path, step], names, found);
    }
    return;
  }
  const isSame = says(live, stated, names);
  if (isSame && own !== undefined) return;
  found.push({ path, kind: own !== undefined ? 'pending' : isSame ? 'unowned' : 'changed', was: stated, now: live });
}

function walkItem(
  stated: unknown,
  live: unknown,
  own: FieldTree | undefined,
  path: FieldPath,
  names: Names,
  found: Deviation[],
): void {
  if (live === undefined || !isFields(stated)) {
    walk(stated, live, own, path, names, found);
    return;
  }
  for (const [name, value] of Object.entries(stated)) {
    walk(
      value,
      isFields(live) ? live[name] : undefined,
      at(own, field(name)),
      [...path, field(name)],
      [...names, name],
      found,
    );
  }
}

/** What we own and no longer state. */
function extras(own: FieldTree, stated: KubeObject): readonly Deviation[] {
  const tree = statedTree(stated);
  return [...leaves(own)]
    .filter((path) => !covers(tree, path))
    .map((path) => ({ path, kind: 'extra' as const, was: undefined, now: undefined }));
}

/** The tree of fields that an apply of the object comes to own. */
export function statedTree(stated: KubeObject): FieldTree {
  const { apiVersion: _, kind: __, metadata, status: ___, ...rest } = stated;
  const { labels, annotations, ownerReferences, finalizers } = metadata;
  return tree({ metadata: { labels, annotations, ownerReferences, finalizers }, ...rest }, []);
}

function tree(stated: unknown, names: Names): FieldTree {
  if (isFields(stated) && !isAtomicMap(names)) {
    const entries = Object.entries(stated).filter(([, value]) => value !== undefined);
    return Object.fromEntries(entries.map(([name, value]) => [field(name), tree(value, [...names, name])]));
  }
  const keys = Array.isArray(stated) ? listKeys(names) : undefined;
  if (!Array.isArray(stated) || keys === undefined) return {};
  return Object.fromEntries(
    stated.map((value) =>
      keys === 'set'
        ? [`v:${JSON.stringify(value)}`, {}]
        : [item(pick(value, keys)), isFields(value) ? fieldsTree(value, names) : {}],
    ),
  );
}

function fieldsTree(value: Readonly<Record<string, unknown>>, names: Names): FieldTree {
  return Object.fromEntries(Object.entries(value).map(([name, below]) => [field(name), tree(below, [...names, name])]));
}

function pick(value: unknown, keys: readonly string[]): Readonly<Record<string, unknown>> {
  const fields = isFields(value) ? value : {};
  return Object.fromEntries(keys.map((key) => [key, fields[key] ?? (key === 'protocol' ? 'TCP' : undefined)]));
}

function find(live: unknown, value: unknown, keys: readonly string[] | 'set'): unknown {
  if (!Array.isArray(live)) return undefined;
  if (keys === 'set') return live.find((candidate) => candidate === value);
  const wanted = item(pick(value, keys));
  return live.find((candidate) => item(pick(candidate, keys)) === wanted);
}

function isEmpty(value: unknown): boolean {
  return (Array.isArray(value) && value.length === 0) || (isFields(value) && Object.keys(value).length === 0);
}
