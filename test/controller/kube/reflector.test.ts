import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import fc from 'fast-check';
import { Reflector, type Kube, type KubeObject, type ReflectorReport } from '../../../controller/kube/index.ts';
import { VirtualClock } from '../../virtual-clock.ts';
import { CONFIG_MAPS, failure, ModelKube, type ModelRequest } from './model-kube.ts';

/** A reflector of a model, its store, and all that it said. */
class Stage {
  readonly clock = new VirtualClock();
  readonly model = new ModelKube();
  readonly store = new Map<string, KubeObject>();
  readonly said: string[] = [];
  readonly reports: ReflectorReport[] = [];
  readonly stop = new AbortController();
  readonly reflector: Reflector;
  /** Makes the handler throw for objects of this name. */
  failsFor: string | undefined;
  /** Makes the handler stop the reflector with this object. */
  stopsAt: string | undefined;
  /** What the last list but the first has shown. */
  listed: readonly string[] = [];
  done: Promise<void> = Promise.resolve();

  constructor(pageSize?: number, random = () => 0) {
    this.reflector = new Reflector({
      kube: this.model as unknown as Kube,
      type: CONFIG_MAPS,
      pageSize,
      clock: this.clock,
      random,
      report: (report) => this.reports.push(report),
      handler: {
        onUpsert: (object, { isInitial }) => {
          const { name } = object.metadata;
          this.said.push(`${isInitial ? 'initial' : 'upsert'} ${name}`);
          if (name === this.stopsAt) this.stop.abort();
          if (name === this.failsFor) throw new Error('the handler fails');
          this.store.set(name, object);
        },
        onDelete: (key, { uid, last }) => {
          this.said.push(`delete ${key} ${uid}${last === undefined ? '' : ' seen'}`);
          this.store.delete(key.slice('shop/'.length));
        },
        onSynced: () => this.said.push('synced'),
        onRelisted: ({ reason, upserted, deleted, unchanged }, { keys }) => {
          this.said.push(`relisted ${reason} +${upserted} -${deleted} =${unchanged}`);
          this.listed = [...keys].sort();
        },
      },
    });
  }

  async start(): Promise<void> {
    this.done = this.reflector.start(this.stop.signal);
    await this.clock.settle();
  }

  async end(): Promise<void> {
    assert.ok(getEventListeners(this.stop.signal, 'abort').length <= 2, 'listeners gather');
    this.stop.abort();
    await this.done;
    assert.equal(this.clock.sleeping, 0, 'no timer is left');
    assert.equal(this.model.openWatches, 0, 'no watch is left');
  }

  assertEqual(): void {
    assert.deepEqual(this.store, this.model.objects);
    assert.equal(this.reflector.size, this.model.objects.size);
  }

  takeSaid(): string[] {
    return this.said.splice(0);
  }

  takeRequests(): ModelRequest[] {
    return this.model.requests.splice(0);
  }

  verbs(): string {
    return this.takeRequests()
      .map(({ verb }) => verb)
      .join(' ');
  }
}

async function withStage(
  body: (stage: Stage) => Promise<void>,
  pageSize?: number,
  random?: () => number,
): Promise<void> {
  const stage = new Stage(pageSize, random);
  await body(stage);
  await stage.end();
}

test('what is there is given by pages and marked as initial, then each change as it happens', async () => {
  await withStage(async (stage) => {
    for (const name of ['a', 'b', 'c']) stage.model.put(name, '1');
    await stage.start();
    await stage.reflector.synced;
    assert.deepEqual(stage.takeSaid(), ['initial a', 'initial b', 'initial c', 'synced']);
    stage.model.put('a', '2');
    stage.model.put('d', '1');
    stage.model.remove('b');
    await stage.clock.settle();
    assert.deepEqual(stage.takeSaid(), ['upsert a', 'upsert d', 'delete shop/b uid-2 seen']);
    assert.deepEqual(stage.takeRequests(), [
      { verb: 'list', limit: 2 },
      { verb: 'watch', from: '103', timeoutSeconds: 240 },
    ]);
    stage.assertEqual();
  }, 2);
});

test('in quiet a watch is all that is sent: ended by the server it is opened again from the last bookmark', async () => {
  let random = 0;
  await withStage(
    async (stage) => {
      await stage.start();
      random = 0.999;
      for (let minute = 0; minute < 5; minute += 1) {
        await stage.clock.advance(60_000);
        stage.model.bookmark((stage.model.version += 1));
        await stage.clock.settle();
      }
      stage.model.endWatches();
      await stage.clock.settle();
      assert.deepEqual(stage.takeRequests(), [
        { verb: 'list', limit: undefined },
        { verb: 'watch', from: '100', timeoutSeconds: 240 },
        { verb: 'watch', from: '105', timeoutSeconds: 480 },
      ]);
      assert.deepEqual(stage.takeSaid(), ['synced']);
      assert.deepEqual(stage.reports, []);
    },
    undefined,
    () => random,
  );
});

test('a watch that ends at once is not opened in a tight loop', async () => {
  await withStage(async (stage) => {
    await stage.start();
    for (let round = 0; round < 3; round += 1) {
      stage.model.endWatches();
      await stage.clock.settle();
    }
    assert.equal(stage.verbs(), 'list watch');
    await stage.clock.advance(800);
    assert.equal(stage.verbs(), 'watch');
  });
});

test('a silent watch is cut after 90 s and everything is listed anew', async () => {
  await withStage(async (stage) => {
    stage.model.put('a', '1');
    await stage.start();
    stage.takeSaid();
    await stage.clock.advance(89_999);
    assert.equal(stage.verbs(), 'list watch');
    await stage.clock.advance(1);
    assert.equal(stage.verbs(), 'list watch');
    assert.deepEqual(stage.takeSaid(), ['upsert a', 'relisted silent +1 -0 =0']);
    assert.deepEqual(stage.reports, [{ kind: 'watch-silent', silentMs: 90_000 }]);
  });
});

test('an event is as good as a bookmark: 90 s count from the last one', async () => {
  await withStage(async (stage) => {
    await stage.start();
    for (let round = 0; round < 4; round += 1) {
      await stage.clock.advance(80_000);
      stage.model.put('a', String(round));
      await stage.clock.settle();
    }
    assert.equal(stage.verbs(), 'list watch');
  });
});

test('a watch that breaks is opened again from the last version, and what was missed is replayed', async () => {
  for (const error of [failure(undefined, 'WatchBroken'), failure(429, 'TooManyRequests', 1)]) {
    await withStage(async (stage) => {
      stage.model.put('a', '1');
      await stage.start();
      stage.model.breakWatches(error);
      await stage.clock.settle();
      stage.model.put('a', '2');
      stage.model.put('b', '1');
      stage.model.remove('b');
      await stage.clock.advance(2_000);
      stage.assertEqual();
      assert.deepEqual(stage.takeSaid(), ['initial a', 'synced', 'upsert a', 'upsert b', 'delete shop/b uid-2 seen']);
      assert.equal(stage.verbs(), 'list watch watch');
    });
  }
});

test('a version that is too old leads to a list, and what was deleted meanwhile is told', async () => {
  await withStage(async (stage) => {
    for (const name of ['a', 'b', 'c']) stage.model.put(name, '1');
    await stage.start();
    stage.takeSaid();
    stage.model.breakWatches(failure(undefined, 'WatchBroken'));
    await stage.clock.settle();
    stage.model.remove('a');
    stage.model.put('b', '2');
    stage.model.remove('c');
    stage.model.put('c', 'new');
    stage.model.compact();
    await stage.clock.advance(10_000);
    stage.assertEqual();
    assert.deepEqual(stage.takeSaid(), [
      'upsert b',
      'delete shop/c uid-3',
      'upsert c',
      'delete shop/a uid-1',
      'relisted expired +2 -1 =0',
    ]);
    assert.deepEqual(stage.listed, ['shop/b', 'shop/c']);
    assert.equal(stage.verbs(), 'list watch watch list watch');
  });
});

test('an ERROR event of 410 in an open watch leads to a list too', async () => {
  await withStage(async (stage) => {
    await stage.start();
    stage.model.breakWatches(failure(410, 'Expired'));
    await stage.clock.advance(800);
    assert.equal(stage.verbs(), 'list watch list watch');
  });
});

test('Retry-After is kept to, but not for longer than a minute', async () => {
  for (const [seconds, waitedMs] of [
    [7, 7_000],
    [3_600, 60_000],
  ] as const) {
    await withStage(async (stage) => {
      stage.model.watchErrors.push(failure(429, 'TooManyRequests', seconds));
      await stage.start();
      await stage.clock.advance(waitedMs - 1);
      assert.equal(stage.verbs(), 'list watch');
      await stage.clock.advance(1);
      assert.equal(stage.verbs(), 'watch');
    });
  }
});

test('while the server is away tries come at 0.8, 1.6, 3.2 … 30 s; then all is listed, since its past may be another', async () => {
  await withStage(async (stage) => {
    stage.model.put('a', '1');
    await stage.start();
    const refused = failure(undefined, 'NetworkError');
    stage.model.watchErrors.push(refused);
    stage.model.listErrors.push(...Array.from({ length: 6 }, () => refused));
    stage.model.breakWatches(failure(undefined, 'WatchBroken'));
    await stage.clock.advance(200_000);
    const waits = stage.reports.flatMap((report) => (report.kind === 'waiting' ? [report.delayMs] : []));
    assert.deepEqual(waits, [800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);
    assert.equal(stage.verbs(), 'list watch watch list list list list list list list watch');
    assert.deepEqual(stage.takeSaid(), ['initial a', 'synced', 'upsert a', 'relisted outage +1 -0 =0']);
  });
});

test('after a watch that lived, the next failure waits the shortest time again', async () => {
  await withStage(async (stage) => {
    const broken = failure(undefined, 'WatchBroken');
    stage.model.watchErrors.push(broken, broken, broken);
    await stage.start();
    await stage.clock.advance(800 + 1600 + 3200);
    stage.reports.length = 0;
    await stage.clock.advance(10_000);
    stage.model.breakWatches(broken);
    await stage.clock.settle();
    assert.deepEqual(stage.reports.at(-1), { kind: 'waiting', delayMs: 800, relist: undefined });
  });
});

test('jitter lengthens each wait', async () => {
  await withStage(
    async (stage) => {
      stage.model.listErrors.push(failure(503, 'ServiceUnavailable'));
      await stage.start();
      assert.deepEqual(stage.reports.at(-1), { kind: 'waiting', delayMs: 1_200, relist: 'start' });
    },
    undefined,
    () => 1,
  );
});

test('until a new list is complete nothing is taken back', async () => {
  await withStage(async (stage) => {
    for (const name of ['a', 'b', 'c', 'd']) stage.model.put(name, '1');
    await stage.start();
    stage.takeSaid();
    for (const name of ['a', 'b']) stage.model.remove(name);
    await stage.clock.settle();
    stage.takeSaid();
    stage.model.breakWatches(failure(410, 'Expired'));
    await stage.clock.settle();
    stage.model.remove('c');
    stage.model.put('e', '1');
    stage.model.put('f', '1');
    stage.model.listErrors.push(undefined, failure(500, 'InternalError'));
    await stage.clock.advance(800);
    assert.deepEqual(
      stage.takeSaid().filter((line) => line.startsWith('delete')),
      [],
    );
    await stage.clock.advance(1_600);
    assert.equal(stage.takeSaid().at(-2), 'delete shop/c uid-3');
    stage.assertEqual();
  }, 2);
});

test('etcd restored from a backup: seen by a bookmark, an event or a list, said once, and the old state is given', async () => {
  const ways: Readonly<Record<string, (stage: Stage) => Promise<void>>> = {
    bookmark: async (stage) => stage.model.bookmark(),
    event: async (stage) => stage.model.put('c', 'new'),
    list: async (stage) => {
      stage.model.breakWatches(failure(undefined, 'WatchBroken'));
      stage.model.watchErrors.push(failure(undefined, 'NetworkError'));
      await stage.clock.advance(800);
    },
    silence: async (stage) => stage.clock.advance(90_000),
  };
  for (const [way, notice] of Object.entries(ways)) {
    await withStage(async (stage) => {
      stage.model.put('a', '1');
      await stage.start();
      const backup = new Map(stage.model.objects);
      const { version } = stage.model;
      for (let change = 0; change < 10; change += 1) stage.model.put('a', `lost ${change}`);
      stage.model.put('b', 'lost');
      await stage.clock.settle();
      stage.takeSaid();

      stage.model.restore(backup, version);
      await notice(stage);
      await stage.clock.advance(5_000);
      stage.assertEqual();
      const backwards = stage.reports.filter(({ kind }) => kind === 'version-backwards');
      assert.equal(backwards.length, 1, way);
      assert.deepEqual(
        stage.takeSaid().filter((line) => line.startsWith('delete')),
        ['delete shop/b uid-2'],
        way,
      );

      stage.model.put('a', 'after');
      await stage.clock.settle();
      stage.assertEqual();
    });
  }
});

test('once a list has cleared the doubt, what did not change is not given again', async () => {
  await withStage(async (stage) => {
    stage.model.put('a', '1');
    await stage.start();
    await stage.clock.advance(90_000);
    stage.takeSaid();
    stage.model.breakWatches(failure(410, 'Expired'));
    await stage.clock.advance(5_000);
    assert.deepEqual(stage.takeSaid(), ['relisted expired +0 -0 =1']);
  });
});

test('a version number that is given out a second time after a restore does not hide a change', async () => {
  await withStage(async (stage) => {
    stage.model.put('a', '1');
    await stage.start();
    const backup = new Map(stage.model.objects);
    const { version } = stage.model;
    stage.model.put('a', 'lost');
    await stage.clock.settle();
    stage.model.breakWatches(failure(undefined, 'WatchBroken'));
    stage.model.watchErrors.push(failure(undefined, 'NetworkError'));
    stage.model.restore(backup, version);
    stage.model.put('a', 'another');
    stage.model.put('b', 'further than before');
    await stage.clock.advance(10_000);
    stage.assertEqual();
    assert.deepEqual(stage.store.get('a')?.['data'], { value: 'another' });
  });
});

test('a handler that throws stops nothing, is reported, and gets that object again with the next list', async () => {
  await withStage(async (stage) => {
    for (const name of ['a', 'b']) stage.model.put(name, '1');
    stage.failsFor = 'a';
    await stage.start();
    await stage.reflector.synced;
    assert.deepEqual(stage.takeSaid(), ['initial a', 'initial b', 'synced']);
    assert.deepEqual(
      stage.reports.map((report) => (report.kind === 'handler-failed' ? report.key : report.kind)),
      ['shop/a'],
    );
    stage.failsFor = undefined;
    stage.model.breakWatches(failure(410, 'Expired'));
    await stage.clock.advance(800);
    assert.deepEqual(stage.takeSaid(), ['upsert a', 'relisted expired +1 -0 =1']);
    stage.assertEqual();
  });
});

test('stopped before it is synced, it ends without a word; who waits for it is told', async () => {
  const stage = new Stage();
  stage.model.listErrors.push(failure(403, 'Forbidden'), failure(403, 'Forbidden'));
  await stage.start();
  const reason = new Error('stopped');
  stage.stop.abort(reason);
  await stage.done;
  await assert.rejects(stage.reflector.synced, (error) => error === reason);
  assert.equal(stage.reflector.isSynced, false);
  assert.equal(stage.clock.sleeping, 0);
});

test('stopped in the middle of a list or of a watch, no call of the handler follows', async () => {
  const stage = new Stage(1);
  for (const name of ['a', 'b', 'c']) stage.model.put(name, '1');
  stage.model.onNextPage = () => stage.stop.abort();
  await stage.start();
  await stage.done;
  assert.ok(!stage.said.includes('synced'));

  const other = new Stage();
  await other.start();
  other.stopsAt = 'a';
  other.model.put('a', '1');
  other.model.put('b', '1');
  await other.clock.settle();
  await other.done;
  assert.deepEqual(other.said, ['synced', 'upsert a']);
});

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('put' as const), name: fc.constantFrom(...NAMES) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('remove' as const), name: fc.constantFrom(...NAMES) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'break',
        'expire',
        'throttle',
        'end',
        'bookmark',
        'compact',
        'silence',
        'refuse',
        'fail-page',
        'restore',
        'backup' as const,
      ),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 20_000 }) }) },
);

test('whatever happens in whatever order, the store becomes what the server has', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const stage = new Stage(2);
      const { model, clock } = stage;
      let backup = { objects: new Map(model.objects), version: model.version };
      let value = 0;
      const act: Readonly<Record<string, (name: string, ms: number) => unknown>> = {
        put: (name) => model.put(name, String((value += 1))),
        remove: (name) => model.remove(name),
        break: () => model.breakWatches(failure(undefined, 'WatchBroken')),
        expire: () => model.breakWatches(failure(410, 'Expired')),
        throttle: () => model.watchErrors.push(failure(429, 'TooManyRequests', 2)),
        end: () => model.endWatches(),
        bookmark: () => model.bookmark(),
        compact: () => model.compact(),
        silence: () => clock.advance(95_000),
        refuse: () => {
          model.breakWatches(failure(undefined, 'WatchBroken'));
          model.watchErrors.push(failure(undefined, 'NetworkError'));
          model.listErrors.push(failure(undefined, 'NetworkError'));
        },
        'fail-page': () => model.listErrors.push(undefined, failure(500, 'InternalError')),
        backup: () => (backup = { objects: new Map(model.objects), version: model.version }),
        // The server was down for that, which breaks every watch and refuses the next.
        restore: () => {
          model.restore(backup.objects, backup.version);
          model.breakWatches(failure(undefined, 'WatchBroken'));
          model.watchErrors.unshift(failure(undefined, 'NetworkError'));
        },
        wait: (_, ms) => clock.advance(ms),
      };
      await stage.start();
      for (const one of steps) {
        await act[one.do]?.('name' in one ? one.name : '', 'ms' in one ? one.ms : 0);
        await clock.settle();
      }
      model.watchErrors.length = 0;
      model.listErrors.length = 0;
      await clock.advance(130_000);
      stage.assertEqual();
      assert.equal(stage.reflector.isSynced, true);
      await stage.end();
    }),
    { numRuns: 150 },
  );
});
