import assert from 'node:assert/strict';
import test from 'node:test';
import { Children } from '../../../controller/database/children.ts';
import { newMemory } from '../../../controller/database/memory.ts';
import { Rollouts, type Happened, type Progress } from '../../../controller/database/rollouts.ts';
import { StepExecutor } from '../../../controller/delivery/step-executor.ts';
import type { Kube, KubeObject } from '../../../controller/kube/index.ts';
import { stabilised, type History } from '../../../controller/rollout/index.ts';
import { revisionOf } from '../../../controller/rollout/revision.ts';
import { VirtualClock } from '../../virtual-clock.ts';
import { resource } from './given.ts';
import { memberPod, memberSet, type MemberPod } from './member-pods.ts';

const key = 'shop/orders';
const neverAborted = new AbortController().signal;
const old = { template: 'old' };

/** Three members of which only the primary is of the old template, and what Patroni keeps of them: annotations by name. */
class Given {
  readonly clock = new VirtualClock();
  database = resource({ replicas: 3 });
  readonly memory = newMemory('uid-orders');
  readonly patroni = new Map<string, Readonly<Record<string, string>>>([
    ['orders-patroni-leader', { leader: 'orders-0' }],
    ['orders-patroni-sync', { leader: 'orders-0', sync_standby: 'orders-2' }],
  ]);
  readonly told: Happened[] = [];
  readonly deleted: string[] = [];
  readonly #children = new Children(() => undefined);
  /** As they are by now. */
  readonly #pods: KubeObject[];
  readonly #rollouts: Rollouts;

  /**
   * @param watched more of each pod, as the watches have shown it
   * @param live the same, as it is by now; defaults to what was watched
   */
  constructor(watched: readonly MemberPod[] = [], live = watched) {
    const podsOf = (more: readonly MemberPod[]) => [
      memberPod(this.database, 0, { ...old, isPrimary: true, ...more[0] }),
      memberPod(this.database, 1, more[1]),
      memberPod(this.database, 2, more[2]),
    ];
    for (const object of [...podsOf(watched), memberSet(this.database)]) this.#children.upsert(object);
    const pods = podsOf(live);
    this.#pods = pods;
    const kube: Partial<Kube> = {
      get: async (_, { name }) => ({ metadata: { name, annotations: this.patroni.get(name) ?? {} } }) as never,
      apply: async ({ metadata: { name, annotations = {} } }) => {
        this.patroni.set(name, annotations);
        return { object: { metadata: { name } } as never, isCreated: true };
      },
      list: async function* () {
        yield { items: pods, resourceVersion: '1' } as never;
      },
      delete: async (_, { name }) => void this.deleted.push(name),
    };
    const [all, clock] = [kube as Kube, this.clock];
    this.#rollouts = new Rollouts({
      kube: all,
      children: this.#children,
      steps: new StepExecutor(all),
      clock,
      onStep: (_, happened) => void this.told.push(happened),
    });
    const { spec } = this.database;
    const empty: History = { released: revisionOf(spec), stable: [], refused: undefined };
    this.memory.history = stabilised(empty, revisionOf(spec), 1, 'noon');
  }

  /** Another state of a member, as it is and as the watch shows it. */
  show(ordinal: number, pod: KubeObject): void {
    this.#pods[ordinal] = pod;
    this.#children.upsert(pod);
  }

  tellSlots(): void {
    this.#rollouts.tellSlots({ key, resource: this.database, memory: this.memory });
  }

  async proceed(): Promise<Progress> {
    const { database: resource, memory } = this;
    const course = this.#rollouts.course(key, resource, memory);
    return this.#rollouts.proceed({ key, resource, memory, course }, neverAborted);
  }
}

test('a primary that waits for a replica to be in step hands over within a second of that', async () => {
  const given = new Given();
  for (let look = 0; look < 20; look++) {
    assert.deepEqual(await given.proceed(), {
      message: 'orders-0 hands over once orders-1 is in step with it.',
      lookAgainMs: 1_000,
    });
    await given.clock.advance(1_000);
  }
  given.patroni.set('orders-patroni-sync', { leader: 'orders-0', sync_standby: 'orders-1,orders-2' });
  const { message } = await given.proceed();
  assert.match(message ?? '', /orders-1 takes over/);
  assert.equal(given.patroni.get('orders-patroni-failover')?.['member'], 'orders-1');
});

test('one that Patroni has not dealt with is not asked for again before it has had its time', async () => {
  const given = new Given();
  given.patroni.set('orders-patroni-failover', { leader: 'orders-0', member: 'orders-2' });
  assert.equal((await given.proceed()).lookAgainMs, 1_000);
  const { message, lookAgainMs } = await given.proceed();
  assert.equal(message, 'A switchover is under way.');
  assert((lookAgainMs ?? 0) >= 15_000, `${lookAgainMs}`);
});

const cdc = { name: 'cdc', database: 'app', plugin: 'pgoutput', failover: true };
const owner = { slots: { own: [cdc], synced: [] } };
const carrier = { slots: { own: [], synced: ['cdc'] } };
const bare = { slots: { own: [], synced: [] } };

test('a switchover that would lose a logical slot waits for somebody, is told once, and goes on when the slot is given up', async () => {
  const given = new Given([owner, bare, bare]);
  given.patroni.set('orders-patroni-sync', {});
  for (let look = 0; look < 3; look++) {
    const { blocker, lookAgainMs } = await given.proceed();
    assert.deepEqual([blocker?.reason, blocker?.isStalled, lookAgainMs], ['SlotAtRisk', true, undefined]);
    assert.match(blocker?.message ?? '', /logical slot cdc \(database app, plugin pgoutput\) of orders-0/);
  }
  assert.deepEqual(reasonsOf(given), ['SwitchoverHeld']);
  given.database = resource({ replicas: 3 }, { annotations: { 'plumbline.dev/lose-slots': 'other, cdc' } });
  const { message, blocker } = await given.proceed();
  assert.equal(blocker, undefined);
  assert.match(message ?? '', /It loses logical slot cdc .*as plumbline\.dev\/lose-slots says/);
  assert.deepEqual(reasonsOf(given), ['SwitchoverHeld', 'SwitchoverRequested']);
});

test('who has the slot in step is asked for once more before the switchover', async () => {
  const given = new Given([owner, carrier, carrier], [owner, bare, carrier]);
  given.patroni.set('orders-patroni-sync', {});
  await given.proceed();
  const { member, 'plumbline.dev/anyone': anyone } = given.patroni.get('orders-patroni-failover') ?? {};
  assert.deepEqual([member, anyone], ['orders-2', undefined]);
});

test('what became of slots is told once', () => {
  const given = new Given([bare, owner, bare]);
  for (let look = 0; look < 2; look++) given.tellSlots();
  assert.deepEqual(reasonsOf(given), ['SlotOnReplica']);
});

function reasonsOf({ told }: Given): readonly string[] {
  return told.map(({ reason }) => reason);
}

test('the member that is taken down is known to be away by intent until another pod of it is healthy', async () => {
  const given = new Given([{}, old]);
  await given.proceed();
  assert.deepEqual(given.deleted, ['orders-1']);
  assert.equal(given.memory.absence?.member, 'orders-1');
  await given.proceed();
  assert.equal(given.memory.absence?.member, 'orders-1', 'the watch is behind');
  const again = memberPod(given.database, 1);
  given.show(1, { ...again, metadata: { ...again.metadata, uid: 'another' } });
  await given.proceed();
  assert.notEqual(given.memory.absence?.member, 'orders-1');
});

test('a member of a template that was taken back, which runs and never streams, is made again', async () => {
  const given = new Given([{ template: undefined }]);
  const idle = { ...old, isReady: false, status: { state: 'running', replication_state: undefined } };
  given.show(2, memberPod(given.database, 2, idle));
  await given.proceed();
  await given.clock.advance(299_000);
  await given.proceed();
  assert.deepEqual(given.deleted, []);
  await given.clock.advance(2_000);
  await given.proceed();
  assert.deepEqual(given.deleted, ['orders-2']);
});

test('when the last member to be renewed starts, the rollout is still told of', async () => {
  const given = new Given([{ template: undefined }, old]);
  await given.proceed();
  given.show(1, memberPod(given.database, 1, { isReady: false, status: { state: 'starting' } }));
  assert.deepEqual((await given.proceed()).message, 'orders-1 is not there yet.');
});
