import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Primaries } from '../../../controller/metrics/primaries.ts';
import { VirtualClock } from '../../virtual-clock.ts';

const key = 'shop/orders';

function setUp() {
  const clock = new VirtualClock();
  const primaries = new Primaries(clock);
  /** Failovers that were counted after each of what is seen. */
  const counts = (...seen: readonly (string | undefined)[]): readonly number[] =>
    seen.map((primary) => {
      primaries.see(key, primary);
      return primaries.failovers(key);
    });
  return { clock, primaries, counts };
}

describe('a change of the primary', () => {
  test('that nobody asked for is a failover, also with a time without any between', () => {
    const { counts } = setUp();
    assert.deepEqual(counts('orders-0', undefined, 'orders-1', 'orders-1', 'orders-0'), [0, 0, 1, 1, 2]);
  });

  test('that was asked for is none, and the next one is', () => {
    const { primaries, counts } = setUp();
    primaries.see(key, 'orders-0');
    primaries.ask(key);
    assert.deepEqual(counts('orders-0', 'orders-1', 'orders-2'), [0, 0, 1]);
  });

  test('long after it was asked for has another cause', async () => {
    const { primaries, clock, counts } = setUp();
    primaries.see(key, 'orders-0');
    primaries.ask(key);
    await clock.advance(300_001);
    assert.deepEqual(counts('orders-1'), [1]);
  });

  test('back to the same member is none: it only was away', () => {
    const { counts } = setUp();
    assert.deepEqual(counts('orders-0', undefined, 'orders-0'), [0, 0, 0]);
  });

  test('between databases of one name is none, and the new one begins at 0', () => {
    const { primaries, counts } = setUp();
    assert.deepEqual(counts('orders-2', 'orders-1'), [0, 1]);
    primaries.forget(key);
    assert.deepEqual(counts('orders-0'), [0]);
  });
});
