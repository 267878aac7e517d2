import { isCreation, type Drift } from './drift.ts';

/** When a change that comes again and again is a fight. */
export interface ContestRules {
  /** As often the same value by the same manager in turn. Defaults to 6; four times as often whatever the values and whoever the managers are. */
  readonly flips: number;
  /** Within this time, in milliseconds. Defaults to 30 minutes. */
  readonly withinMs: number;
  /** How long it is left then, in milliseconds; each time twice as long, up to an hour. Defaults to 1 minute. */
  readonly restMs: number;
}

export const contestRules: ContestRules = { flips: 6, withinMs: 1_800_000, restMs: 60_000 };

/** The longest that one is left, in milliseconds. */
export const longestRestMs = 3_600_000;
const inAll = 4;

/** A field that we and others keep writing. */
export interface Contest {
  /** The last flip. */
  readonly drift: Drift;
  /** What was found, by whom, and when we put it back, in milliseconds. */
  readonly flips: readonly Flip[];
  /** Who keeps writing the field, never empty: one manager, or all where they take turns. */
  readonly rivals: readonly string[];
  /** How often it was left already. */
  readonly rests: number;
  /** Until when it is left, in milliseconds; undefined before it first was. */
  readonly until: number | undefined;
}

export interface Flip {
  readonly now: string | undefined;
  readonly manager: string;
  readonly at: number;
}

/** Contests by object and field. */
export type Contests = ReadonlyMap<string, Contest>;

/**
 * Notes what was put back. A field that another manager has changed since is no fight with the first, unless it is one with everybody. Pure.
 *
 * @param now milliseconds
 */
export function noteFlips(before: Contests, corrected: readonly Drift[], now: number, rules: ContestRules): Contests {
  const contests = new Map(
    [...before].filter(([, one]) => Math.max(lastAt(one), one.until ?? 0) + rules.withinMs > now),
  );
  // Who made an object again after it was deleted is told with the deletion, which is what comes again.
  for (const drift of corrected.filter((one) => !isCreation(one))) {
    const key = `${drift.object} ${drift.field}`;
    const known = contests.get(key);
    const { manager } = drift.editor;
    const recent = (known?.flips ?? []).filter(({ at }) => at + rules.withinMs > now);
    const flips = [...recent, { now: drift.now, manager, at: now }].slice(-many(rules));
    const isSame = known?.rivals.includes(manager) === true || flips.length === many(rules);
    const { rests = 0, until } = isSame ? (known ?? {}) : {};
    // Of a fight from before a restart only who fought is known.
    const before = rests > 0 ? (known?.rivals ?? []) : [];
    const isOne = rests > 0 ? before.length === 1 : byLast(flips) >= rules.flips;
    const rivals = isOne ? [manager] : [...new Set([...before, ...flips.map((flip) => flip.manager)])].toSorted();
    const next: Contest = { drift, flips, rivals, rests, until };
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
  return rests > 0 || byLast(flips) >= rules.flips || flips.length >= many(rules);
}

/** How often the last one wrote what he wrote last, since anybody else did. */
function byLast(flips: readonly Flip[]): number {
  const last = flips.at(-1);
  const since = flips.findLastIndex(({ manager }) => manager !== last?.manager) + 1;
  return flips.slice(since).filter(({ now }) => now === last?.now).length;
}

function many({ flips }: ContestRules): number {
  return flips * inAll;
}

/** It was put back once more, to see whether the rival has given up; if not, it is left for longer. */
function rest(contest: Contest, now: number, { restMs }: ContestRules): Contest {
  const until = now + Math.min(restMs * 2 ** contest.rests, longestRestMs);
  return { ...contest, rests: contest.rests + 1, until };
}

function lastAt({ flips }: Contest): number {
  return flips.at(-1)?.at ?? 0;
}
