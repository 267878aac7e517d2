import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { namesOf } from '../../constructs/names.ts';
import type { Outcome } from './delivery.ts';
import type { Stated } from './stated.ts';

/** Digests of the objects as they were applied last, by their keys. */
export type Applied = ReadonlyMap<string, string>;

/**
 * Whether what was applied has to be known after a restart too: where drift is left as it is, what somebody removed must be told from what was never
 * there. Elsewhere either is made.
 */
export function isToBeKnown({ spec }: StoredDatabaseService): boolean {
  return spec.drift?.policy === 'Report' || spec.drift?.pause !== undefined;
}

/** What is applied by now. What is left as somebody made it stays as it was applied before. */
export function appliedBy(
  before: Applied,
  { made, left }: Outcome,
  stated: readonly Stated[],
  { metadata }: StoredDatabaseService,
): Applied {
  const { history } = namesOf(metadata.name);
  const hashes = stated.flatMap(({ key, hash, object }): readonly (readonly [string, string])[] => {
    // It cannot hold a digest of itself.
    if (object.kind === 'ConfigMap' && object.metadata.name === history) return [];
    const known = made.includes(key) && !left.has(key) ? hash : before.get(key);
    return known === undefined ? [] : [[key, known]];
  });
  return new Map(hashes);
}
