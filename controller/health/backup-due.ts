import { defaults } from '../../constructs/postgresql/defaults.ts';
import { cronOf } from '../../constructs/schedule/cron.ts';
import { dueAfter } from '../../constructs/schedule/due-time.ts';
import { Zone } from '../../constructs/schedule/zone.ts';
import type { BackupJob, BackupSeen } from './judge-backup.ts';

/** For Kubernetes to make a Job, to end one, and to tell of it. */
const slackMs = 300_000;
const startMs = defaults.backupStartSeconds * 1000;
const runMs = defaults.backupRunSeconds * 1000;

/** What due times are reckoned from, beside what backups are judged by. */
export interface DueSeen extends Pick<BackupSeen, 'backup' | 'cronJob' | 'before' | 'now'> {
  /** When a Job ended last, for good or ill, in milliseconds. */
  readonly lastEnd: number | undefined;
}

/**
 * When the first backup is or was due that has not ended yet. It stays until one ends, also where the schedule would not bring it about any more:
 * the CronJob was deleted, say. A schedule that is new, or in force again, asks for nothing that lies behind it. Pure.
 *
 * @returns milliseconds; undefined where none is due
 */
export function dueTime(seen: DueSeen): number | undefined {
  const { backup, cronJob, before, lastEnd = -Infinity, now } = seen;
  const cron = typeof backup?.schedule === 'string' ? cronOf(backup.schedule) : undefined;
  const zone = Zone.of(backup?.timeZone ?? defaults.timeZone);
  if (backup === undefined || backup.suspend === true || cron === undefined || zone === undefined) return undefined;
  const first = cronJob?.lastSchedule ?? cronJob?.createdAt ?? now;
  const after = (at: number): number | undefined => dueAfter(cron, zone, at, first);
  if (before === undefined) return after(Math.max(lastEnd, cronJob?.createdAt ?? now));
  const told = Date.parse(before.dueTime ?? '');
  if (before.schedule !== scheduleOf(backup) || Number.isNaN(told)) return after(now);
  if (lastEnd >= told) return after(lastEnd);
  // What lies ahead is no later than what the schedule says now: a status may be anything.
  return told <= now ? told : Math.min(told, after(now) ?? told);
}

/** The schedule and its zone, as a status tells it: one that is too long for the API is none. */
export function scheduleOf({ schedule = '', timeZone = defaults.timeZone }: NonNullable<BackupSeen['backup']>): string {
  return `${schedule} ${timeZone}`.slice(0, 256);
}

/** When a backup is overdue that has not ended by then: not while a Job goes on that began in time. In milliseconds. Pure. */
export function overdueTime(due: number, jobs: readonly BackupJob[]): number {
  const late = due + startMs + slackMs;
  const ends = jobs
    .filter(({ facts }) => facts.outcome === 'waiting' || facts.outcome === 'running')
    .filter(({ facts }) => facts.startedAt > 0 && facts.startedAt <= late)
    .map(({ facts }) => facts.startedAt + runMs + slackMs);
  return Math.max(late, ...ends);
}
