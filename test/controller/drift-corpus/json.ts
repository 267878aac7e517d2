export type Json = null | boolean | number | string | readonly Json[] | Fields;
export interface Fields {
  readonly [name: string]: Json;
}

/** Keys and list positions from the root. */
export type Place = readonly (string | number)[];

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isList = (value: unknown): value is readonly Json[] => Array.isArray(value);

/** A scalar as people write it, anything else as JSON. */
export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The value at a place; undefined where the place ends before. */
export function valueAt(root: unknown, place: Place): Json | undefined {
  return place.reduce<unknown>(
    (at, step) => (typeof at === 'object' && at !== null ? Reflect.get(at, step) : undefined),
    root,
  ) as Json | undefined;
}

/** A copy in which the value at a place is another; undefined takes the field or the item away. */
export function withValue<T>(root: T, place: Place, value: Json | undefined): T {
  const [step, ...rest] = place;
  if (step === undefined) return value as T;
  const below = rest.length === 0 ? value : withValue(Reflect.get(root as object, step), rest, value);
  if (Array.isArray(root)) {
    return (below === undefined ? root.toSpliced(Number(step), 1) : root.with(Number(step), below)) as T;
  }
  const { [step]: _, ...others } = root as Record<string, unknown>;
  return (below === undefined ? others : { ...root, [step]: below }) as T;
}

/** An object of the API is JSON, which its type does not say. */
export function asFields(object: object): Fields {
  return object as Fields;
}
