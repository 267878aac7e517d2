import assert from 'node:assert/strict';
import test from 'node:test';
import { judgeBackup, type BackupJob, type BackupSeen } from '../../../controller/health/judge-backup.ts';

const noon = Date.parse('2026-01-01T12:00:00Z');
const backup = { schedule: '30 2 * * *' };
const cronJob: NonNullable<BackupSeen['cronJob']> = {
  kind: 'CronJob',
  lastSuccess: undefined,
  lastSchedule: undefined,
  createdAt: noon - 3_600_000,
  isSuspended: false,
};
const nothing: BackupSeen = { backup, cronJob, jobs: [], words: undefined, before: undefined, now: noon };

function job(outcome: BackupJob['facts']['outcome'], hour: number): BackupJob {
  const why = outcome === 'failed' ? 'BackoffLimitExceeded: Job has reached the specified backoff limit' : '';
  const endedAt = outcome === 'running' || outcome === 'waiting' ? 0 : noon + hour * 3_600_000;
  const startedAt = noon - 3_600_000;
  return {
    name: `orders-backup-${hour}`,
    uid: `uid-${hour}`,
    facts: { kind: 'Job', outcome, startedAt, endedAt, why },
  };
}

for (const [what, seen, reason] of [
  ['there are none in the spec', { backup: undefined }, 'BackupOff'],
  ['none was made yet', {}, 'NoBackupYet'],
  ['the first one runs', { jobs: [job('running', 1)] }, 'NoBackupYet'],
  ['the last one succeeded', { jobs: [job('succeeded', 1)] }, 'BackupSucceeded'],
  ['the Jobs were cleared away', { cronJob: { ...cronJob, lastSuccess: noon } }, 'BackupSucceeded'],
  ['the last one failed', { jobs: [job('failed', 2), job('succeeded', 1)] }, 'BackupFailed'],
  ['the pod of one does not start', { jobs: [job('waiting', 2), job('succeeded', 1)] }, 'BackupStuck'],
  ['one succeeded after one that failed', { jobs: [job('failed', 1), job('succeeded', 2)] }, 'BackupSucceeded'],
  ['the next one runs after one that failed', { jobs: [job('failed', 1), job('running', 2)] }, 'BackupFailed'],
  [
    'one failed, and then they were suspended',
    { backup: { ...backup, suspend: true }, jobs: [job('failed', 1)] },
    'BackupSuspended',
  ],
] as const) {
  test(`of backups is said, when ${what}: ${reason}`, () => {
    const { verdict } = judgeBackup({ ...nothing, ...seen });
    assert.deepEqual([verdict.reason, verdict.holds], [reason, reason === 'BackupSucceeded']);
  });
}

test('of a backup that failed are said the Job, the words of both, and when the last good one was', () => {
  const seen: BackupSeen = {
    ...nothing,
    cronJob: { ...cronJob, lastSuccess: noon },
    jobs: [job('failed', 2)],
    words: 'pg_dump: error: No space left on device',
  };
  assert.equal(
    judgeBackup(seen).verdict.message,
    'Job orders-backup-2 failed: BackoffLimitExceeded: Job has reached the specified backoff limit: pg_dump: error: No space left on device. The last good backup ended at 2026-01-01T12:00:00Z.',
  );
  assert.match(judgeBackup({ ...seen, cronJob }).verdict.message, /There is no good backup yet\.$/);
});

test('a pod has two minutes to start, and then it is said why it does not', () => {
  const one = job('waiting', 2);
  const { startedAt } = one.facts;
  const seen = { ...nothing, jobs: [one], words: 'Unschedulable: no such claim' };
  const early = judgeBackup({ ...seen, now: startedAt + 119_000 });
  assert.deepEqual([early.verdict.reason, early.turnsAt], ['NoBackupYet', startedAt + 120_000]);
  const { verdict, turnsAt } = judgeBackup({ ...seen, now: startedAt + 120_000 });
  assert.deepEqual([verdict.reason, turnsAt], ['BackupStuck', Date.parse('2026-01-02T03:35:00Z')]);
  assert.match(
    verdict.message,
    /^Job orders-backup-2 has waited since .* for its pod to start: Unschedulable: no such claim\./,
  );
});
