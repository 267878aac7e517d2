import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Primaries } from '../../../controller/metrics/primaries.ts';
import { VirtualClock } from '../../virtual-clock.ts';

const key = 'shop/orders';

function setUp() {
  const clock = new VirtualClock();
  return { clock, primaries: new Primaries(clock) };
}

describe('a change of the primary', () => {
  test('that nobody asked for is a failover, also with a time without any between', () => {
    const { primaries } = setUp();
    assert.equal(primaries.see(key, 'orders-0'), false);
    assert.equal(primaries.see(key, undefined), false);
    assert.equal(primaries.see(key, 'orders-1'), true);
    assert.equal(primaries.see(key, 'orders-1'), false);
  });

  test('that was asked for is none, and the next one is', () => {
    const { primaries } = setUp();
    primaries.see(key, 'orders-0');
    primaries.ask(key);
    assert.equal(primaries.see(key, 'orders-0'), false);
    assert.equal(primaries.see(key, 'orders-1'), false);
    assert.equal(primaries.see(key, 'orders-2'), true);
  });

  test('long after it was asked for has another cause', async () => {
    const { primaries, clock } = setUp();
    primaries.see(key, 'orders-0');
    primaries.ask(key);
    await clock.advance(300_001);
    assert.equal(primaries.see(key, 'orders-1'), true);
  });

  test('back to the same member is none: it only was away', () => {
    const { primaries } = setUp();
    primaries.see(key, 'orders-0');
    primaries.see(key, undefined);
    assert.equal(primaries.see(key, 'orders-0'), false);
  });

  test('between databases of one name is none', () => {
    const { primaries } = setUp();
    primaries.see(key, 'orders-2');
    primaries.forget(key);
    assert.equal(primaries.see(key, 'orders-0'), false);
  });
});
