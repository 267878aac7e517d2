import type { Drift } from './drift.ts';

/** When a change that comes again and again is a fight. */
export interface ContestRules {
  /** As often the same value by the same manager. Defaults to 6; four times as often where the values differ. */
  readonly flips: number;
  /** Within this time, in milliseconds. Defaults to 30 minutes. */
  readonly withinMs: number;
  /** How long it is left then, in milliseconds; each time twice as long, up to an hour. Defaults to 1 minute. */
  readonly restMs: number;
}

export const contestRules: ContestRules = { flips: 6, withinMs: 1_800_000, restMs: 60_000 };

const longestRestMs = 3_600_000;
const manyValues = 4;

/** A field that we and one rival keep writing. */
export interface Contest {
  /** The last flip. */
  readonly drift: Drift;
  /** What was found, and when we put it back, in milliseconds; all by the same manager. */
  readonly flips: readonly { readonly now: string | undefined; readonly at: number }[];
  /** How often it was left already. */
  readonly rests: number;
  /** Until when it is left, in milliseconds; undefined before it first was. */
  readonly until: number | undefined;
}

/** Contests by object and field. */
export type Contests = ReadonlyMap<string, Contest>;

/**
 * Notes what was put back. A field that another manager has changed since is no fight with the first. Pure.
 *
 * @param now milliseconds
 */
export function noteFlips(before: Contests, corrected: readonly Drift[], now: number, rules: ContestRules): Contests {
  const contests = new Map(
    [...before].filter(([, one]) => Math.max(lastAt(one), one.until ?? 0) + rules.withinMs > now),
  );
  for (const drift of corrected) {
    const key = `${drift.object} ${drift.field}`;
    const known = contests.get(key);
    const same = known?.drift.editor.manager === drift.editor.manager ? known : undefined;
    const recent = (same?.flips ?? []).filter(({ at }) => at + rules.withinMs > now);
    const flips = [...recent, { now: drift.now, at: now }].slice(-rules.flips * manyValues);
    const next: Contest = { drift, flips, rests: same?.rests ?? 0, until: same?.until };
    contests.set(key, isFight(next, rules) ? rest(next, now, rules) : next);
  }
  return contests;
}

/** What an object is left for now. @param object such as `StatefulSet/orders` */
export function contestsOver(contests: Contests, object: string, now: number): readonly Contest[] {
  return [...contests.values()].filter(
    ({ drift, until }) => drift.object === object && until !== undefined && now < until,
  );
}

function isFight({ flips, rests }: Contest, rules: ContestRules): boolean {
  const last = flips.at(-1)?.now;
  const same = flips.filter(({ now }) => now === last).length;
  return rests > 0 || same >= rules.flips || flips.length >= rules.flips * manyValues;
}

/** It was put back once more, to see whether the rival has given up; if not, it is left for longer. */
function rest(contest: Contest, now: number, { restMs }: ContestRules): Contest {
  const until = now + Math.min(restMs * 2 ** contest.rests, longestRestMs);
  return { ...contest, rests: contest.rests + 1, until };
}

function lastAt({ flips }: Contest): number {
  return flips.at(-1)?.at ?? 0;
}
