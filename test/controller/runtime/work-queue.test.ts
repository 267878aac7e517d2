import assert from 'node:assert/strict';
import { describe, mock, test } from 'node:test';
import { Heap, type HeapItem } from '../../../controller/runtime/heap.ts';
import { WorkQueue } from '../../../controller/runtime/work-queue.ts';
import { VirtualClock } from '../../virtual-clock.ts';

interface Setup {
  readonly clock: VirtualClock;
  readonly queue: WorkQueue;
}

function setUp(): Setup {
  const clock = new VirtualClock();
  return { clock, queue: new WorkQueue({ clock }) };
}

/** The keys that can be taken now, in order, each done at once. */
async function drain(queue: WorkQueue): Promise<string[]> {
  const keys: string[] = [];
  while (queue.stats.ready > 0) {
    const key = await queue.get();
    if (key === undefined) break;
    keys.push(key);
    queue.done(key);
  }
  return keys;
}

describe('the work queue', () => {
  test('a database that changes five times before it is looked at is looked at once', async () => {
    // GIVEN
    const { queue } = setUp();
    // WHEN
    for (let i = 0; i < 5; i++) queue.add('shop/orders');
    // THEN
    assert.deepEqual(await drain(queue), ['shop/orders']);
    assert.equal(queue.stats.adds, 1);
  });

  test('a database that changes while it is worked on runs once more, and never twice at a time', async () => {
    // GIVEN a run in progress
    const { queue } = setUp();
    queue.add('shop/orders');
    assert.equal(await queue.get(), 'shop/orders');
    // WHEN it changes twice meanwhile
    queue.add('shop/orders');
    queue.add('shop/orders');
    // THEN nobody else can take it until it is done
    assert.equal(queue.stats.ready, 0);
    queue.done('shop/orders');
    assert.deepEqual(await drain(queue), ['shop/orders']);
  });

  test('first come, first served', async () => {
    const { queue } = setUp();
    for (const key of ['c', 'a', 'b', 'a']) queue.add(key);
    assert.deepEqual(await drain(queue), ['c', 'a', 'b']);
  });

  test("a user's edit goes before the work of a start-up", async () => {
    // GIVEN all databases, queued by a start
    const { queue } = setUp();
    for (const key of ['a', 'b', 'c', 'd']) queue.add(key, { priority: -100 });
    // WHEN a user edits two of them
    queue.add('d');
    queue.add('c');
    // THEN these go first, in the order of the edits
    assert.deepEqual(await drain(queue), ['d', 'c', 'a', 'b']);
  });

  test('adding again never lowers the priority and never puts it off', async () => {
    // GIVEN
    const { queue, clock } = setUp();
    queue.add('urgent', { priority: 10 });
    queue.addAfter('soon', 1000);
    // WHEN
    queue.add('plain');
    queue.add('urgent', { priority: -100 });
    queue.addAfter('urgent', 60_000);
    queue.addAfter('soon', 60_000);
    // THEN
    assert.deepEqual(await drain(queue), ['urgent', 'plain']);
    await clock.advance(1000);
    assert.deepEqual(await drain(queue), ['soon']);
    await clock.advance(120_000);
    assert.deepEqual(await drain(queue), []);
  });

  test('an event brings forward what waited for its time', async () => {
    const { queue, clock } = setUp();
    queue.addAfter('shop/orders', 60_000);
    queue.add('shop/orders');
    assert.deepEqual(await drain(queue), ['shop/orders']);
    await clock.advance(120_000);
    assert.deepEqual(await drain(queue), []);
  });

  test('what is put off comes at its time, in the order of the times', async () => {
    const { queue, clock } = setUp();
    queue.addAfter('late', 300);
    queue.addAfter('early', 100);
    await clock.advance(99);
    assert.deepEqual(await drain(queue), []);
    await clock.advance(1);
    assert.deepEqual(await drain(queue), ['early']);
    await clock.advance(200);
    assert.deepEqual(await drain(queue), ['late']);
  });

  test('a failing key waits 5 ms, then twice as long each time, at most 1000 s, and 5 ms again after a success', () => {
    const { queue } = setUp();
    const delays = Array.from({ length: 20 }, () => queue.addRateLimited('shop/orders'));
    assert.deepEqual(delays.slice(0, 4), [5, 10, 20, 40]);
    assert.deepEqual(delays.slice(-2), [1_000_000, 1_000_000]);
    assert.equal(queue.addRateLimited('shop/billing'), 5, 'another key is not punished for it');
    queue.forget('shop/orders');
    assert.equal(queue.addRateLimited('shop/orders'), 5);
  });

  test('a requeue keeps the priority of the run that asks for it', async () => {
    // GIVEN a start-up run
    const { queue, clock } = setUp();
    queue.add('startup', { priority: -100 });
    await queue.get();
    // WHEN it fails and another key is added after the retry is due
    queue.addRateLimited('startup');
    queue.done('startup');
    await clock.advance(5);
    queue.add('edited');
    // THEN the retry is still start-up work
    assert.deepEqual(await drain(queue), ['edited', 'startup']);
  });

  test('what is put off while it is worked on keeps its time, counted from when it was asked for', async () => {
    const { queue, clock } = setUp();
    queue.add('a');
    await queue.get();
    queue.addAfter('a', 100);
    await clock.advance(60);
    queue.done('a');
    await clock.advance(39);
    assert.equal(queue.stats.ready, 0);
    await clock.advance(1);
    assert.equal(queue.stats.ready, 1);
  });

  test('a time further away than a Node timer can count is no busy loop', async () => {
    const { queue, clock } = setUp();
    queue.addAfter('a', 60 * 86_400_000);
    await clock.advance(59 * 86_400_000);
    assert.equal(queue.stats.ready, 0);
    assert.ok(clock.sleeps <= 4, `${clock.sleeps} sleeps`);
    await clock.advance(86_400_000);
    assert.equal(queue.stats.ready, 1);
  });

  test('a delay that is no number is refused instead of being lost', () => {
    const { queue } = setUp();
    assert.throws(() => queue.addAfter('a', Number.NaN), /can't add a after NaN ms/);
  });

  test('shutting down sends waiting workers home, takes nothing more and leaves no timer', async () => {
    // GIVEN a waiting worker, a running key and a delayed one
    const { queue, clock } = setUp();
    queue.add('running');
    await queue.get();
    const waiting = queue.get();
    queue.addAfter('later', 1000);
    // WHEN
    queue.shutDown();
    queue.add('new');
    queue.addRateLimited('running');
    queue.done('running');
    // THEN
    assert.equal(await waiting, undefined);
    assert.equal(await queue.get(), undefined);
    const { ready, delayed, running, adds, retries } = queue.stats;
    assert.deepEqual(
      { ready, delayed, running, adds, retries },
      { ready: 0, delayed: 0, running: 0, adds: 2, retries: 1 },
    );
    assert.equal(clock.sleeping, 0);
  });

  test('who observes it is told how long each key waited for a worker, and how long it was worked', async () => {
    // GIVEN a queue with one key that is worked, one that is ready and one whose time has not come
    const told: unknown[] = [];
    const clock = new VirtualClock();
    const observer = {
      added: () => told.push('added'),
      retried: () => told.push('retried'),
      taken: (waitedMs: number) => told.push({ waitedMs }),
      done: (workedMs: number) => told.push({ workedMs }),
    };
    const queue = new WorkQueue({ clock, observer });
    queue.add('a');
    queue.add('a');
    await clock.advance(20);
    await queue.get();
    queue.addAfter('later', 1_000);
    assert.deepEqual(told.splice(0), ['added', { waitedMs: 20 }, 'added']);
    // WHEN the first comes back while it is worked, and 1.5 s pass
    queue.addRateLimited('a', { atLeastMs: 1_500 });
    await clock.advance(1_500);
    // THEN
    assert.equal(queue.stats.longestRunningMs, 1_500);
    assert.equal(queue.stats.unfinishedMs, 1_500);
    queue.done('a');
    await queue.get();
    await clock.advance(300);
    await queue.get();
    assert.deepEqual(told, ['retried', 'added', { workedMs: 1_500 }, { waitedMs: 500 }, { waitedMs: 300 }]);
    assert.equal(queue.stats.longestRunningMs, 300);
    assert.equal(queue.stats.shortestRunningMs, 0);
  });

  test('why a key is worked on is what it was added for while it waited, each once', async () => {
    const queue = new WorkQueue({ clock: new VirtualClock() });
    for (const reason of ['start', 'object', 'object', undefined])
      queue.add('a', reason === undefined ? {} : { reason });
    assert.deepEqual(queue.reasons('a'), [], 'it waits');
    await queue.get();
    assert.deepEqual(queue.reasons('a'), ['start', 'object']);
    queue.addAfter('a', 0, { reason: 'due' });
    assert.deepEqual(queue.reasons('a'), ['start', 'object'], 'the next run is another');
    queue.done('a');
    await queue.get();
    assert.deepEqual(queue.reasons('a'), ['due']);
  });

  test('a worker that gives up waiting takes no key with it', async () => {
    const { queue } = setUp();
    const controller = new AbortController();
    const waiting = queue.get(controller.signal);
    controller.abort();
    queue.add('a');
    assert.equal(await waiting, undefined);
    assert.equal(await queue.get(controller.signal), undefined);
    assert.equal(await queue.get(), 'a');
  });

  test('a worker that is kept for what is urgent leaves the rest to others, whoever waited first', async () => {
    // GIVEN
    const { queue } = setUp();
    const reserve = queue.get(undefined, 0);
    const other = queue.get();
    // WHEN
    queue.add('created', { priority: -50 });
    queue.add('edited');
    // THEN
    assert.equal(await other, 'created');
    assert.equal(await reserve, 'edited');
  });

  test('what becomes urgent while it waits is taken by the worker that is kept for that', async () => {
    const { queue } = setUp();
    const reserve = queue.get(undefined, 0);
    queue.add('orders', { priority: -50 });
    queue.add('orders');
    assert.equal(await reserve, 'orders');
  });

  test('10,000 keys cost a fixed number of heap operations each and one timer at a time', async () => {
    // GIVEN
    const { queue, clock } = setUp();
    const operations = mock.method(Heap.prototype, 'push').mock;
    const removals = mock.method(Heap.prototype, 'remove').mock;
    const count = 10_000;
    // WHEN each key is delayed, brought forward, raised, worked, failed and worked again
    for (let i = 0; i < count; i++) queue.addAfter(`key-${i}`, 1000 + i, { priority: -100 });
    for (let i = 0; i < count; i++) queue.add(`key-${i}`, { priority: -100 });
    for (let i = 0; i < count; i++) queue.add(`key-${i}`);
    for (let i = 0; i < count; i++) {
      const key = await queue.get();
      assert.equal(key, `key-${i}`);
      queue.addRateLimited(key);
      queue.done(key);
    }
    await clock.advance(5);
    const again = await drain(queue);
    const cost = operations.callCount() + removals.callCount();
    mock.restoreAll();
    // THEN
    assert.equal(again.length, count);
    // Other queues of this process, if there are any, count too.
    assert.ok(cost >= 10 * count && cost < 10.1 * count, `${cost / count} operations for each key`);
    assert.ok(clock.sleeps < 20, `${clock.sleeps} sleeps`);
  });

  test('a heap operation costs no more than a few comparisons per doubling', () => {
    // GIVEN 10,000 items in a heap that counts
    interface Item extends HeapItem {
      readonly value: number;
    }
    let comparisons = 0;
    const heap = new Heap<Item>((a, b) => {
      comparisons++;
      return a.value < b.value;
    });
    const items = Array.from({ length: 10_000 }, (_, i) => ({ value: (i * 7919) % 10_007, heapIndex: -1 }));
    const worst = (operation: () => void): void => {
      comparisons = 0;
      operation();
      assert.ok(comparisons <= 3 * Math.ceil(Math.log2(10_000)), `${comparisons} comparisons`);
    };
    // WHEN, THEN
    for (const item of items) worst(() => heap.push(item));
    for (const item of items.slice(0, 5000)) worst(() => heap.remove(item));
    const values: number[] = [];
    while (heap.size > 0) worst(() => values.push(heap.pop()?.value ?? Number.NaN));
    assert.deepEqual(
      values,
      items
        .slice(5000)
        .map((item) => item.value)
        .sort((a, b) => a - b),
    );
  });
});
