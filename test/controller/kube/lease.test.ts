import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeError, LeaderElector, type LeaderElectorOptions } from '../../../controller/kube/index.ts';
import { VirtualClock } from '../../virtual-clock.ts';
import { ModelLease } from './model-lease.ts';

class Candidate {
  readonly said: string[] = [];
  readonly errors: unknown[] = [];
  readonly stop = new AbortController();
  readonly link: ReturnType<ModelLease['client']>;
  readonly elector: LeaderElector;
  readonly done: Promise<void>;

  constructor(model: ModelLease, clock: VirtualClock, identity: string, options: Partial<LeaderElectorOptions> = {}) {
    this.link = model.client();
    this.elector = new LeaderElector({
      kube: this.link.kube,
      namespace: 'plumbline-system',
      name: 'plumbline',
      identity,
      clock,
      wallClock: clock,
      random: () => 0,
      onError: (error) => this.errors.push(error),
      ...options,
    });
    this.done = this.elector.run(
      {
        onStartedLeading: () => this.said.push('started'),
        onStoppedLeading: () => this.said.push('stopped'),
        onNewLeader: (leader) => this.said.push(`leader ${leader}`),
      },
      this.stop.signal,
    );
  }

  async end(): Promise<void> {
    this.stop.abort();
    await this.done;
  }
}

async function lead(model: ModelLease, clock: VirtualClock, identity: string): Promise<Candidate> {
  const candidate = new Candidate(model, clock, identity);
  await clock.advance(0);
  assert.deepEqual(candidate.said, [`leader ${identity}`, 'started']);
  return candidate;
}

const away = new KubeError({
  tried: { verb: 'get', kind: 'Lease', object: 'x' },
  reason: 'NetworkError',
  message: 'away',
});

test('the first one creates the lease and leads; the record is the one that client-go writes', async () => {
  const [model, clock] = [new ModelLease(), new VirtualClock()];
  const a = await lead(model, clock, 'a');
  assert.equal(a.elector.isLeading, true);
  assert.deepEqual(model.lease?.spec, {
    holderIdentity: 'a',
    leaseDurationSeconds: 15,
    acquireTime: '2026-01-01T00:00:00.000000Z',
    renewTime: '2026-01-01T00:00:00.000000Z',
    leaseTransitions: 0,
  });
  await clock.advance(4_000);
  assert.equal(model.lease?.spec?.renewTime, '2026-01-01T00:00:04.000000Z');
  assert.equal(model.lease?.spec?.acquireTime, '2026-01-01T00:00:00.000000Z');
  await a.end();
  assert.equal(clock.sleeping, 0);
});

test('a renewal is one request each 2 s', async () => {
  const [model, clock] = [new ModelLease(), new VirtualClock()];
  const a = await lead(model, clock, 'a');
  model.requests = 0;
  await clock.advance(60_000);
  assert.equal(model.requests, 30);
  await a.end();
});

test('of two one leads and the other waits; given back politely, the lease changes hands within one try', async () => {
  const [model, clock] = [new ModelLease(), new VirtualClock()];
  const a = await lead(model, clock, 'a');
  const b = new Candidate(model, clock, 'b');
  await clock.advance(60_000);
  assert.deepEqual(b.said, ['leader a']);
  await a.end();
  assert.deepEqual(a.said, ['leader a', 'started', 'stopped']);
  assert.equal(a.elector.isLeading, false);
  assert.equal(model.lease?.spec?.holderIdentity, '');
  await clock.advance(1_800);
  assert.deepEqual(b.said, ['leader a', 'leader b', 'started']);
  assert.equal(model.lease?.spec?.leaseTransitions, 1);
  await b.end();
});

test('a leader that is killed is followed when its record has stood still for 15 s, whatever the times in it say', async () => {
  const [model, clock] = [new ModelLease(), new VirtualClock()];
  const a = await lead(model, clock, 'a');
  a.link.fault = 'hang';
  model.lease = model.lease && {
    ...model.lease,
    spec: { ...model.lease.spec, renewTime: '2031-01-01T00:00:00.000000Z' },
  };
  const b = new Candidate(model, clock, 'b');
  await clock.advance(14_000);
  assert.deepEqual(b.said, ['leader a']);
  await clock.advance(3_000);
  assert.deepEqual(b.said, ['leader a', 'leader b', 'started']);
  assert.deepEqual(a.said.at(-1), 'stopped');
  await Promise.all([a.end(), b.end()]);
});

test('a dead leader is followed within 17 s, whenever it died, and not before its lease has expired', async () => {
  for (const random of [0, 0.5, 0.999]) {
    for (const diesAfterMs of [20_000, 20_400, 21_100, 21_999]) {
      const [model, clock] = [new ModelLease(), new VirtualClock()];
      const a = await lead(model, clock, 'a');
      const b = new Candidate(model, clock, 'b', { random: () => random });
      await clock.advance(diesAfterMs);
      a.link.fault = 'hang';
      const died = clock.now();
      while (!b.elector.isLeading) await clock.advance(10);
      const tookMs = clock.now() - died;
      assert.ok(tookMs <= 17_000 && tookMs >= 13_000, `${tookMs} ms`);
      await Promise.all([a.end(), b.end()]);
    }
  }
});

test('a leader that can not renew stops after 10 s, before anybody else may begin, whether requests fail or hang', async () => {
  for (const fault of [away, 'hang'] as const) {
    const [model, clock] = [new ModelLease(), new VirtualClock()];
    const a = await lead(model, clock, 'a');
    const b = new Candidate(model, clock, 'b');
    await clock.advance(3_000);
    a.link.fault = fault;
    await clock.advance(8_900);
    assert.equal(a.elector.isLeading, true);
    await clock.advance(100);
    assert.equal(a.elector.isLeading, false);
    assert.deepEqual(a.said, ['leader a', 'started', 'stopped']);
    assert.deepEqual(b.said, ['leader a']);
    assert.ok(a.errors.length > 0);
    await a.done;
    await clock.advance(9_000);
    assert.equal(b.said.at(-1), 'started');
    await b.end();
    assert.equal(clock.sleeping, 0);
  }
});

test('a short outage, a lost answer and a foreign edit cost no leadership', async () => {
  const [model, clock] = [new ModelLease(), new VirtualClock()];
  const a = await lead(model, clock, 'a');
  a.link.fault = away;
  await clock.advance(7_000);
  a.link.fault = undefined;
  await clock.advance(2_000);
  model.losesNextAnswer = true;
  await clock.advance(4_000);
  model.lease = model.lease && { ...model.lease, metadata: { ...model.lease.metadata, resourceVersion: '999' } };
  await clock.advance(4_000);
  assert.deepEqual(a.said, ['leader a', 'started']);
  assert.equal(a.elector.isLeading, true);
  await a.end();
});

test('a leader that sees another name in the lease stops at once, not at its deadline', async () => {
  const [model, clock] = [new ModelLease(), new VirtualClock()];
  const a = await lead(model, clock, 'a');
  model.lease = model.lease && {
    ...model.lease,
    metadata: { ...model.lease.metadata, resourceVersion: '999' },
    spec: { ...model.lease.spec, holderIdentity: 'somebody' },
  };
  await clock.advance(2_000);
  assert.deepEqual(a.said, ['leader a', 'started', 'leader somebody', 'stopped']);
  await a.done;
  assert.equal(model.lease?.spec?.holderIdentity, 'somebody');
});

test('a lease that somebody deletes is made again', async () => {
  const [model, clock] = [new ModelLease(), new VirtualClock()];
  const a = await lead(model, clock, 'a');
  const before = model.lease?.metadata.uid;
  model.lease = undefined;
  await clock.advance(2_000);
  assert.notEqual(uidOf(model), before);
  assert.notEqual(uidOf(model), undefined);
  assert.equal(a.elector.isLeading, true);
  await a.end();
});

function uidOf({ lease }: ModelLease): string | undefined {
  return lease?.metadata.uid;
}

test('a leader that was frozen leads on if nobody followed, and stops at once if somebody did', async () => {
  for (const isFollowed of [false, true]) {
    const [model, clock] = [new ModelLease(), new VirtualClock()];
    const frozen = new FreezingClock(clock);
    const a = new Candidate(model, clock, 'a', { clock: frozen });
    await clock.advance(0);
    frozen.freeze();
    if (isFollowed) {
      const b = new Candidate(model, clock, 'b');
      await clock.advance(30_000);
      assert.equal(b.said.at(-1), 'started');
      assert.equal(a.elector.isLeading, false);
      await frozen.thaw();
      await clock.settle();
      assert.deepEqual(a.said, ['leader a', 'started', 'leader b', 'stopped']);
      assert.equal(model.lease?.spec?.holderIdentity, 'b', 'a lost lease is left alone');
      await b.end();
    } else {
      await clock.advance(30_000);
      assert.equal(a.elector.isLeading, false);
      await frozen.thaw();
      await clock.settle();
      assert.equal(a.elector.isLeading, true);
      assert.deepEqual(a.said, ['leader a', 'started']);
    }
    await a.end();
  }
});

test('of many that start together or follow together exactly one leads', async () => {
  const [model, clock] = [new ModelLease(), new VirtualClock()];
  const all = Array.from({ length: 8 }, (_, at) => new Candidate(model, clock, `c${at}`));
  const leaders = (): Candidate[] => all.filter(({ elector }) => elector.isLeading);
  await clock.advance(5_000);
  assert.equal(leaders().length, 1);
  const [first] = leaders();
  if (first !== undefined) first.link.fault = away;
  for (let second = 0; second < 30; second += 1) {
    await clock.advance(1_000);
    assert.ok(leaders().length <= 1, `second ${second}`);
  }
  assert.equal(leaders().length, 1);
  assert.notEqual(leaders()[0], first);
  await Promise.all(all.map((candidate) => candidate.end()));
});

test('stopped while it waits, it ends at once and says nothing', async () => {
  const [model, clock] = [new ModelLease(), new VirtualClock()];
  const a = await lead(model, clock, 'a');
  const b = new Candidate(model, clock, 'b');
  await clock.advance(1_000);
  await b.end();
  assert.deepEqual(b.said, ['leader a']);
  await a.end();
});

test('numbers that can not work are refused', () => {
  const build = (options: Partial<LeaderElectorOptions>) => () =>
    new LeaderElector({ kube: new ModelLease().client().kube, namespace: 'n', name: 'l', ...options });
  assert.throws(build({ leaseDurationMs: 10_000 }), RangeError);
  assert.throws(build({ renewDeadlineMs: 2_000 }), RangeError);
  assert.throws(build({ leaseDurationMs: 15_500 }), RangeError);
  assert.match(build({})().identity, /^.+_[0-9a-f-]{36}$/);
});

/** A process that does not run for a while: time goes on, but its sleeps end only when it is thawed. */
class FreezingClock {
  readonly #clock: VirtualClock;
  #thawed: Promise<void> = Promise.resolve();
  #thaw: () => void = () => undefined;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await this.#clock.sleep(ms, signal);
    await this.#thawed;
  }

  freeze(): void {
    this.#thawed = new Promise((resolve) => (this.#thaw = resolve));
  }

  async thaw(): Promise<void> {
    this.#thaw();
    await this.#clock.settle();
  }
}
