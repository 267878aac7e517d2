import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { goScalar, ScalarError } from '../../../constructs/api/go-scalar.ts';

describe('a scalar without quotes is what Go takes it for', () => {
  const cases: readonly [text: string, value: unknown][] = [
    ['on', true], ['Off', false], ['y', true], ['N', false], ['YES', true], ['no', false], ['True', true], ['tRue', 'tRue'],
    ['', null], ['~', null], ['null', null], ['Null', null], ['nUll', 'nUll'],
    ['17', 17], ['17.10', 17.1], ['1.', 1], ['.5', 0.5], ['-.5', -0.5], ['+5', 5], ['-0', 0], ['1e3', 1000], ['1E-3', 0.001], ['.5e1', 5],
    ['0600', 384], ['0o17', 15], ['0O17', 15], ['0x1F', 31], ['-0x1f', -31], ['0b101', 5], ['08', 8], ['0_7', 7], ['1_000', 1000], ['1__0', 10],
    ['_1', '_1'], ['._5', '._5'], ['.', '.'], ['-', '-'], ['+', '+'], ['0x', '0x'], ['0b2', '0b2'], ['1e', '1e'], ['1.2.3', '1.2.3'],
    ['1:30', '1:30'], ['2026-11-29', '2026-11-29'], ['2026-11-29T00:00:00Z', '2026-11-29T00:00:00Z'], ['10Gi', '10Gi'], ['1e999', '1e999'],
    ['99999999999999999999', 1e20], ['0xFFFFFFFFFFFFFFFFF', '0xFFFFFFFFFFFFFFFFF'], ['18446744073709551615', 2 ** 64],
    ['.inf', Infinity], ['-.Inf', -Infinity], ['+.INF', Infinity], ['.nan', NaN], ['inf', 'inf'], ['=', '='], ['<<', '<<'], ['１７', '１７'],
  ]; // prettier-ignore
  for (const [text, value] of cases)
    test(JSON.stringify(text), () => assert.deepEqual(noMinusZero(goScalar(text, undefined, true)), value));
});

test('in quotes it is text, whatever it looks like', () => {
  for (const text of ['on', '17', '', '~', '0o17', '1:30']) assert.equal(goScalar(text, undefined, false), text);
});

describe('a tag decides', () => {
  const yaml = 'tag:yaml.org,2002:';
  const cases: readonly [text: string, tag: string, value: unknown][] = [
    ['17', `${yaml}str`, '17'],
    ['3', `${yaml}int`, 3],
    ['3', `${yaml}float`, 3],
    ['on', `${yaml}bool`, true],
    ['', `${yaml}null`, null],
    ['2026-11-29', `${yaml}timestamp`, '2026-11-29'],
    ['aGk=', `${yaml}binary`, 'hi'],
    ['17', '!own', '17'],
    ['17', '!', '17'],
  ];
  for (const [text, tag, value] of cases) test(`${tag} ${text}`, () => assert.equal(goScalar(text, tag, false), value));
  for (const [text, tag] of [
    ['x', 'int'],
    ['1.5', 'int'],
    ['1', 'bool'],
    ['x', 'null'],
    ['x', 'timestamp'],
    ['%', 'binary'],
  ] as const)
    test(`${tag} does not fit ${text}`, () => assert.throws(() => goScalar(text, yaml + tag, true), ScalarError));
});

function noMinusZero(value: unknown): unknown {
  return value === 0 ? 0 : value;
}
