import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Backoff } from '../../../controller/kube/index.ts';

test('delays double from 0.8 s to 30 s and start anew after a success', () => {
  const backoff = new Backoff({ random: () => 0 });
  const delays = Array.from({ length: 8 }, () => backoff.next());
  assert.deepEqual(delays, [800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);
  backoff.reset();
  assert.equal(backoff.next(), 800);
});

test('jitter lengthens a delay by at most its share', () => {
  assert.equal(new Backoff({ random: () => 1 }).next(), 1200);
  assert.equal(new Backoff({ random: () => 1, jitter: 0 }).next(), 800);
});
