import type { KubeObject } from '../kube/index.ts';
import type { FieldPath } from './field-path.ts';
import type { Foreign } from './foreign.ts';
import { isFields } from './value.ts';
import { valueAt } from './value-at.ts';

/**
 * What others added that may have made the API server refuse an apply: something beside the refused fields in a part that we state (a second source
 * of a volume, a limit below our request), or an item of a list under the name of one of ours, or without one. Pure.
 *
 * @param refused the fields that the server names, such as `spec.template.spec.volumes[0].emptyDir`
 */
export function obstacles(
  stated: KubeObject,
  live: KubeObject,
  foreign: readonly Foreign[],
  refused: readonly string[],
): readonly Foreign[] {
  const places = refused.map(placeOf);
  const isNameAsked = stated.kind === 'Service' && refused.some((one) => one.endsWith('.name'));
  return foreign.filter(({ path }) => {
    const names = path.filter((step) => step.startsWith('f:')).map((step) => step.slice(2));
    const isNear = places.some((place) => place.every((name, index) => names[index] === name));
    const isOfPart = path.at(-1)?.startsWith('f:') === true;
    return isNear && (isOfPart || isNamesake(stated, live, path) || (isNameAsked && isNameless(live, path)));
  });
}

/** The part that holds a refused field; a field at the root of the object is a part itself: that two fields of it don't go together, the server says of `spec`. */
function placeOf(refused: string): readonly string[] {
  const names = refused.replaceAll(/\[[^\]]*\]/g, '').split('.');
  return names.length > 1 ? names.slice(0, -1) : names;
}

function isNamesake(stated: KubeObject, live: KubeObject, path: FieldPath): boolean {
  const ours = valueAt(stated, path.slice(0, -1));
  const name = nameOf(valueAt(live, path));
  return name !== undefined && Array.isArray(ours) && ours.some((one) => nameOf(one) === name);
}

/** Among several ports of a Service none may be without a name. */
function isNameless(live: KubeObject, path: FieldPath): boolean {
  const item = valueAt(live, path);
  return isFields(item) && item['name'] === undefined;
}

function nameOf(value: unknown): unknown {
  return isFields(value) ? value['name'] : undefined;
}
