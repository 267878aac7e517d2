import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../../controller/kube/index.ts';
import { isFields, isList, type Fields, type Json, textOf } from './json.ts';
import type { Mutation } from './mutations.ts';
import type { Schema } from './schema.ts';

/** One field that is another after an edit. */
export interface Expected {
  readonly field: string;
  readonly kind: 'changed' | 'removed' | 'added';
  /** Only where nobody has to hide it and it is one value. */
  readonly was: string | undefined;
  readonly now: string | undefined;
}

/**
 * What an edit did to what we state: by the object before it and the server's own answer to it, field by field as the server says that fields
 * are owned. Where more than a field is gone, its outermost.
 */
export function expectedDrifts(
  stated: KubeObject,
  before: KubeObject,
  after: KubeObject,
  schema: Schema,
): readonly Expected[] {
  const { apiVersion: _, kind: __, metadata, ...rest } = stated;
  const { name: ___, namespace: ____, ...owned } = metadata;
  return inFields(
    { metadata: owned, ...rest } as unknown as Fields,
    before as unknown as Fields,
    after as unknown as Fields,
    schema,
    '',
  ).map((one) => (stated.kind === 'Secret' ? { ...one, was: hide(one.was), now: hide(one.now) } : one));
}

function hide(value: string | undefined): string | undefined {
  return value === undefined ? undefined : '(hidden)';
}

/** What an edit added beside what we state: finalizers; below `spec`, items of lists that others may add to, labels and annotations of pods. */
export function expectedAdditions(
  stated: KubeObject,
  before: KubeObject,
  after: KubeObject,
  schema: Schema,
): readonly Expected[] {
  if (stated.kind === 'PersistentVolumeClaim' || stated.kind === 'Secret') return [];
  const known = new Set(before.metadata.finalizers);
  const finalizers = (after.metadata.finalizers ?? [])
    .filter((one) => !known.has(one))
    .map((one): Expected => ({
      field: `metadata.finalizers["${one}"]`,
      kind: 'added',
      was: undefined,
      now: undefined,
    }));
  if (stated['spec'] === undefined) return finalizers;
  const at = (object: KubeObject) => object['spec'] as Json;
  return [...finalizers, ...beside(at(stated), at(before), at(after), schema.field('spec'), 'spec')];
}

/** Of a swap, the field that was written in the place of another. */
export function besideIn(stated: KubeObject, { beside }: Mutation, schema: Schema): readonly Expected[] {
  if (beside === undefined) return [];
  const steps = beside.place.reduce<{ readonly path: string; readonly at: Schema; readonly value: Json | undefined }>(
    ({ path, at, value }, step) => {
      if (typeof step === 'string') {
        return {
          path: path + written(step, path),
          at: at.field(step),
          value: isFields(value) ? value[step] : undefined,
        };
      }
      const item = isList(value) ? value[step] : undefined;
      return { path: `${path}[${keysOf(isFields(item) ? item : {}, at.listKeys ?? [])}]`, at: at.item, value: item };
    },
    { path: '', at: schema, value: stated as unknown as Json },
  );
  return [{ field: steps.path, kind: 'added', was: undefined, now: undefined }];
}

function beside(
  stated: Json,
  before: Json | undefined,
  after: Json | undefined,
  schema: Schema,
  path: string,
): readonly Expected[] {
  const added = (field: string): Expected => ({ field, kind: 'added', was: undefined, now: undefined });
  const keys = schema.listKeys;
  if (isList(stated) && keys !== undefined) {
    const nameOf = (item: Json) => (isFields(item) ? `${path}[${keysOf(item, keys)}]` : path);
    const find = (list: Json | undefined, name: string) =>
      isList(list) ? list.find((item) => nameOf(item) === name) : undefined;
    const fresh = (isList(after) ? after : []).map(nameOf).filter((name) => find(before, name) === undefined);
    const within = stated.flatMap((item) => {
      const name = nameOf(item);
      return beside(item, find(before, name), find(after, name), schema.item, name);
    });
    return [...fresh.map(added), ...within];
  }
  if (!isFields(stated) || schema.isAtomicMap) return [];
  const [a, b] = [isFields(before) ? before : {}, isFields(after) ? after : {}];
  const isOpen = /(labels|annotations)$/.test(path);
  const fresh = isOpen ? Object.keys(b).filter((name) => !(name in a)) : [];
  return [
    ...fresh.map((name) => added(path + written(name, path))),
    ...Object.entries(stated).flatMap(([name, value]) =>
      beside(value, a[name], b[name], schema.field(name), path + written(name, path)),
    ),
  ];
}

function keysOf(item: Fields, keys: readonly string[]): string {
  return keys
    .toSorted()
    .map((key) => `${key}=${textOf(item[key])}`)
    .join(',');
}

function inFields(stated: Fields, before: Fields, after: Fields, schema: Schema, path: string): readonly Expected[] {
  return Object.entries(stated).flatMap(([name, value]) =>
    inValue(value, before[name], after[name], schema.field(name), path + written(name, path)),
  );
}

function inValue(
  stated: Json,
  before: Json | undefined,
  after: Json | undefined,
  schema: Schema,
  path: string,
): readonly Expected[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (after === undefined) return [{ field: path, kind: 'removed', was: text(before ?? stated, path), now: undefined }];
  const keys = isList(stated) ? schema.listKeys : undefined;
  if (isList(stated) && keys !== undefined && stated.length > 0)
    return inItems(stated, before, after, schema, keys, path);
  if (isFields(stated) && !schema.isAtomicMap && Object.keys(stated).length > 0) {
    return inFields(stated, isFields(before) ? before : {}, isFields(after) ? after : {}, schema, path);
  }
  return [{ field: path, kind: 'changed', was: text(before ?? stated, path), now: text(after, path) }];
}

function inItems(
  stated: readonly Json[],
  before: Json | undefined,
  after: Json,
  schema: Schema,
  keys: readonly string[],
  path: string,
): readonly Expected[] {
  return stated.flatMap((item) => {
    if (!isFields(item)) return [];
    const all = (list: Json | undefined) =>
      isList(list) ? list.filter((one) => isFields(one) && keys.every((key) => one[key] === item[key])) : [];
    const field = `${path}[${keysOf(item, keys)}]`;
    // Two under one key: the item as a whole.
    if (all(after).length > 1) return [{ field, kind: 'changed', was: undefined, now: undefined }];
    return inValue(item, all(before)[0], all(after)[0], schema.item, field);
  });
}

function written(name: string, above: string): string {
  const isPlain = /^[a-zA-Z_][a-zA-Z0-9_-]*$/.test(name);
  return isPlain ? (above === '' ? name : `.${name}`) : `[${name}]`;
}

const hidden = /(^|\.)(env|args|command|data|annotations|httpGet\.(path|host))(\[|\.|$)/;

function text(value: Json | undefined, path: string): string | undefined {
  if (value === undefined || value === null || isFields(value) || isList(value)) return undefined;
  return hidden.test(path) ? '(hidden)' : textOf(value);
}
