import assert from 'node:assert/strict';
import test from 'node:test';
import { cronOf } from '../../../constructs/schedule/cron.ts';
import { dueAfter } from '../../../constructs/schedule/due-time.ts';
import { Zone } from '../../../constructs/schedule/zone.ts';
import {
  judgeBackup,
  type BackupJob,
  type BackupSeen,
  type BackupVerdict,
} from '../../../controller/health/judge-backup.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const at = Date.parse;

const cronJob: NonNullable<BackupSeen['cronJob']> = {
  kind: 'CronJob',
  lastSuccess: undefined,
  lastSchedule: undefined,
  createdAt: at('2027-03-01T12:00:00Z'),
  isSuspended: false,
};
const nightly: BackupSeen = {
  backup: { schedule: '30 2 * * *', timeZone: 'Europe/Berlin' },
  cronJob: { ...cronJob, lastSuccess: at('2027-03-10T01:40:00Z') },
  jobs: [],
  words: undefined,
  before: { schedule: '30 2 * * * Europe/Berlin', dueTime: '2027-03-11T01:30:00Z' },
  now: at('2027-03-10T12:00:00Z'),
};

function job(facts: Partial<BackupJob['facts']>): BackupJob {
  return {
    name: 'one',
    uid: 'u',
    facts: { kind: 'Job', outcome: 'running', startedAt: 0, endedAt: 0, why: '', ...facts },
  };
}

const said = ({ verdict, turnsAt, standing }: BackupVerdict): readonly unknown[] => [
  verdict.reason,
  turnsAt === undefined ? undefined : new Date(turnsAt).toISOString(),
  standing?.dueTime,
];

// kubernetes/kubernetes#121594
for (const [zone, from, to, longest, shortest] of [
  ['Europe/Berlin', '2027-03-25', '2027-04-01', 47, 24],
  ['Europe/Berlin', '2027-10-28', '2027-11-04', 24, 1],
  ['America/New_York', '2027-03-11', '2027-03-18', 47, 24],
  ['America/New_York', '2027-11-04', '2027-11-11', 25, 24],
  ['Australia/Lord_Howe', '2027-09-30', '2027-10-07', 24, 23.5],
  ['Australia/Lord_Howe', '2027-04-01', '2027-04-08', 24.5, 24],
] as const) {
  test(`no night in which clocks change raises an alarm: 30 2 * * * in ${zone} from ${from}`, () => {
    // GIVEN the Jobs that Kubernetes makes, each of which takes 40 minutes
    const cron = cronOf('30 2 * * *');
    const clock = Zone.of(zone);
    assert.ok(cron && clock);
    const times: number[] = [];
    for (
      let due = dueAfter(cron, clock, at(from), 0) ?? NaN;
      due < at(to);
      due = dueAfter(cron, clock, due, 0) ?? NaN
    ) {
      times.push(due);
    }
    const gaps = times.slice(1).map((due, i) => (due - (times[i] ?? NaN)) / hourMs);
    assert.deepEqual([Math.max(...gaps), Math.min(...gaps)], [longest, shortest]);

    // WHEN it is judged every five minutes from the end of the first one on
    let before: BackupSeen['before'];
    const [first = NaN, ...later] = times;
    for (let now = first + hourMs; now < (times.at(-1) ?? NaN); now += 5 * minuteMs) {
      const jobs = times
        .filter((due) => due <= now)
        .map((due) => {
          const endedAt = due + 40 * minuteMs;
          return job(endedAt <= now ? { outcome: 'succeeded', startedAt: due, endedAt } : { startedAt: due });
        });
      const { verdict, standing } = judgeBackup({
        ...nightly,
        backup: { schedule: '30 2 * * *', timeZone: zone },
        cronJob,
        jobs,
        before,
        now,
      });

      // THEN it is current, and the next one is the next that Kubernetes makes
      const text = new Date(now).toISOString();
      assert.deepEqual([verdict.holds, verdict.reason], [true, 'BackupSucceeded'], text);
      assert.equal(
        at(standing?.dueTime ?? ''),
        later.find((due) => due + 40 * minuteMs > now),
        text,
      );
      before = standing;
    }
  });
}

test('a backup that is missing is told when it can no longer come, by one timer', () => {
  // GIVEN one that is due in the night
  const early = judgeBackup(nightly);
  assert.deepEqual(said(early), ['BackupSucceeded', '2027-03-11T02:35:00.000Z', '2027-03-11T01:30:00Z']);

  // WHEN an hour and five minutes have passed, THEN it is overdue, and nothing but an event ends that
  const now = early.turnsAt ?? NaN;
  assert.equal(judgeBackup({ ...nightly, now: now - 1 }).verdict.reason, 'BackupSucceeded');
  const late = judgeBackup({ ...nightly, now });
  assert.deepEqual(said(late), ['BackupOverdue', undefined, '2027-03-11T01:30:00Z']);
  assert.equal(late.verdict.holds, false);
  assert.equal(
    late.verdict.message,
    'The backup that was due at 2027-03-11T01:30:00Z is missing: no Job has ended since; look at the events of its CronJob, and whether the controller of CronJobs runs. The last good backup ended at 2027-03-10T01:40:00Z.',
  );
});

for (const [what, seen, reason, words] of [
  ['the CronJob is not there', { cronJob: undefined }, 'BackupOverdue', /its CronJob is not there/],
  [
    'somebody has suspended the CronJob',
    { cronJob: { ...cronJob, isSuspended: true } },
    'BackupOverdue',
    /its CronJob is suspended\. There is no good backup yet/,
  ],
  [
    'the one before failed',
    { jobs: [job({ outcome: 'failed', endedAt: at('2027-03-10T01:45:00Z') })] },
    'BackupOverdue',
    /no Job has ended since/,
  ],
  [
    'the one that was due failed',
    { jobs: [job({ outcome: 'failed', endedAt: at('2027-03-11T01:45:00Z') })] },
    'BackupFailed',
    /Job one failed/,
  ],
  [
    'one goes on that began in time',
    { jobs: [job({ startedAt: at('2027-03-11T01:30:02Z') })] },
    'BackupSucceeded',
    /ended at 2027-03-10/,
  ],
  [
    'one goes on that nobody has ended at its deadline',
    { jobs: [job({ startedAt: at('2027-03-11T01:30:02Z') })], now: at('2027-03-11T07:35:02Z') },
    'BackupOverdue',
    /Job one has not ended yet/,
  ],
  [
    'one goes on that began too late: the alarm ends with a good one',
    { jobs: [job({ startedAt: at('2027-03-11T04:00:00Z') })], now: at('2027-03-11T05:00:00Z') },
    'BackupOverdue',
    /Job one has not ended yet/,
  ],
  ['a Job was made that nobody begins', { jobs: [job({})] }, 'BackupOverdue', /Job one has not ended yet/],
  [
    'one was made by hand',
    { jobs: [job({ outcome: 'succeeded', endedAt: at('2027-03-11T01:31:00Z') })] },
    'BackupSucceeded',
    /ended at 2027-03-11/,
  ],
] as const) {
  test(`past the time, when ${what}: ${reason}`, () => {
    const { verdict } = judgeBackup({ ...nightly, now: at('2027-03-11T02:40:00Z'), ...seen });
    assert.equal(verdict.reason, reason);
    assert.match(verdict.message, words);
  });
}

test('a CronJob that was deleted and is there again has not made what was due, and that it once did is still known', () => {
  const again = { ...cronJob, createdAt: at('2027-03-11T02:00:00Z') };
  const before = { ...nightly.before, schedule: '30 2 * * * Europe/Berlin', lastSuccessTime: '2027-03-10T01:40:00Z' };
  const { verdict } = judgeBackup({ ...nightly, cronJob: again, before, now: at('2027-03-11T02:40:00Z') });
  assert.equal(verdict.reason, 'BackupOverdue');
  assert.match(verdict.message, /ended at 2027-03-10T01:40:00Z\.$/);
});

test('a schedule that is new, or in force again, asks for nothing that lies behind it', () => {
  // GIVEN a last backup of nine days ago
  const old = { ...nightly, cronJob: { ...cronJob, lastSuccess: at('2027-03-01T12:30:00Z') } };
  const soon = ['BackupSucceeded', '2027-03-11T02:35:00.000Z', '2027-03-11T01:30:00Z'];

  // WHEN it was weekly until now, or suspended, THEN the next one counts
  assert.deepEqual(
    said(judgeBackup({ ...old, before: { schedule: '@weekly Etc/UTC', dueTime: '2027-03-08T00:00:00Z' } })),
    soon,
  );
  const suspended = judgeBackup({ ...old, backup: { ...nightly.backup, suspend: true } });
  assert.deepEqual(said(suspended), ['BackupSuspended', undefined, undefined]);
  assert.deepEqual(said(judgeBackup({ ...old, before: suspended.standing })), soon);
});

test('a lost status costs no more than a time that the CronJob was there for', () => {
  const { verdict, standing } = judgeBackup({ ...nightly, before: undefined, now: at('2027-03-12T12:00:00Z') });
  assert.deepEqual([verdict.reason, standing?.dueTime], ['BackupOverdue', '2027-03-11T01:30:00Z']);
  const fresh = { ...cronJob, createdAt: at('2027-03-12T11:00:00Z') };
  const young = judgeBackup({ ...nightly, cronJob: fresh, before: undefined, now: at('2027-03-12T12:00:00Z') });
  assert.deepEqual([young.verdict.reason, young.standing?.dueTime], ['NoBackupYet', '2027-03-13T01:30:00Z']);
});

test('a status that somebody has written over does not put the alarm off', () => {
  for (const [told, lastSuccessTime] of [
    ['2099-01-01T00:00:00Z', '2098-01-01T00:00:00Z'],
    ['nonsense', 'nonsense'],
  ] as const) {
    const before = { schedule: '30 2 * * * Europe/Berlin', dueTime: told, lastSuccessTime };
    assert.deepEqual(said(judgeBackup({ ...nightly, before })), said(judgeBackup(nightly)));
  }
});

test('@every is reckoned from the Job that was made last', () => {
  const { standing } = judgeBackup({
    ...nightly,
    backup: { schedule: '@every 6h' },
    cronJob: { ...cronJob, lastSchedule: at('2027-03-10T08:00:10Z'), lastSuccess: at('2027-03-10T08:01:00Z') },
    before: undefined,
  });
  assert.deepEqual(standing, {
    lastSuccessTime: '2027-03-10T08:01:00Z',
    dueTime: '2027-03-10T14:00:10Z',
    schedule: '@every 6h Etc/UTC',
  });
});

for (const backup of [{ schedule: 'nonsense' }, { schedule: '30 2 * * *', timeZone: 'Europe/Atlantis' }, {}]) {
  test(`a stored spec that breaks the rules is due at no time: ${JSON.stringify(backup)}`, () => {
    assert.deepEqual(said(judgeBackup({ ...nightly, backup })), ['BackupSucceeded', undefined, undefined]);
  });
}
