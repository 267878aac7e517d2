import { isFields } from '../../constructs/api/schema-node.ts';
import { longestRestMs, type Contest, type Contests } from './contest.ts';
import type { Drift } from './drift.ts';

/** So many fights are kept: those that last longest. */
const mostKept = 50;

/** A fight as it outlives the controller: without what led to it. */
export type Fight = Omit<Contest, 'flips'>;

/** The fights that are to outlive the controller. Pure. */
export function fightsOf(contests: Contests): readonly Fight[] {
  return [...contests.values()]
    .filter(({ rests }) => rests > 0)
    .map(({ flips: _, ...fight }) => fight)
    .toSorted((a, b) => (b.until ?? 0) - (a.until ?? 0))
    .slice(0, mostKept);
}

/**
 * The contests of fights that were kept; they may be anything, for somebody may have written them while no controller ran. So none lasts longer than
 * one that begins now may, and then what is contested is put back once more. Pure.
 *
 * @param now milliseconds
 */
export function contestsOf(kept: unknown, now: number): Contests {
  const found: readonly unknown[] = Array.isArray(kept) ? kept.slice(0, mostKept) : [];
  const fights = found.flatMap((one) => fightIn(one, now) ?? []);
  return new Map(fights.map((fight) => [`${fight.drift.object} ${fight.drift.field}`, fight]));
}

function fightIn(found: unknown, now: number): Contest | undefined {
  if (!isFields(found)) return undefined;
  const { drift, rivals, rests, until } = found;
  if (!isDrift(drift) || !isListOfTexts(rivals) || rivals.length === 0) return undefined;
  if (!isCount(rests) || rests === 0 || !isCount(until)) return undefined;
  return { drift, rivals, rests, until: Math.min(until, now + longestRestMs), flips: [] };
}

function isDrift(found: unknown): found is Drift {
  if (!isFields(found) || !isFields(found['editor'])) return false;
  const { object, field, was, now, editor } = found;
  const { manager, operation, time } = editor;
  return [object, field, manager, operation].every(isText) && [was, now, time].every(isTextOrNothing);
}

function isListOfTexts(found: unknown): found is readonly string[] {
  return Array.isArray(found) && found.every(isText);
}

function isText(found: unknown): found is string {
  return typeof found === 'string';
}

function isTextOrNothing(found: unknown): boolean {
  return found === undefined || isText(found);
}

function isCount(found: unknown): found is number {
  return Number.isSafeInteger(found) && Number(found) >= 0;
}
