import assert from 'node:assert/strict';
import test from 'node:test';
import { TextPool } from '../../../controller/runtime/text-pool.ts';

test('equal texts are remembered once, and what was not asked for lately is forgotten', () => {
  // GIVEN
  const pool = new TextPool(10);
  // WHEN one is asked for again and again among a thousand others
  for (let i = 0; i < 1000; i++) {
    assert.equal(pool.share('StatefulSet'), 'StatefulSet');
    assert.equal(pool.share(`uid-${i}`), `uid-${i}`);
    assert.equal(pool.share(`uid-${i}`), `uid-${i}`);
  }
  // THEN
  assert.ok(pool.size >= 10 && pool.size <= 20, `${pool.size} texts`);
  assert.equal(pool.has('StatefulSet'), true);
  assert.equal(pool.has('uid-0'), false);
  assert.equal(pool.has('uid-999'), true);
});
