import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Cache, ElectionCallbacks, Elector, Runnable } from '../../../controller/runtime/lifecycle.ts';
import { Manager, type ManagerOptions } from '../../../controller/runtime/manager.ts';
import { VirtualClock } from '../../virtual-clock.ts';
import { LogLines } from './log-lines.ts';

/** Everything the manager drives, writing down what happens to it. */
class World {
  readonly clock = new VirtualClock();
  readonly happened: string[] = [];
  readonly signal = new AbortController();
  readonly logLines = new LogLines();
  lease: ElectionCallbacks | undefined;

  cache(name: string, synced: Promise<unknown> = Promise.resolve()): Cache {
    return {
      name,
      synced: synced.then(() => this.happened.push(`${name} synced`)),
      start: async (signal) => {
        this.happened.push(`${name} started`);
        await aborted(signal);
        this.happened.push(`${name} stopped`);
      },
    };
  }

  /** A controller with one reconcile in progress that takes `busyMs`, or for ever. */
  controller(name: string, busyMs: number | 'for ever' = 0): Runnable {
    return {
      name,
      run: async (stop, abort) => {
        this.happened.push(`${name} started`);
        await aborted(stop);
        if (busyMs === 'for ever') await new Promise(() => {});
        else await this.clock.sleep(busyMs, abort).catch(() => this.happened.push(`${name} aborted`));
        this.happened.push(`${name} stopped`);
      },
    };
  }

  readonly elector: Elector = {
    isLeading: true,
    run: async (callbacks, signal) => {
      this.happened.push('campaign');
      this.lease = callbacks;
      await aborted(signal);
      this.happened.push('lease released');
      callbacks.onStoppedLeading();
    },
  };

  manager(options: Partial<ManagerOptions>): Manager {
    return new Manager({ clock: this.clock, log: this.logLines.log, caches: [], controllers: [], ...options });
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

describe('the manager', () => {
  test('caches are full before the campaign, controllers start with the lease, and all stop the other way round', async () => {
    // GIVEN
    const world = new World();
    const slow = Promise.withResolvers<void>();
    const manager = world.manager({
      caches: [world.cache('services'), world.cache('secrets', slow.promise)],
      elector: world.elector,
      controllers: [world.controller('database', 5000)],
    });
    // WHEN it starts
    const ended = manager.run(world.signal.signal);
    await world.clock.settle();
    assert.deepEqual(world.happened, ['services started', 'secrets started', 'services synced']);
    assert.equal(manager.state, 'syncing');
    slow.resolve();
    await world.clock.settle();
    // THEN it stands by with full caches
    assert.deepEqual(world.happened.splice(3), ['secrets synced', 'campaign']);
    assert.equal(manager.state, 'standby');
    // WHEN it gets the lease and is stopped later
    world.lease?.onStartedLeading();
    assert.equal(manager.state, 'leading');
    await world.clock.advance(60_000);
    world.signal.abort();
    await world.clock.advance(4999);
    assert.deepEqual(world.happened.splice(3), ['database started']);
    await world.clock.advance(1);
    // THEN
    assert.deepEqual(await ended, { kind: 'stopped' });
    assert.deepEqual(world.happened.slice(3), [
      'database stopped',
      'lease released',
      'services stopped',
      'secrets stopped',
    ]);
    assert.equal(manager.state, 'stopped');
    assert.equal(world.clock.sleeping, 0, 'no timer is left');
  });

  test('caches that are not read within two minutes fail the start, by name', async () => {
    const world = new World();
    const never = new Promise(() => {});
    const manager = world.manager({
      caches: [world.cache('services'), world.cache('secrets', never), world.cache('claims', never)],
      elector: world.elector,
    });
    const ended = manager.run(world.signal.signal);
    await world.clock.advance(120_000);
    const end = await ended;
    assert.ok(end.kind === 'failed' && end.reason === 'CachesNotSynced');
    assert.match(end.message, /Not read within 120 s: secrets, claims\./);
    assert.ok(!world.happened.includes('campaign'));
    assert.ok(world.happened.includes('services stopped'));
  });

  test('a cache that breaks at the start or later ends the process with its name and its error', async () => {
    for (const breaks of ['start', 'synced'] as const) {
      const world = new World();
      const cause = new Error('forbidden');
      const whole = world.cache('secrets');
      const broken = {
        ...whole,
        ...(breaks === 'start' ? { start: () => Promise.reject(cause) } : { synced: Promise.reject(cause) }),
      };
      const manager = world.manager({ caches: [broken], elector: world.elector });
      const end = await manager.run(world.signal.signal);
      assert.deepEqual(end, { kind: 'failed', reason: 'CacheFailed', message: 'The cache of secrets failed.', cause });
    }
  });

  test('a lost lease aborts the reconciles at once and ends the process with a reason', async () => {
    // GIVEN a leader in the middle of a long reconcile
    const world = new World();
    const manager = world.manager({
      caches: [world.cache('services')],
      elector: world.elector,
      controllers: [world.controller('database', 600_000)],
    });
    const ended = manager.run(world.signal.signal);
    await world.clock.settle();
    world.lease?.onStartedLeading();
    // WHEN
    const before = world.clock.now();
    world.lease?.onStoppedLeading();
    await world.clock.settle();
    // THEN
    const end = await ended;
    assert.ok(end.kind === 'failed' && end.reason === 'LeaseLost');
    assert.equal(world.clock.now(), before);
    assert.ok(world.happened.includes('database aborted'));
  });

  test('an election that breaks or ends by itself counts as a lost lease', async () => {
    const cause = new Error('no such host');
    for (const run of [() => Promise.reject(cause), () => Promise.resolve()]) {
      const world = new World();
      const end = await world.manager({ elector: { run, isLeading: false } }).run(world.signal.signal);
      assert.ok(end.kind === 'failed' && end.reason === 'LeaseLost');
    }
  });

  test('a reconcile that outlasts the grace period is aborted, then the lease is given back', async () => {
    const world = new World();
    const manager = world.manager({ elector: world.elector, controllers: [world.controller('database', 600_000)] });
    const ended = manager.run(world.signal.signal);
    await world.clock.settle();
    world.lease?.onStartedLeading();
    world.signal.abort();
    await world.clock.advance(29_999);
    assert.ok(!world.happened.includes('database aborted'));
    await world.clock.advance(1);
    assert.deepEqual(await ended, { kind: 'stopped' });
    assert.deepEqual(world.happened, [
      'campaign',
      'database started',
      'database aborted',
      'database stopped',
      'lease released',
    ]);
  });

  test('what the last reconcile left is finished before the lease is given back, and given up where it was lost', async () => {
    for (const isLost of [false, true]) {
      // GIVEN
      const world = new World();
      const manager = world.manager({
        elector: world.elector,
        controllers: [world.controller('database', 1000)],
        finish: async (abort) => void world.happened.push(abort.aborted ? 'given up' : 'finished'),
      });
      const ended = manager.run(world.signal.signal);
      await world.clock.settle();
      world.lease?.onStartedLeading();
      // WHEN
      if (isLost) world.lease?.onStoppedLeading();
      else world.signal.abort();
      await world.clock.advance(1000);
      await ended;
      // THEN
      const last = isLost ? ['database aborted', 'database stopped', 'given up'] : ['database stopped', 'finished'];
      assert.deepEqual(world.happened.slice(2), [...last, 'lease released']);
    }
  });

  test('what cannot be finished keeps the lease', async () => {
    const world = new World();
    const finish = (): Promise<never> => new Promise(() => {});
    const ended = world.manager({ elector: world.elector, finish }).run(world.signal.signal);
    await world.clock.settle();
    world.lease?.onStartedLeading();
    world.signal.abort();
    await world.clock.advance(32_000);
    const end = await ended;
    assert.ok(end.kind === 'failed' && end.reason === 'StopTimedOut');
    assert.ok(!world.happened.includes('lease released'));
  });

  test('while a reconcile goes on in spite of the abort, the lease is not given back', async () => {
    const world = new World();
    const manager = world.manager({ elector: world.elector, controllers: [world.controller('database', 'for ever')] });
    const ended = manager.run(world.signal.signal);
    await world.clock.settle();
    world.lease?.onStartedLeading();
    world.signal.abort();
    await world.clock.advance(40_000);
    const end = await ended;
    assert.ok(end.kind === 'failed' && end.reason === 'StopTimedOut');
    assert.ok(!world.happened.includes('lease released'));
  });

  test('a stop during start-up or standby is a clean stop, and a lease that comes too late starts nothing', async () => {
    for (const caches of [[], ['secrets']]) {
      const world = new World();
      const manager = world.manager({
        caches: caches.map((name) => world.cache(name, new Promise(() => {}))),
        elector: world.elector,
        controllers: [world.controller('database')],
      });
      const ended = manager.run(world.signal.signal);
      await world.clock.settle();
      world.signal.abort();
      world.lease?.onStartedLeading();
      assert.deepEqual(await ended, { kind: 'stopped' });
      assert.ok(!world.happened.includes('database started'));
    }
  });

  test('a signal that was given before the start stops at once', async () => {
    const world = new World();
    world.signal.abort();
    const manager = world.manager({ caches: [world.cache('secrets', new Promise(() => {}))], elector: world.elector });
    assert.deepEqual(await manager.run(world.signal.signal), { kind: 'stopped' });
    assert.ok(!world.happened.includes('campaign'));
  });

  test('without an elector the only instance leads at once; a controller that ends by itself ends the process', async () => {
    const world = new World();
    const manager = world.manager({ controllers: [{ name: 'database', run: () => Promise.resolve() }] });
    const end = await manager.run(world.signal.signal);
    assert.ok(end.kind === 'failed' && end.reason === 'ControllerFailed');
    assert.match(end.message, /database/);
  });
});
