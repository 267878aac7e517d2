import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SpanStatusCode } from '@opentelemetry/api';
import { Controller, type ControllerOptions } from '../../../controller/runtime/controller.ts';
import type { ErrorVerdict } from '../../../controller/runtime/error-verdict.ts';
import { WorkQueue } from '../../../controller/runtime/work-queue.ts';
import { VirtualClock } from '../../virtual-clock.ts';
import { RecordedSpans } from '../recorded-spans.ts';
import { LogLines } from './log-lines.ts';

const retry: ErrorVerdict = { class: 'back-off', kind: 'unknown' };
const terminal: ErrorVerdict = { class: 'terminal', kind: 'immutable' };

type Given = Pick<ControllerOptions, 'reconcile'> & Partial<ControllerOptions>;

function setUp(given: Given) {
  const clock = new VirtualClock();
  const queue = new WorkQueue({ clock });
  const logLines = new LogLines();
  let ids = 0;
  const controller = new Controller({
    name: 'database',
    queue,
    classify: () => retry,
    log: logLines.log,
    clock,
    newReconcileId: () => `run-${ids++}`,
    ...given,
  });
  const stop = new AbortController();
  const abort = new AbortController();
  const ended = controller.run(stop.signal, abort.signal);
  return { clock, queue, controller, stop, abort, ended, lines: logLines.lines };
}

const none = { success: 0, requeueAfter: 0, retryNow: 0, error: 0, terminal: 0, aborted: 0 };

describe('the controller', () => {
  test('each key that is queued is reconciled and counted', async () => {
    const seen: string[] = [];
    const { clock, queue, controller } = setUp({
      reconcile: async (key) => {
        seen.push(key);
      },
    });
    queue.add('shop/orders');
    queue.add('shop/billing');
    await clock.settle();
    assert.deepEqual(seen, ['shop/orders', 'shop/billing']);
    assert.deepEqual(controller.stats.reconciles, { ...none, success: 2 });
  });

  test('what is urgent need not wait until a long run has ended', async () => {
    // GIVEN one worker with a database for which there is much to do, and one in reserve
    const seen: string[] = [];
    const { clock, queue, controller } = setUp({
      reserve: { workers: 1, priority: 0 },
      reconcile: async (key) => {
        seen.push(key);
        if (key === 'shop/new') await clock.sleep(60_000);
      },
    });
    queue.add('shop/new', { priority: -50 });
    queue.add('shop/newer', { priority: -50 });
    await clock.advance(10);
    // WHEN
    queue.add('shop/orders');
    await clock.settle();
    // THEN
    assert.deepEqual(seen, ['shop/new', 'shop/orders']);
    assert.equal(controller.stats.maxConcurrentReconciles, 2);
    await clock.advance(60_000);
    assert.deepEqual(seen, ['shop/new', 'shop/orders', 'shop/newer']);
  });

  test('a reconcile that asks to come back comes back then', async () => {
    let runs = 0;
    const { clock, queue, controller } = setUp({
      reconcile: async () => (++runs === 1 ? { requeueAfterMs: 30_000 } : undefined),
    });
    queue.add('shop/orders');
    await clock.advance(29_999);
    assert.equal(runs, 1);
    await clock.advance(1);
    assert.equal(runs, 2);
    assert.deepEqual(controller.stats.reconciles, { ...none, success: 1, requeueAfter: 1 });
  });

  test('what comes back at its time is not put back any more behind what came with a start', async () => {
    // GIVEN one worker, and a pause that ends while there is other work
    const seen: string[] = [];
    const { clock, queue } = setUp({
      reconcile: async (key) => {
        seen.push(key);
        if (key === 'shop/long') await clock.sleep(60_000);
        return key === 'shop/paused' && seen.length === 1 ? { requeueAfterMs: 30_000 } : undefined;
      },
    });
    queue.add('shop/paused', { priority: -50 });
    await clock.advance(10);
    queue.add('shop/long');
    await clock.advance(10);
    queue.add('shop/other', { priority: -10 });
    // WHEN
    await clock.advance(60_000);
    // THEN
    assert.deepEqual(seen, ['shop/paused', 'shop/long', 'shop/paused', 'shop/other']);
  });

  test('what comes back at its time has the priority of what it is by then', async () => {
    // GIVEN a database that is being made, and one worker
    const seen: string[] = [];
    const { clock, queue } = setUp({
      priorityOfDue: () => -100,
      reconcile: async (key) => {
        seen.push(key);
        if (key === 'shop/long') await clock.sleep(60_000);
        return key === 'shop/new' && seen.length === 1 ? { requeueAfterMs: 30_000 } : undefined;
      },
    });
    queue.add('shop/new');
    await clock.advance(10);
    queue.add('shop/long');
    await clock.advance(10);
    queue.add('shop/other', { priority: -10 });
    // WHEN
    await clock.advance(60_000);
    // THEN
    assert.deepEqual(seen, ['shop/new', 'shop/long', 'shop/other', 'shop/new']);
  });

  test('a failing database is tried again at growing distances, and a success forgets that', async () => {
    // GIVEN a database that fails three times, works, and fails once more
    const times: number[] = [];
    let runs = 0;
    const { clock, queue, controller } = setUp({
      reconcile: async () => {
        times.push(clock.now());
        runs++;
        if (runs !== 4) throw new Error('not today');
      },
    });
    // WHEN
    queue.add('shop/orders');
    await clock.advance(100);
    queue.add('shop/orders');
    await clock.advance(5);
    // THEN
    const distances = times.slice(1).map((time, i) => time - (times[i] ?? 0));
    assert.deepEqual(distances.slice(0, 3), [5, 10, 20]);
    assert.equal(distances.at(-1), 5);
    assert.equal(controller.stats.reconciles.success, 1);
  });

  test('an error that trying again cannot cure is counted and left alone until something changes', async () => {
    const { clock, queue, controller } = setUp({
      classify: () => terminal,
      reconcile: async () => {
        throw new Error('the storage class is immutable');
      },
    });
    queue.add('shop/orders');
    await clock.advance(3_600_000);
    assert.deepEqual(controller.stats.reconciles, { ...none, terminal: 1 });
    queue.add('shop/orders');
    await clock.settle();
    assert.equal(controller.stats.reconciles.terminal, 2);
  });

  test('a database whose view was outdated looks again at once: no failure, no growing delay, no busy loop', async () => {
    const times: number[] = [];
    const { clock, queue, controller } = setUp({
      classify: () => ({ class: 'retry-now', kind: 'version-conflict' }),
      reconcile: async () => {
        times.push(clock.now());
        if (times.length < 20) throw new Error('the object has been modified');
      },
    });
    const start = clock.now();
    queue.add('shop/orders');
    await clock.advance(10_000);
    assert.deepEqual(controller.stats.reconciles, { ...none, retryNow: 19, success: 1 });
    assert.equal((times.at(-1) ?? 0) - start, 1900);
    assert.equal(queue.stats.retries, 0);
  });

  test('a server that asks for a pause gets it', async () => {
    const { clock, queue, controller } = setUp({
      classify: () => ({ class: 'back-off', kind: 'throttled', retryAfterSeconds: 7 }),
      reconcile: async () => {
        throw new Error('too many requests');
      },
    });
    queue.add('shop/orders');
    await clock.advance(6999);
    assert.equal(controller.stats.reconciles.error, 1);
    await clock.advance(1);
    assert.equal(controller.stats.reconciles.error, 2);
  });

  test('no throw of any kind stops the only worker', async () => {
    // GIVEN one worker and a reconcile that throws what should never be thrown
    const thrown: unknown[] = [new TypeError('x is undefined'), 'text', undefined, { code: 500 }];
    const { clock, queue, controller, lines } = setUp({
      classify: (error) => {
        if (error === 'text') throw new Error('cannot classify');
        return terminal;
      },
      reconcile: (key) => {
        if (key === 'bad') throw thrown.shift();
        return Promise.resolve();
      },
    });
    // WHEN
    for (let i = 0; i < 4; i++) {
      queue.add('bad');
      await clock.settle();
    }
    queue.add('good');
    await clock.settle();
    // THEN
    assert.deepEqual(controller.stats.reconciles, { ...none, success: 1, error: 1, terminal: 3 });
    assert.equal(controller.stats.panics, 2);
    assert.equal(controller.stats.activeWorkers, 0);
    assert.equal(lines.filter((line) => line['level'] === 'error').length, 5);
  });

  test('a requeue time that is no number is an error of that database, with a retry', async () => {
    const { clock, queue, controller } = setUp({ reconcile: async () => ({ requeueAfterMs: Number.NaN }) });
    queue.add('shop/orders');
    await clock.advance(5);
    assert.deepEqual(controller.stats.reconciles, { ...none, error: 2 });
    assert.equal(controller.stats.panics, 2);
  });

  test('four workers work on four databases at a time, and never two on one', async () => {
    // GIVEN
    const running = new Map<string, number>();
    let most = 0;
    const { clock, queue, controller } = setUp({
      concurrency: 4,
      reconcile: async (key) => {
        running.set(key, (running.get(key) ?? 0) + 1);
        most = Math.max(most, ...running.values());
        await clock.sleep(100);
        running.set(key, (running.get(key) ?? 0) - 1);
      },
    });
    // WHEN twelve databases change all the time
    for (let i = 0; i < 12; i++) queue.add(`db-${i}`);
    await clock.advance(50);
    assert.equal(controller.stats.activeWorkers, 4);
    for (let i = 0; i < 12; i++) queue.add(`db-${i}`);
    await clock.advance(10_000);
    // THEN the four that were running ran twice
    assert.equal(most, 1);
    assert.equal(controller.stats.reconciles.success, 16);
  });

  test('who asks for it is told how each run ended and how long it took', async () => {
    const runs: unknown[] = [];
    const { clock, queue } = setUp({
      reconcile: async () => {
        await clock.sleep(250);
        if (runs.length > 0) throw new Error('not today');
      },
      onReconciled: (run) => runs.push(run),
    });
    queue.add('shop/orders');
    await clock.advance(250);
    queue.add('shop/orders');
    await clock.advance(250);
    assert.deepEqual(runs, [
      { outcome: 'success', ms: 250 },
      { outcome: 'error', ms: 250 },
    ]);
  });

  test('every line of a run bears its database and the id of the run', async () => {
    const { clock, queue, lines } = setUp({
      reconcile: async (_key, _signal, log) => {
        log.info({ field: 'image' }, 'put back');
        throw new Error('boom');
      },
      classify: () => terminal,
    });
    queue.add('shop/orders');
    await clock.settle();
    assert.equal(lines.length, 2);
    for (const line of lines) {
      assert.equal(line['key'], 'shop/orders');
      assert.equal(line['reconcileId'], 'run-0');
      assert.equal(line['controller'], 'database');
    }
  });

  describe('its span', () => {
    test('says which key was worked on, why, and how it ended', async () => {
      using spans = new RecordedSpans();
      const { clock, queue } = setUp({
        reconcile: async () => ({ requeueAfterMs: 1000 }),
        attributesOf: (key) => ({ 'plumbline.database.name': key }),
      });
      queue.add('orders', { reason: 'database' });
      await clock.advance(1000);
      const told = spans.ended.map(({ name, status, attributes }) => ({ name, status: status.code, ...attributes }));
      const run = {
        name: 'reconcile database',
        status: SpanStatusCode.UNSET,
        'plumbline.controller': 'database',
        'plumbline.database.name': 'orders',
        'plumbline.reconcile.outcome': 'requeueAfter',
      };
      assert.deepEqual(told, [
        { ...run, 'plumbline.reconcile.id': 'run-0', 'plumbline.reconcile.reason': ['database'] },
        { ...run, 'plumbline.reconcile.id': 'run-1', 'plumbline.reconcile.reason': ['due'] },
      ]);
    });

    test('is failed where the run is, and repeats nothing of the error', async () => {
      using spans = new RecordedSpans();
      const { clock, queue } = setUp({
        reconcile: () => Promise.reject(new Error('hidden')),
        classify: () => terminal,
      });
      queue.add('shop/orders');
      await clock.settle();
      const [{ status, attributes, events } = assert.fail('there is no span')] = spans.ended;
      assert.deepEqual(status, { code: SpanStatusCode.ERROR });
      assert.equal(attributes['error.type'], 'immutable');
      assert.equal(attributes['plumbline.reconcile.outcome'], 'terminal');
      assert.deepEqual(events, []);
      assert(!JSON.stringify(attributes).includes('hidden'));
    });
  });

  test('a stop lets the run in progress finish and begins no other', async () => {
    const finished: string[] = [];
    const { clock, queue, stop, ended } = setUp({
      reconcile: async (key, signal) => {
        await clock.sleep(1000, signal);
        finished.push(key);
      },
    });
    queue.add('first');
    queue.add('second');
    await clock.advance(10);
    stop.abort();
    await clock.advance(2000);
    await ended;
    assert.deepEqual(finished, ['first']);
  });

  test('an abort ends the run in progress without counting it as a failure', async () => {
    const { clock, queue, stop, abort, ended, controller } = setUp({
      reconcile: (_key, signal) => clock.sleep(60_000, signal),
    });
    queue.add('shop/orders');
    await clock.settle();
    stop.abort();
    abort.abort();
    await ended;
    assert.deepEqual(controller.stats.reconciles, { ...none, aborted: 1 });
    assert.equal(clock.sleeping, 0);
  });
});
