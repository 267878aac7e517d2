import { timestamp } from '../kube/index.ts';
import type { Facts } from './facts.ts';
import type { Verdict } from './judge.ts';

/** What backups are judged by. */
export interface BackupSeen {
  /** `spec.backup`, as far as it matters here; undefined where there is none. */
  readonly backup: { readonly schedule?: string; readonly suspend?: boolean } | undefined;
  /** When the CronJob saw a backup succeed last, in milliseconds: Jobs are cleared away. */
  readonly lastSuccess: number | undefined;
  readonly jobs: readonly BackupJob[];
  /** Why the Job that is told of failed or waits, in the words of its pod. */
  readonly words: string | undefined;
  /** Milliseconds of the wall clock. */
  readonly now: number;
}

export interface BackupVerdict {
  readonly verdict: Verdict;
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

/** Judges whether the last backup is a good one. Pure; there is exactly one reason. */
export function judgeBackup(seen: BackupSeen): BackupVerdict {
  const turns = seen.jobs
    .filter(({ facts }) => facts.outcome === 'waiting')
    .map(({ facts }) => facts.startedAt + patienceMs);
  const turnsAt = Math.min(...turns.filter((at) => at > seen.now));
  return { verdict: verdictOf(seen), turnsAt: turnsAt === Infinity ? undefined : turnsAt };
}

/** The Job that there is something to say of: one that does not start, or else the last that ended, if it failed. */
export function toldJob({ jobs, now }: Pick<BackupSeen, 'jobs' | 'now'>): BackupJob | undefined {
  const stuck = jobs.find(({ facts }) => facts.outcome === 'waiting' && now >= facts.startedAt + patienceMs);
  if (stuck !== undefined) return stuck;
  const [last] = jobs.filter(({ facts }) => hasEnded(facts)).toSorted((a, b) => b.facts.endedAt - a.facts.endedAt);
  return last?.facts.outcome === 'failed' ? last : undefined;
}

function verdictOf(seen: BackupSeen): Verdict {
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
  if (job !== undefined) {
    const why = [job.facts.why, words].filter(Boolean).join(': ');
    return no('BackupFailed', `Job ${job.name} failed: ${why}. ${good}`);
  }
  if (lastSuccess(seen) === undefined) {
    return no('NoBackupYet', `No backup has ended yet; the schedule is ${backup.schedule}.`);
  }
  return { holds: true, reason: 'BackupSucceeded', message: good };
}

function hasEnded({ outcome }: BackupJob['facts']): boolean {
  return outcome === 'succeeded' || outcome === 'failed';
}

/** When the last good backup ended, in milliseconds of the wall clock; undefined where there is none. */
export function lastSuccess({ jobs, lastSuccess }: Pick<BackupSeen, 'jobs' | 'lastSuccess'>): number | undefined {
  const ends = jobs.filter(({ facts }) => facts.outcome === 'succeeded').map(({ facts }) => facts.endedAt);
  const last = Math.max(lastSuccess ?? -Infinity, ...ends);
  return last === -Infinity ? undefined : last;
}

function lastGood(seen: BackupSeen): string {
  const last = lastSuccess(seen);
  return last === undefined ? 'There is no good backup yet.' : `The last good backup ended at ${timestamp(last)}.`;
}

function no(reason: Verdict['reason'], message: string): Verdict {
  return { holds: false, reason, message };
}
