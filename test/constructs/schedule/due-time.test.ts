import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { loadAll } from 'js-yaml';
import { timeZones } from '../../../constructs/api/time-zones.ts';
import { cronOf } from '../../../constructs/schedule/cron.ts';
import { dueAfter } from '../../../constructs/schedule/due-time.ts';
import { Zone } from '../../../constructs/schedule/zone.ts';

const fixtures = fileURLToPath(new URL('../../fixtures', import.meta.url));

/** The times that follow, RFC 3339. */
function due(schedule: string, zone: string, after: string, count: number, first = 0): readonly string[] {
  const [cron, clock] = [cronOf(schedule), Zone.of(zone)];
  assert.ok(cron && clock, `${schedule} in ${zone}`);
  const times: string[] = [];
  let at: number | undefined = Date.parse(after);
  while (times.length < count) {
    at = dueAfter(cron, clock, at, first);
    if (at === undefined) break;
    times.push(new Date(at).toISOString().replace('.000Z', 'Z'));
  }
  return times;
}

// Made by the program beside it: cut -d';' -f1-3 due-times.txt | go run .
test('due times are those of the CronJob controller, in nights in which clocks change too', () => {
  const lines = readFileSync(`${fixtures}/due-times/due-times.txt`, 'utf8').trimEnd().split('\n');
  assert.ok(lines.length > 2000);
  for (const line of lines) {
    const [schedule = '', zone = '', after = '', ...times] = line.split(';');
    assert.deepEqual(due(schedule, zone, after, times.length), times, line);
  }
});

// kubernetes/kubernetes#121594
for (const [what, zone, after, times] of [
  [
    'there is no 02:30 in Berlin in the night that loses an hour: 47 hours',
    'Europe/Berlin',
    '2027-03-27T00:00:00Z',
    ['2027-03-27T01:30:00Z', '2027-03-29T00:30:00Z'],
  ],
  [
    'there are two in the one that gains it',
    'Europe/Berlin',
    '2027-10-30T12:00:00Z',
    ['2027-10-31T00:30:00Z', '2027-10-31T01:30:00Z', '2027-11-01T01:30:00Z'],
  ],
  [
    'there is none in New York in March',
    'America/New_York',
    '2027-03-13T00:00:00Z',
    ['2027-03-13T07:30:00Z', '2027-03-15T06:30:00Z'],
  ],
  [
    'on Lord Howe, which loses half an hour, the clock goes from 02:00 to 02:30',
    'Australia/Lord_Howe',
    '2027-10-02T00:00:00Z',
    ['2027-10-02T15:30:00Z', '2027-10-03T15:30:00Z'],
  ],
] as const) {
  test(`of 30 2 * * *: ${what}`, () => {
    assert.deepEqual(due('30 2 * * *', zone, after, times.length), times);
  });
}

test('distances begin when the CronJob made a Job last', () => {
  const first = Date.parse('2027-01-01T00:00:10Z');
  assert.deepEqual(due('@every 1h30m15s', 'Etc/UTC', '2027-01-01T02:00:00Z', 2, first), [
    '2027-01-01T03:00:40Z',
    '2027-01-01T04:30:55Z',
  ]);
  assert.deepEqual(due('@every 6h', 'Etc/UTC', '2026-12-31T00:00:00Z', 1, first), ['2027-01-01T06:00:10Z']);
});

test('a date that no year of the next five has is never due', () => {
  assert.deepEqual(due('0 0 29 2 *', 'Etc/UTC', '2096-03-01T00:00:00Z', 1), []);
  assert.deepEqual(due('0 0 30 2 *', 'Etc/UTC', '2027-01-01T00:00:00Z', 1), []);
});

test('every schedule that the API accepts is due at some time', () => {
  const paths = globSync(`${fixtures}/specs/valid/schedule-*.yaml`);
  assert.ok(paths.length > 10);
  for (const path of paths) {
    const [resource] = loadAll(readFileSync(path, 'utf8')) as { spec: { backup: { schedule: string } } }[];
    assert.equal(due(resource?.spec.backup.schedule ?? '', 'Europe/Berlin', '2027-01-01T00:00:00Z', 1).length, 1, path);
  }
});

for (const schedule of [
  '',
  '* * * *',
  '* * * * * *',
  '60 * * * *',
  '5-1 * * * *',
  '*/0 * * * *',
  '1,,2 * * * *',
  '@every x',
  '@reboot',
  'x * * * *',
  '* * * foo *',
]) {
  test(`${JSON.stringify(schedule)} is no schedule, and no mistake of ours`, () => {
    assert.equal(cronOf(schedule), undefined);
  });
}

test('every zone that the API accepts has a clock, and no other name does', () => {
  assert.deepEqual(
    timeZones.filter((name) => Zone.of(name) === undefined),
    [],
  );
  assert.equal(Zone.of('Europe/Atlantis'), undefined);
});
