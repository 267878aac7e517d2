import type { KubeObject } from '../kube/index.ts';
import { contrast } from './contrast.ts';
import type { Deviation } from './deviation.ts';
import { disclosed } from './disclosure.ts';
import { field, readable, type FieldPath, type Step } from './field-path.ts';
import { hasAtomicItems, isAtomicMap, listKeys } from './list-keys.ts';
import { isFields, says } from './value.ts';
import { itemWith, valueAt } from './value-at.ts';
import { writable } from './writable.ts';

/** One field in which two states of an object differ. Values are texts that are fit to be shown; undefined where there is none. */
export interface Difference {
  /** Such as `spec.template.spec.containers[name=postgres].image`. */
  readonly field: string;
  readonly was: string | undefined;
  readonly now: string | undefined;
}

/** What makes one state of an object into another, field by field as they are owned; nothing that the server counts, and no status. Pure. */
export function differences(before: KubeObject, after: KubeObject): readonly Difference[] {
  return [...between(writable(before), writable(after), [], [])].map(({ path, was, now }) => {
    const shown = disclosed(before.kind, path);
    const differing = contrast(was, now);
    return { field: readable(path), was: shown(differing.was), now: shown(differing.now) };
  });
}

/** What an apply makes of the fields in which an object is not what is stated. Pure. */
export function restorations(found: readonly Deviation[], live: KubeObject): readonly Difference[] {
  return found
    .filter(({ kind }) => kind !== 'unowned')
    .map(({ path, kind, was, now }) => {
      const shown = disclosed(live.kind, path);
      if (kind === 'extra') return { field: readable(path), was: shown(valueAt(live, path)), now: undefined };
      const differing = contrast(now, was);
      return { field: readable(path), was: shown(differing.was), now: shown(differing.now) };
    });
}

interface Differing {
  readonly path: FieldPath;
  readonly was: unknown;
  readonly now: unknown;
}

function* between(was: unknown, now: unknown, path: FieldPath, names: readonly string[]): Generator<Differing> {
  if (was === now || (says(was, now) && says(now, was))) return;
  const isOne = isAtomicMap(names) || hasAtomicItems(names);
  if (!isOne && isFields(was) && isFields(now)) {
    for (const name of new Set([...Object.keys(was), ...Object.keys(now)])) {
      yield* between(was[name], now[name], [...path, field(name)], [...names, name]);
    }
    return;
  }
  const keys = listKeys(names);
  if (Array.isArray(was) && Array.isArray(now) && keys !== undefined && keys !== 'set') {
    const [before, after] = [byStep(was, keys), byStep(now, keys)];
    for (const step of new Set([...before.keys(), ...after.keys()])) {
      yield* between(before.get(step), after.get(step), [...path, step], names);
    }
    return;
  }
  yield { path, was, now };
}

function byStep(list: readonly unknown[], keys: readonly string[]): ReadonlyMap<Step, unknown> {
  return new Map(list.map((one) => [itemWith(one, keys), one]));
}
