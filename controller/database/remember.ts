import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import type { Drift } from '../drift/index.ts';
import { wasSettled } from './conditions.ts';
import type { Outcome } from './delivery.ts';
import type { Memory } from './memory.ts';
import { isTold } from './receipts.ts';
import { withCosts, type Restarts } from './restarts.ts';

/**
 * Notes what became of a plan.
 *
 * @param restarts whom it restarts to put a pod template back
 * @returns the changes by others that are left alone and that nobody was told of yet
 */
export function remember(
  memory: Memory,
  outcome: Outcome,
  resource: StoredDatabaseService,
  restarts: Restarts,
): readonly Drift[] {
  const { corrected, left, made, blocker, outdated } = outcome;
  const reported = [...left].flatMap(([object, drifts]) =>
    drifts.filter((drift) => !isTold(drift, toldOf(memory, object), resource.status?.drift)),
  );
  if (blocker?.reason === 'NamespaceTerminating') memory.end = blocker;
  const isWhole = blocker === undefined && outdated === undefined;
  memory.settledGeneration = isWhole ? resource.metadata.generation : undefined;
  if (isWhole || wasSettled(resource)) memory.wholeGeneration = resource.metadata.generation;
  memory.isFresh &&= !isWhole;
  // What a plan that was cut short did not come to, is known as before.
  const leftBefore = [...memory.left].filter(([object]) => !made.includes(object));
  memory.known = new Set([...(isWhole ? [] : memory.known), ...made, ...left.keys()]);
  // Whatever the order in which they became known, the status says the same.
  memory.left = new Map(
    [...new Map([...(isWhole ? [] : leftBefore), ...left])].toSorted(([a], [b]) => a.localeCompare(b)),
  );
  memory.untold = {
    corrected: [...memory.untold.corrected, ...withCosts(corrected, restarts, true)],
    reported: [...memory.untold.reported, ...withCosts(reported, restarts, false)],
  };
  return reported;
}

/** What was told of an object in this process; undefined for what only the status knows. */
function toldOf({ left, isFresh }: Memory, object: string): readonly Drift[] | undefined {
  return left.get(object) ?? (isFresh ? undefined : []);
}
