import type { DatabaseServiceDocument } from './api/resource.ts';
import { cronOf, isDueOn, type Clock } from './schedule/cron.ts';
import { Zone } from './schedule/zone.ts';

const minuteMs = 60_000;
const weekMs = 7 * 24 * 60 * minuteMs;
/** Clocks change on a weekday of a month: in ten years, any date comes that has it. */
const weeks = 10 * 52;

/**
 * What happens to the backups of a spec in nights in which the clock of its zone changes, one sentence each. Empty where the schedule has nothing
 * in the hours that are skipped or doubled, or has something in every hour.
 *
 * @param from milliseconds; the nights behind it count
 */
export function clockNotes({ spec: { backup } }: DatabaseServiceDocument, from: number): readonly string[] {
  const cron = cronOf(backup?.schedule ?? '');
  const zone = Zone.of(backup?.timeZone ?? 'Etc/UTC');
  if (!backup || !zone || cron?.kind !== 'clock' || cron.hours.size === 24) return [];
  const nights = changesOf(zone, from).flatMap((change) => nightOf(cron, zone, change) ?? []);
  const skipped = nights.find(({ isSkipped }) => isSkipped);
  const doubled = nights.find(({ isSkipped }) => !isSkipped);
  const effects = [
    ...(skipped ? [`on ${skipped.date} there is no ${skipped.time}, and no backup`] : []),
    ...(doubled ? [`on ${doubled.date} there are two ${doubled.time}s, and two backups that count as one`] : []),
  ];
  const where = `backup.schedule ${backup.schedule} in ${backup.timeZone}`;
  return effects.length === 0 ? [] : [`${where}: clocks change; ${effects.join('; ')}`];
}

/** Thousands of databases are in few zones. */
const found = new WeakMap<Zone, { readonly from: number; readonly changes: readonly number[] }>();

function changesOf(zone: Zone, from: number): readonly number[] {
  const start = Math.floor(from / weekMs) * weekMs;
  const known = found.get(zone);
  if (known?.from === start) return known.changes;
  const changes = findChanges(zone, start);
  found.set(zone, { from: start, changes });
  return changes;
}

/** The first moments of another distance to UTC, in milliseconds. */
function findChanges(zone: Zone, from: number): readonly number[] {
  return Array.from({ length: weeks }, (_, i) => from + i * weekMs)
    .filter((start) => zone.aheadMs(start) !== zone.aheadMs(start + weekMs))
    .map((start) => {
      const ahead = zone.aheadMs(start);
      let [before, after] = [start, start + weekMs];
      while (after - before > minuteMs) {
        const middle = before + Math.ceil((after - before) / 2 / minuteMs) * minuteMs;
        if (zone.aheadMs(middle) === ahead) before = middle;
        else after = middle;
      }
      return after;
    });
}

interface Night {
  readonly date: string;
  readonly time: string;
  /** Or else doubled. */
  readonly isSkipped: boolean;
}

/** The first time that is due and that the clock skips or shows twice. */
function nightOf(cron: Clock, zone: Zone, change: number): Night | undefined {
  const [before, after] = [change + zone.aheadMs(change - 1), change + zone.aheadMs(change)];
  for (let at = Math.min(before, after); at < Math.max(before, after); at += minuteMs) {
    const shown = new Date(at);
    const isDue =
      cron.hours.has(shown.getUTCHours()) && cron.minutes.has(shown.getUTCMinutes()) && isDueOn(cron, shown);
    if (!isDue) continue;
    const text = shown.toISOString();
    return { date: text.slice(0, 10), time: text.slice(11, 16), isSkipped: after > before };
  }
  return undefined;
}
