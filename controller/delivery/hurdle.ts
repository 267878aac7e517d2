import { isAllowed, type Leeway } from '../database/additions.ts';
import { fieldManager } from '../database/child.ts';
import {
  additionOf,
  foreignFields,
  heldByOthers,
  isWithin,
  obstacles,
  readable,
  type Drift,
  type Foreign,
} from '../drift/index.ts';
import { classify, KubeError, type KubeObject } from '../kube/index.ts';

/**
 * What others have, that the API server has refused an apply for and that nothing allows: it is taken out of the way. Pure.
 *
 * @param object as it was applied
 * @param live as it was then
 * @returns empty where the refusal has another reason
 */
export function hurdles(error: unknown, object: KubeObject, live: KubeObject, leeway: Leeway): readonly Foreign[] {
  const refused = refusedFields(error);
  if (refused.length === 0) return [];
  const held = heldByOthers(live, fieldManager).filter((one) => !isAllowed(leeway, one));
  return obstacles(object, live, held, refused);
}

/** Whether the server finds what an apply would make of an object contradictory, and names the fields. */
export function isContradictory(error: unknown): boolean {
  return refusedFields(error).length > 0;
}

/** Those of the hurdles that somebody added, and that are not told otherwise. What the API server filled in is nobody's. Pure. */
export function additionsAmong(
  hurdles: readonly Foreign[],
  live: KubeObject,
  told: readonly Drift[],
): readonly Drift[] {
  if (hurdles.length === 0) return [];
  const added = new Set(foreignFields(live, fieldManager).map(({ path }) => readable(path)));
  return hurdles
    .filter(({ path }) => added.has(readable(path)))
    .map((one) => additionOf(`${live.kind}/${live.metadata.name}`, one))
    .filter(({ field }) => !told.some((drift) => isWithin(drift.field, field)));
}

function refusedFields(error: unknown): readonly string[] {
  const { kind } = classify(error);
  if (!(error instanceof KubeError) || (kind !== 'co-ownership' && kind !== 'invalid')) return [];
  return error.details.causes.flatMap(({ field }) => (field === undefined ? [] : [field]));
}
