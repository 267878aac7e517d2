import assert from 'node:assert/strict';
import test from 'node:test';
import { clockNotes } from '../../constructs/clock-notes.ts';
import { orders } from './postgresql/orders.ts';

const from = Date.parse('2027-01-01T00:00:00Z');
const notes = (schedule: string, timeZone?: string): readonly string[] =>
  clockNotes(
    orders({ backup: { schedule, ...(timeZone === undefined ? {} : { timeZone }), volume: { size: '20Gi' } } }),
    from,
  );

for (const [schedule, zone, said] of [
  [
    '30 2 * * *',
    'Europe/Berlin',
    'on 2027-03-28 there is no 02:30, and no backup; on 2027-10-31 there are two 02:30s, and two backups that count as one',
  ],
  ['15 1 * * *', 'America/New_York', 'on 2027-11-07 there are two 01:15s, and two backups that count as one'],
  ['45 1 * * *', 'Australia/Lord_Howe', 'on 2027-04-04 there are two 01:45s, and two backups that count as one'],
  ['@daily', 'Africa/Cairo', 'on 2027-04-30 there is no 00:00, and no backup'],
  ['30 2 * * SUN', 'Europe/Berlin', 'on 2027-03-28 there is no 02:30, and no backup; on 2027-10-31'],
  // In no other of the next years it is the 25th, and in October later.
  ['30 2 25 3 *', 'Europe/Berlin', 'on 2029-03-25 there is no 02:30, and no backup'],
] as const) {
  test(`a night in which clocks change is noted: ${schedule} in ${zone}`, () => {
    const [note = '', ...more] = notes(schedule, zone);
    assert.ok(note.startsWith(`backup.schedule ${schedule} in ${zone}: clocks change; ${said}`), note);
    assert.deepEqual(more, []);
  });
}

for (const [what, schedule, zone] of [
  ['of a time that every night has', '0 4 * * *', 'Europe/Berlin'],
  ['of a day on which they never change', '30 2 * * MON', 'Europe/Berlin'],
  ['of a zone whose clock never changes', '30 2 * * *', 'Asia/Tokyo'],
  ['without a zone', '30 2 * * *', undefined],
  ['of every hour', '30 * * * *', 'Europe/Berlin'],
  ['of a distance', '@every 6h', 'Europe/Berlin'],
] as const) {
  test(`there is nothing to note ${what}`, () => {
    assert.deepEqual(notes(schedule, zone), []);
  });
}

test('without backups there is nothing to note', () => {
  assert.deepEqual(clockNotes(orders(), from), []);
});
