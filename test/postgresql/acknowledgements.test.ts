import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longestGap, lostRows, type Acknowledgement } from './acknowledgements.ts';

const at = (...seconds: readonly number[]): Acknowledgement[] => seconds.map((at, i) => ({ number: i + 1, at }));

for (const [what, acknowledgements, after, gap] of [
  ['nothing was acknowledged', at(), 0, 0],
  ['a pause after the fault', at(1, 2, 6, 7), 2.5, 4],
  ['a pause that the fault falls into', at(1, 2, 6, 7), 4, 4],
  ['a pause before the fault does not count', at(1, 5, 6, 8), 5.5, 2],
  ['the longest of several', at(1, 3, 8, 9, 11), 0, 5],
] as const) {
  test(`the longest time without a row: ${what}`, () => {
    assert.equal(longestGap(acknowledgements, after), gap);
  });
}

test('a row is lost that was acknowledged and is not in the table; one too many there is none', () => {
  assert.deepEqual(lostRows(at(1, 2, 3), new Set([1, 3, 4])), [2]);
});
