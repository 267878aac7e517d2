import { isDeepStrictEqual } from 'node:util';
import { isFields, isList, type Fields, type Json } from './json.ts';
import type { Schema } from './schema.ts';

/** What each way of writing sends in order to make one object into another. Pure. */

/** RFC 7386: lists as a whole, null for what goes. */
export function mergePatch(from: Fields, to: Fields): Fields {
  return patchOf(from, to, (a, b) => (isFields(a) && isFields(b) ? mergePatch(a, b) : b));
}

/**
 * Lists item by item where the server merges them so, as kubectl does.
 * Source: https://github.com/kubernetes/community/blob/master/contributors/devel/sig-api-machinery/strategic-merge-patch.md
 */
export function strategicPatch(from: Fields, to: Fields, schema: Schema): Fields {
  const directives: Record<string, Json> = {};
  const patch = patchOf(from, to, (a, b, name) => {
    const below = schema.field(name);
    if (isFields(a) && isFields(b)) return strategicPatch(a, b, below);
    const { mergeKey } = below;
    if (!isList(a) || !isList(b) || mergeKey === undefined) return b;
    if (isFields(b[0])) directives[`$setElementOrder/${name}`] = b.map((item) => pick(item, [mergeKey]));
    return mergedItems(a, b, mergeKey, below);
  });
  return { ...patch, ...directives };
}

function mergedItems(from: readonly Json[], to: readonly Json[], mergeKey: string, schema: Schema): Json {
  const find = (list: readonly Json[], item: Json) =>
    list.find((one) => isDeepStrictEqual(pick(one, [mergeKey]), pick(item, [mergeKey])));
  const changed = to.flatMap((item): readonly Json[] => {
    const before = find(from, item);
    if (isDeepStrictEqual(before, item) || !isFields(item)) return [];
    if (!isFields(before)) return [item];
    const retained: Fields = schema.retainsKeys ? { $retainKeys: Object.keys(item) } : {};
    return [{ ...strategicPatch(before, item, schema.item), ...pick(item, [mergeKey]), ...retained }];
  });
  const gone = from.filter((item) => find(to, item) === undefined);
  return [...changed, ...gone.map((item) => ({ $patch: 'delete', ...pick(item, [mergeKey]) }))];
}

function patchOf(from: Fields, to: Fields, between: (a: Json, b: Json, name: string) => Json): Fields {
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])];
  const differing = names.filter((name) => !isDeepStrictEqual(from[name], to[name]));
  return Object.fromEntries(
    differing.map((name) => {
      const [a, b] = [from[name], to[name]];
      return [name, b === undefined ? null : a === undefined ? b : between(a, b, name)];
    }),
  );
}

export interface Operation {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path: string;
  readonly value?: Json;
}

/** RFC 6902. */
export function jsonPatch(from: Json, to: Json, path = ''): readonly Operation[] {
  if (isDeepStrictEqual(from, to)) return [];
  if (isFields(from) && isFields(to)) {
    return [...new Set([...Object.keys(from), ...Object.keys(to)])].flatMap((name) => {
      const [a, b] = [from[name], to[name]];
      const at = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      if (b === undefined) return [{ op: 'remove', path: at }];
      return a === undefined ? [{ op: 'add', path: at, value: b }] : jsonPatch(a, b, at);
    });
  }
  if (isList(from) && isList(to)) return ofLists(from, to, path);
  return [{ op: 'replace', path, value: to }];
}

function ofLists(from: readonly Json[], to: readonly Json[], path: string): readonly Operation[] {
  const first = from.findIndex((item, index) => !isDeepStrictEqual(item, to[index]));
  if (first === -1) return to.slice(from.length).map((value) => ({ op: 'add', path: `${path}/-`, value }));
  if (isDeepStrictEqual(from.toSpliced(first, 1), to)) return [{ op: 'remove', path: `${path}/${first}` }];
  const [a, b] = [from[first], to[first]];
  const isOneItem = a !== undefined && b !== undefined && isDeepStrictEqual(from.with(first, b), to);
  return isOneItem ? jsonPatch(a, b, `${path}/${first}`) : [{ op: 'replace', path, value: to }];
}

/**
 * What an apply states in order to change that: what differs, with the keys of the items around it.
 *
 * @returns undefined where something is to go, for nobody can take away by applying what he does not own; nor put others' items in order
 */
export function partToApply(from: Json, to: Json, schema: Schema): Json | undefined {
  const keys = schema.listKeys;
  if (isList(from) && isList(to) && keys !== undefined) {
    const keysOf = (item: Json) => JSON.stringify(pick(item, keys));
    if (from.some((item) => !to.some((other) => keysOf(other) === keysOf(item)))) return undefined;
    const parts: Json[] = [];
    for (const item of to) {
      const before = from.find((one) => keysOf(one) === keysOf(item));
      if (isDeepStrictEqual(before, item)) continue;
      const part = before === undefined ? item : partToApply(before, item, schema.item);
      if (!isFields(part)) return undefined;
      parts.push({ ...pick(item, keys), ...part });
    }
    return parts.length === 0 ? undefined : parts;
  }
  if (!isFields(from) || !isFields(to) || schema.isAtomicMap) return to;
  const part: Record<string, Json> = {};
  for (const name of new Set([...Object.keys(from), ...Object.keys(to)])) {
    const [a, b] = [from[name], to[name]];
    if (isDeepStrictEqual(a, b)) continue;
    const below = b === undefined ? undefined : a === undefined ? b : partToApply(a, b, schema.field(name));
    if (below === undefined) return undefined;
    part[name] = below;
  }
  return part;
}

function pick(item: Json, names: readonly string[]): Fields {
  const fields = isFields(item) ? item : {};
  return Object.fromEntries(names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])));
}
