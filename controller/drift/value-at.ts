import { field, item, type FieldPath, type Step } from './field-path.ts';
import { isFields } from './value.ts';

/** What an object has at a path as managedFields write it; undefined where there is nothing. */
export function valueAt(value: unknown, path: FieldPath): unknown {
  let found = value;
  for (const step of path) found = below(found, step);
  return found;
}

function below(value: unknown, step: Step): unknown {
  const rest = step.slice(2);
  switch (step.charAt(0)) {
    case 'f':
      return isFields(value) && Object.hasOwn(value, rest) ? value[rest] : undefined;
    case 'k':
      return itemOf(value, step, Object.keys(JSON.parse(rest) as object));
    case 'v':
      return Array.isArray(value) ? value.find((one) => JSON.stringify(one) === rest) : undefined;
    default:
      return Array.isArray(value) ? value[Number(rest)] : undefined;
  }
}

function itemOf(list: unknown, step: Step, keys: readonly string[]): unknown {
  return Array.isArray(list) ? list.find((one) => itemWith(one, keys) === step) : undefined;
}

/** The step to an item of a list, by the key fields that it has. */
export function itemWith(value: unknown, keys: readonly string[]): Step {
  const fields = isFields(value) ? value : {};
  return item(Object.fromEntries(keys.map((key) => [key, fields[key]])));
}

/** A copy of an object without what is at the paths. Steps of values and of positions are left as they are. */
export function without<T extends object>(object: T, paths: readonly FieldPath[]): T {
  const copy = structuredClone(object);
  for (const path of paths) remove(copy, path);
  return copy;
}

function remove(object: object, path: FieldPath): void {
  const last = path.at(-1) ?? field('');
  const above = valueAt(object, path.slice(0, -1));
  if (isFields(above) && last.startsWith('f:')) delete (above as Record<string, unknown>)[last.slice(2)];
  const gone = last.startsWith('k:') ? below(above, last) : undefined;
  if (Array.isArray(above) && gone !== undefined) above.splice(above.indexOf(gone), 1);
}
