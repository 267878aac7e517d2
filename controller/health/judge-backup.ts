import { timestamp } from '../certificates/lifetime.ts';
import type { Facts } from './facts.ts';
import type { Verdict } from './judge.ts';

/** What backups are judged by. */
export interface BackupSeen {
  /** `spec.backup`, as far as it matters here; undefined where there is none. */
  readonly backup: { readonly schedule?: string; readonly suspend?: boolean } | undefined;
  /** When the CronJob saw a backup succeed last, in milliseconds: Jobs are cleared away. */
  readonly lastSuccess: number | undefined;
  readonly jobs: readonly BackupJob[];
  /** What the pod of the last failed Job said at its end. */
  readonly words: string | undefined;
}

export interface BackupJob {
  readonly name: string;
  readonly uid: string;
  readonly facts: Extract<Facts, { kind: 'Job' }>;
}

/** Judges whether the last backup is a good one. Pure; there is exactly one reason. */
export function judgeBackup(seen: BackupSeen): Verdict {
  const { backup, words } = seen;
  if (backup === undefined) return no('BackupOff', 'spec.backup is not set: no backups are made.');
  const good = lastGood(seen);
  if (backup.suspend === true)
    return no('BackupSuspended', `spec.backup.suspend is true: backups are suspended. ${good}`);
  const job = lastEnded(seen.jobs);
  if (job?.facts.outcome === 'failed') {
    const why = [job.facts.why, words].filter(Boolean).join(': ');
    return no('BackupFailed', `Job ${job.name} failed: ${why}. ${good}`);
  }
  if (lastSuccess(seen) === undefined) {
    return no('NoBackupYet', `No backup has ended yet; the schedule is ${backup.schedule}.`);
  }
  return { holds: true, reason: 'BackupSucceeded', message: good };
}

/** The Job whose end came last. */
export function lastEnded(jobs: readonly BackupJob[]): BackupJob | undefined {
  return jobs
    .filter(({ facts }) => facts.outcome !== 'running')
    .toSorted((a, b) => b.facts.endedAt - a.facts.endedAt)[0];
}

function lastSuccess({ jobs, lastSuccess }: BackupSeen): number | undefined {
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
