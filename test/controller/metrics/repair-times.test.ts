import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RepairTimes } from '../../../controller/metrics/repair-times.ts';
import { VirtualClock } from '../../virtual-clock.ts';

const key = 'shop/orders';

function setUp() {
  const clock = new VirtualClock();
  const times = new RepairTimes(clock);
  /** A run of some milliseconds; @returns what had passed at its end */
  const run = (ms: number) =>
    times.during(key, async () => {
      await clock.advance(ms);
      return times.elapsed(key);
    });
  return { clock, times, run };
}

describe('the time of a repair', () => {
  test('begins with the first change that no run has seen', async () => {
    const { clock, times, run } = setUp();
    times.changed(key);
    await clock.advance(30);
    times.changed(key);
    await clock.advance(20);
    assert.equal(await run(5), 55);
    assert.equal(await run(5), undefined);
  });

  test('does not begin before a change that came during the run before', async () => {
    const { clock, times } = setUp();
    times.changed(key);
    await times.during(key, async () => {
      await clock.advance(100);
      times.changed(key);
      await clock.advance(10);
    });
    await times.during(key, async () => assert.equal(times.elapsed(key), 10));
  });

  test('goes on when a run fails', async () => {
    const { clock, times, run } = setUp();
    times.changed(key);
    const failed = times.during(key, async () => {
      await clock.advance(1_000);
      throw new Error('the API server is away');
    });
    await assert.rejects(failed);
    times.changed(key);
    assert.equal(await run(500), 1_500);
  });

  test('is none where nothing changed', async () => {
    const { run } = setUp();
    assert.equal(await run(5), undefined);
  });
});
