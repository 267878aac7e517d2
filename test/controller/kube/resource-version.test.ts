import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareResourceVersions, isOlder } from '../../../controller/kube/index.ts';

test('resource versions are ordered as numbers, however long', () => {
  const rows: readonly (readonly [string, string, -1 | 0 | 1 | undefined])[] = [
    ['9', '10', -1],
    ['10', '9', 1],
    ['10', '10', 0],
    ['9007199254740993', '9007199254740992', 1],
    ['99999999999999999999', '100000000000000000000', -1],
    ['', '10', undefined],
    ['0', '10', undefined],
    ['abc', '10', undefined],
    ['010', '10', undefined],
  ];
  for (const [a, b, expected] of rows) assert.equal(compareResourceVersions(a, b), expected, `${a} and ${b}`);
});

test('a version counts as older only if both are known numbers', () => {
  assert.equal(isOlder('5', '6'), true);
  assert.equal(isOlder('6', '6'), false);
  assert.equal(isOlder('x', '6'), false);
  assert.equal(isOlder(undefined, '6'), false);
  assert.equal(isOlder('5', undefined), false);
});
