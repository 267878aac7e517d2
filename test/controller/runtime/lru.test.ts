import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lru } from '../../../controller/runtime/lru.ts';

test('a full map forgets what was used longest ago, where a look is a use', () => {
  const lru = new Lru<number>(2);
  lru.set('a', 1);
  lru.set('b', 2);
  assert.equal(lru.get('a'), 1);
  lru.set('c', 3);
  assert.deepEqual([lru.get('a'), lru.get('b'), lru.get('c')], [1, undefined, 3]);
  assert.equal(lru.size, 2);
});
