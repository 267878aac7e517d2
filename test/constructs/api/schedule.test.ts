import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { violation } from '../../../constructs/api/cel.ts';
import { scheduleRules } from '../../../constructs/api/schedule.ts';

function broken(schedule: string): string | undefined {
  return scheduleRules.map((rule) => violation(rule, schedule, undefined)).find((message) => message !== undefined);
}

/** The days and months of a schedule without names, by counting through them as robfig/cron does. */
function comes([, , day = '', month = '', weekday = '']: readonly string[]): boolean {
  const lengths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  const isAny = (field: string): boolean => field.split(',').some((item) => /^[*?](\/1)?$/.test(item));
  if (!isAny(day) && !isAny(weekday)) return true;
  return lengths.some(
    (length, index) => takesIn(month, index + 1, 12) && range(1, length).some((date) => takesIn(day, date, 31)),
  );
}

function takesIn(field: string, value: number, greatest: number): boolean {
  return field.split(',').some((item) => {
    const [span = '', step] = item.split('/');
    const [from, to] = /[*?]/.test(span) ? [1, greatest] : span.split('-').map(Number);
    const last = to ?? (step === undefined ? from : greatest);
    return (
      from !== undefined &&
      last !== undefined &&
      value >= from &&
      value <= last &&
      (value - from) % Number(step ?? 1) === 0
    );
  });
}

const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);

const item = (least: number, greatest: number): fc.Arbitrary<string> => {
  const number = fc.integer({ min: least, max: greatest });
  const span = fc.tuple(number, number).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
  const base = fc.oneof(number.map(String), span, fc.constantFrom('*', '?'));
  return fc
    .tuple(
      base,
      fc.oneof(
        fc.constant(''),
        fc.integer({ min: 1, max: 13 }).map((step) => `/${step}`),
      ),
    )
    .map((parts) => parts.join(''));
};
const list = (of: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.array(of, { minLength: 1, maxLength: 3 }).map((items) => items.join(','));

test('exactly the dates that never come are refused', () => {
  const late = fc.oneof(
    item(30, 31).filter((text) => !/^[*?]/.test(text)),
    item(1, 31),
  );
  const fields = fc.tuple(
    fc.constant('0'),
    fc.constant('0'),
    list(late),
    list(fc.oneof(item(1, 12), fc.constantFrom('2', '4', '11', '2/9', '4-10/5', '6/5', '2-3/2'))),
    fc.oneof(fc.constantFrom('*', '?', '*/1', '*/2', '1,*'), list(item(0, 6))),
  );
  let never = 0;
  fc.assert(
    fc.property(fields, (schedule) => {
      const isRefused = broken(schedule.join(' '))?.includes('never comes') ?? false;
      if (isRefused) never += 1;
      assert.equal(isRefused, !comes(schedule), schedule.join(' '));
    }),
    { numRuns: 5000, seed: 31 },
  );
  assert.ok(never > 100, `only ${never} of them never come`);
});

test('every way to write a month that is too short is found', () => {
  for (const from of range(1, 12))
    for (const to of [undefined, ...range(from, 12)])
      for (const step of [undefined, ...range(1, 13)])
        for (const day of ['30', '31']) {
          const month = `${from}${to === undefined ? '' : `-${to}`}${step === undefined ? '' : `/${step}`}`;
          assert.equal(
            broken(`0 0 ${day} ${month} *`) === undefined,
            comes(['', '', day, month, '*']),
            `${day} ${month}`,
          );
        }
});

describe('what is wrong is said in words', () => {
  const cases: readonly [schedule: string, message: RegExp | undefined][] = [
    ['30 2 * * *', undefined],
    [' 30\t2  * JAN-mar ? ', undefined],
    ['@every 6h', undefined],
    ['TZ=Europe/Berlin 0 3 * * *', /use timeZone$/],
    ['CRON_TZ=UTC 0 3 * * *', /use timeZone$/],
    ['0 3 * * 7', /day of week 0-6/],
    ['0 22-4 * * *', /runs backwards: write 22-23,0-4/],
    ['0 3 * * FRI-mon', /runs backwards/],
    ['0 3 * nov-2 *', /runs backwards/],
    ['0 0 31 feb ?', /never comes/],
    ['@every 0h', /length of time/],
    ['@every ', /length of time/],
    ['@hourly ', /five fields/],
  ];
  for (const [schedule, message] of cases) {
    test(JSON.stringify(schedule), () => {
      if (message === undefined) assert.equal(broken(schedule), undefined);
      else assert.match(broken(schedule) ?? '', message);
    });
  }
});
