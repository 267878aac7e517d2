import type { KubeObject } from '../../../controller/kube/index.ts';
import { isFields, isList, valueAt, withValue, type Fields, type Json, type Place, textOf } from './json.ts';
import { addedItem, isSecret, otherField, otherKey, otherSpelling, otherValue, secret } from './other-values.ts';
import type { Schema } from './schema.ts';

export type Kind =
  | 'change'
  /** The same quantity, written otherwise. */
  | 'respell'
  | 'remove'
  | 'add'
  | 'reorder'
  /** One more item under the key of another. */
  | 'double'
  /** Another value of a field by which an item is known in its list. */
  | 'rekey'
  /** One field for another that does not go with it, in one write. */
  | 'swap'
  /** All of managedFields. */
  | 'wipe';

/** One thing that somebody may do to one field that we state. */
export interface Mutation {
  readonly kind: Kind;
  readonly place: Place;
  /** The field as the server describes it. */
  readonly schema: Schema;
  /** The value there after it; undefined where it is taken away. Of an addition to a list, the whole list. */
  readonly value: Json | undefined;
  /** Of a swap: what stands beside it afterwards. */
  readonly beside?: { readonly place: Place; readonly value: Json };
}

/** All mutations of all that an object states, as far as it can be owned. */
export function mutationsOf(stated: KubeObject, schema: Schema): readonly Mutation[] {
  const { apiVersion: _, kind: __, metadata, ...rest } = stated;
  const { name: ___, namespace: ____, ...owned } = metadata;
  const finalizers = schema.field('metadata').field('finalizers');
  // Kubernetes puts back its own that protects a claim.
  const isFree = stated.kind !== 'PersistentVolumeClaim';
  return [
    { kind: 'wipe', place: ['metadata', 'managedFields'], schema: schema.field('metadata'), value: [{}] },
    ...(isFree
      ? [{ kind: 'add', place: ['metadata', 'finalizers'], schema: finalizers, value: ['example.com/kept'] } as const]
      : []),
    ...below(owned as Fields, schema.field('metadata'), ['metadata']),
    // Nobody can make an immutable ConfigMap mutable again: what is said then is tested by itself.
    ...Object.entries(rest as Fields)
      .filter(([name]) => name !== 'immutable')
      .flatMap(([name, value]) => all(value, schema.field(name), [name])),
  ];
}

/** The object after a mutation; undefined where the live object has not what the mutation starts from. */
export function mutated(live: KubeObject, { kind, place, value, beside }: Mutation): KubeObject | undefined {
  const parent = valueAt(live, place.slice(0, -1));
  if (parent === undefined) return undefined;
  const list = valueAt(live, place);
  // Of what is stated, the server leaves out some; whoever turns a list around writes what he finds.
  const changed = withValue(live, place, kind === 'reorder' && isList(list) ? list.toReversed() : value);
  return beside === undefined ? changed : withValue(changed, beside.place, beside.value);
}

function all(value: Json, schema: Schema, place: Place): readonly Mutation[] {
  // An owner that does not exist would have the object collected, which is no edit of a field.
  if (place.includes('ownerReferences') && ['apiVersion', 'kind', 'name', 'uid'].includes(String(place.at(-1))))
    return [];
  return [
    ...removal(schema, place),
    ...(isFields(value)
      ? [...addition(value, schema, place), ...swaps(value, schema, place), ...below(value, schema, place)]
      : []),
    ...(isList(value) ? ofList(value, schema, place) : []),
    ...(isFields(value) || isList(value) ? [] : ofScalar(value, schema, place)),
  ];
}

function below(value: Fields, schema: Schema, place: Place): readonly Mutation[] {
  return Object.entries(value).flatMap(([name, member]) => all(member, schema.field(name), [...place, name]));
}

function ofScalar(value: Json, schema: Schema, place: Place): readonly Mutation[] {
  const spelling = schema.isQuantity ? otherSpelling(textOf(value)) : undefined;
  return [
    { kind: 'change', place, schema, value: otherValue(value, schema, place) },
    ...(spelling === undefined ? [] : [{ kind: 'respell', place, schema, value: spelling } as const]),
  ];
}

function ofList(list: readonly Json[], schema: Schema, place: Place): readonly Mutation[] {
  const keys = schema.listKeys ?? [];
  const added = addedItem(list, place);
  return [
    ...(added === undefined ? [] : [{ kind: 'add', place, schema, value: [...list, added] } as const]),
    ...doubled(list, keys, place).map((value) => ({ kind: 'double', place, schema, value }) as const),
    ...(list.length < 2 ? [] : [{ kind: 'reorder', place, schema, value: list.toReversed() } as const]),
    ...list.flatMap((item, index) => {
      const at = [...place, index];
      const rekeyed = keys.flatMap((key): readonly Mutation[] => {
        if (!isFields(item) || place.includes('ownerReferences')) return [];
        const value = otherKey(item[key], schema.item.field(key), [...at, key]);
        return [{ kind: 'rekey', place: [...at, key], schema: schema.item.field(key), value }];
      });
      const rest = all(item, schema.item, at).filter(({ kind, place: where }) => {
        const isKey = where.length === at.length + 1 && keys.includes(String(where.at(-1)));
        return !(isKey && kind === 'change');
      });
      return [...rekeyed, ...rest];
    }),
  ];
}

/** Of two fields that do not go together, the other one. */
function swaps(value: Fields, schema: Schema, place: Place): readonly Mutation[] {
  return Object.keys(value).flatMap((name): readonly Mutation[] => {
    const other = otherField(name, place);
    if (other === undefined || other.name in value) return [];
    const beside = { place: [...place, other.name], value: other.value };
    return [{ kind: 'swap', place: [...place, name], schema: schema.field(name), value: other.instead, beside }];
  });
}

/** The list with another item under the key of its first; none where the API server takes each key once. */
function doubled(list: readonly Json[], keys: readonly string[], place: Place): readonly (readonly Json[])[] {
  const [first] = list;
  const isFree = place.at(-1) === 'env' || (place.at(-1) === 'ports' && place.includes('containers'));
  if (!isFree || keys.length === 0 || !isFields(first)) return [];
  const { valueFrom: _, ...rest } = first;
  return [
    [...list, 'name' in first && keys.includes('name') ? { ...rest, value: secret } : { ...rest, name: 'double' }],
  ];
}

function removal(schema: Schema, place: Place): readonly Mutation[] {
  return [{ kind: 'remove', place, schema, value: undefined }];
}

/** One more key in a map whose keys anybody may choose. */
function addition(value: Fields, schema: Schema, place: Place): readonly Mutation[] {
  const isOpen = ['labels', 'annotations', 'data', 'matchLabels', 'nodeSelector'].includes(String(place.at(-1)));
  const isSelector = place.at(-1) === 'selector' && !('matchLabels' in value);
  if (!isOpen && !isSelector) return [];
  return [
    {
      kind: 'add',
      place: [...place, 'added'],
      schema: schema.field('added'),
      value: isSecret(place) ? secret : 'other',
    },
  ];
}
