import type { DatabaseServiceStatus } from '../../constructs/api/status.ts';
import { timestamp } from '../kube/index.ts';
import { dueTime, overdueTime, scheduleOf } from './backup-due.ts';
import type { Facts } from './facts.ts';
import type { Verdict } from './judge.ts';

/** What backups are judged by. */
export interface BackupSeen {
  /** `spec.backup`, as far as it matters here; undefined where there is none. */
  readonly backup: { readonly schedule?: string; readonly timeZone?: string; readonly suspend?: boolean } | undefined;
  /** Undefined where it is not there. It saw when a backup succeeded last: Jobs are cleared away. */
  readonly cronJob: Extract<Facts, { kind: 'CronJob' }> | undefined;
  readonly jobs: readonly BackupJob[];
  /** Why the Job that is told of failed or waits, in the words of its pod. */
  readonly words: string | undefined;
  /** What the last status said; lost, it costs a time that was due. */
  readonly before: Standing | undefined;
  /** Milliseconds of the wall clock. */
  readonly now: number;
}

type Standing = NonNullable<DatabaseServiceStatus['backup']>;

export interface BackupVerdict {
  readonly verdict: Verdict;
  readonly standing: Standing | undefined;
  /** When it becomes another one by itself, in milliseconds of the wall clock. */
  readonly turnsAt: number | undefined;
}

export interface BackupJob {
  readonly name: string;
  readonly uid: string;
  readonly facts: Extract<Facts, { kind: 'Job' }>;
}

/** What a pod may take to start: a volume is attached, an image pulled. In milliseconds. */
const patienceMs = 120_000;

/** Judges whether the last backup is a good one, and none is missing since. Pure; there is exactly one reason. */
export function judgeBackup(seen: BackupSeen): BackupVerdict {
  const due = dueTime({ ...seen, lastEnd: latest([knownSuccess(seen), ...endsOf(seen.jobs, 'failed')]) });
  const overdueAt = due === undefined ? Infinity : overdueTime(due, seen.jobs);
  const turns = seen.jobs
    .filter(({ facts }) => facts.outcome === 'waiting')
    .map(({ facts }) => facts.startedAt + patienceMs);
  const turnsAt = Math.min(...[...turns, overdueAt].filter((at) => at > seen.now));
  return {
    verdict: verdictOf(seen, seen.now >= overdueAt ? due : undefined),
    standing: standingOf(seen, due),
    turnsAt: turnsAt === Infinity ? undefined : turnsAt,
  };
}

/** The Job that there is something to say of: one that does not start, or else the last that ended, if it failed. */
export function toldJob({ jobs, now }: Pick<BackupSeen, 'jobs' | 'now'>): BackupJob | undefined {
  const stuck = jobs.find(({ facts }) => facts.outcome === 'waiting' && now >= facts.startedAt + patienceMs);
  if (stuck !== undefined) return stuck;
  const [last] = jobs.filter(({ facts }) => hasEnded(facts)).toSorted((a, b) => b.facts.endedAt - a.facts.endedAt);
  return last?.facts.outcome === 'failed' ? last : undefined;
}

function standingOf(seen: BackupSeen, due: number | undefined): Standing | undefined {
  if (seen.backup === undefined) return undefined;
  const last = knownSuccess(seen);
  return {
    ...(last === undefined ? {} : { lastSuccessTime: timestamp(last) }),
    ...(due === undefined ? {} : { dueTime: timestamp(due) }),
    schedule: scheduleOf(seen.backup),
  };
}

/** @param missed when the one was due that is overdue, in milliseconds */
function verdictOf(seen: BackupSeen, missed: number | undefined): Verdict {
  const { backup, words } = seen;
  if (backup === undefined) return no('BackupOff', 'spec.backup is not set: no backups are made.');
  const good = lastGood(seen);
  if (backup.suspend === true)
    return no('BackupSuspended', `spec.backup.suspend is true: backups are suspended. ${good}`);
  const job = toldJob(seen);
  if (job?.facts.outcome === 'waiting') {
    const why = words ?? 'nothing says why';
    return no(
      'BackupStuck',
      `Job ${job.name} has waited since ${timestamp(job.facts.startedAt)} for its pod to start: ${why}. ${good}`,
    );
  }
  if (missed !== undefined) {
    return no(
      'BackupOverdue',
      `The backup that was due at ${timestamp(missed)} is missing: ${inTheWay(seen)}. ${good}`,
    );
  }
  if (job !== undefined) {
    const why = [job.facts.why, words].filter(Boolean).join(': ');
    return no('BackupFailed', `Job ${job.name} failed: ${why}. ${good}`);
  }
  if (knownSuccess(seen) === undefined) {
    return no('NoBackupYet', `No backup has ended yet; the schedule is ${backup.schedule}.`);
  }
  return { holds: true, reason: 'BackupSucceeded', message: good };
}

function inTheWay({ cronJob, jobs }: BackupSeen): string {
  const [running] = jobs.filter(({ facts }) => !hasEnded(facts));
  if (running !== undefined) return `Job ${running.name} has not ended yet`;
  if (cronJob === undefined) return 'its CronJob is not there';
  if (cronJob.isSuspended) return 'its CronJob is suspended';
  return 'no Job has ended since; look at the events of its CronJob, and whether the controller of CronJobs runs';
}

function hasEnded({ outcome }: BackupJob['facts']): boolean {
  return outcome === 'succeeded' || outcome === 'failed';
}

/** When the last good backup ended, in milliseconds of the wall clock; undefined where there is none. */
export function lastSuccess({ jobs, cronJob }: Pick<BackupSeen, 'jobs' | 'cronJob'>): number | undefined {
  return latest([cronJob?.lastSuccess, ...endsOf(jobs, 'succeeded')]);
}

/** The same, also where the CronJob was deleted: the last status knows. */
function knownSuccess({ jobs, cronJob, before, now }: BackupSeen): number | undefined {
  const told = Date.parse(before?.lastSuccessTime ?? '');
  return latest([lastSuccess({ jobs, cronJob }), told <= now ? told : undefined]);
}

function endsOf(jobs: BackupSeen['jobs'], outcome: BackupJob['facts']['outcome']): readonly number[] {
  return jobs.filter(({ facts }) => facts.outcome === outcome).map(({ facts }) => facts.endedAt);
}

function latest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((at) => at !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

function lastGood(seen: BackupSeen): string {
  const last = knownSuccess(seen);
  return last === undefined ? 'There is no good backup yet.' : `The last good backup ended at ${timestamp(last)}.`;
}

function no(reason: Verdict['reason'], message: string): Verdict {
  return { holds: false, reason, message };
}
