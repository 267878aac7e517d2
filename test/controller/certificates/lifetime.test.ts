import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expiringTime, lifetimeOf, renewalTime } from '../../../controller/certificates/lifetime.ts';
import { timestamp } from '../../../controller/kube/index.ts';

const hours = (count: number): number => count * 3_600_000;
const days = (count: number): number => hours(24 * count);

for (const [title, life, renewal, expiring] of [
  ['of ninety days', days(90), days(60), days(83)],
  ['of a month', days(30), days(20), days(25)],
  ['of an hour', hours(1), hours(2 / 3), hours(5 / 6)],
  ['of ten years', days(3650), days(3650 * (2 / 3)), days(3643)],
] as const) {
  test(`a certificate ${title} is renewed at two thirds of its life, and close to its end well after that`, () => {
    const lifetime = { notBefore: days(1), notAfter: days(1) + life };
    assert.equal(Math.round(renewalTime(lifetime)), Math.round(days(1) + renewal));
    assert.equal(Math.round(expiringTime(lifetime)), Math.round(days(1) + expiring));
  });
}

test('times come back as they were written', () => {
  const [from, until] = ['2026-01-01T00:00:00Z', '2049-12-31T23:59:59Z'];
  const found = lifetimeOf(from, until);
  assert.ok(found);
  assert.deepEqual([timestamp(found.notBefore), timestamp(found.notAfter)], [from, until]);
});

test('what makes no life is none', () => {
  const time = '2026-01-01T00:00:00Z';
  for (const [from, until] of [
    [undefined, time],
    [time, undefined],
    [time, time],
    ['2026-01-02T00:00:00Z', time],
    [time, 'soon'],
    [time, '2026-13-01T00:00:00Z'],
    [time, 1_800_000_000_000],
    ['2026', time],
  ]) {
    assert.equal(lifetimeOf(from, until), undefined, `${from} ${until}`);
  }
});
