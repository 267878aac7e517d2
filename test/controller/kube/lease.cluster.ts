import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, KubeClient, LEASES, LeaderElector, type Connection } from '../../../controller/kube/index.ts';
import { newNamespace, sharedCluster } from '../../cluster/index.ts';
import { patienceMs } from '../../patience.ts';
import { eventually } from '../running-plumbline.ts';

/** Short, so that a lease is lost within seconds; the proportions are those of the defaults. */
const FAST = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 400 };
/** As long as by default, so that a slow machine loses none. */
const STEADY = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 400 };

class Candidate implements AsyncDisposable {
  readonly identity: string;
  readonly elector: LeaderElector;
  readonly said: string[] = [];
  readonly connection: Connection;
  readonly kube: KubeClient;
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;

  constructor(identity: string, connection: Connection, namespace: string, pace: typeof FAST) {
    this.identity = identity;
    this.connection = connection;
    this.kube = new KubeClient(connection, { lane: 'lease' });
    this.elector = new LeaderElector({ kube: this.kube, namespace, name: 'plumbline', identity, ...pace });
    const callbacks = {
      onStartedLeading: () => this.said.push('started'),
      onStoppedLeading: () => this.said.push('stopped'),
    };
    this.#done = this.elector.run(callbacks, this.#stop.signal);
  }

  static async in(namespace: string, identity: string, pace = STEADY): Promise<Candidate> {
    const { kubeconfig } = await sharedCluster();
    return new Candidate(identity, await connect({ kubeconfig }), namespace, pace);
  }

  /** As a process that is killed: it says nothing more to the server. */
  async kill(): Promise<void> {
    await this.connection.close();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.connection.close();
  }
}

async function until(condition: () => boolean): Promise<void> {
  const end = Date.now() + patienceMs;
  while (!condition()) {
    assert.ok(Date.now() < end, 'it took too long');
    await sleep(20);
  }
}

test('one works and the other waits; given back politely, the lease changes hands before it would expire', async () => {
  const namespace = await newNamespace(await sharedCluster(), 'lease');
  await using a = await Candidate.in(namespace, 'a');
  await until(() => a.elector.isLeading);
  await using b = await Candidate.in(namespace, 'b');
  const read = () => b.kube.get(LEASES, { namespace, name: 'plumbline' });
  const renewed = new Set<string | undefined>();
  await eventually('it is renewed again and again', async () => renewed.add((await read()).spec?.renewTime).size > 5);
  assert.deepEqual([a.said, b.said], [['started'], []]);
  assert.equal(b.elector.leader, 'a');
  const record = await read();
  assert.equal(record.spec?.leaseDurationSeconds, 15);
  assert.match(record.spec?.renewTime ?? '', /\.\d{6}Z$/);
  await a.stop();
  await until(() => b.elector.isLeading);
  assert.deepEqual(a.said, ['started', 'stopped']);
  const after = await read();
  assert.equal(after.spec?.leaseTransitions, 1);
  assert(Date.parse(after.spec?.acquireTime ?? '') - Date.parse(record.spec?.renewTime ?? '') < 15_000);
});

test('a leader that is killed gives up before the other takes over', async () => {
  const namespace = await newNamespace(await sharedCluster(), 'lease');
  await using a = await Candidate.in(namespace, 'a', FAST);
  await until(() => a.elector.isLeading);
  await using b = await Candidate.in(namespace, 'b', FAST);
  await until(() => b.elector.leader === 'a');
  await a.kill();
  await until(() => {
    assert.ok(!(a.elector.isLeading && b.elector.isLeading), 'two lead');
    return b.elector.isLeading;
  });
  assert.deepEqual(a.said, ['started', 'stopped']);
});

test('of five that start at once exactly one leads', async () => {
  const namespace = await newNamespace(await sharedCluster(), 'lease');
  const all = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((identity) => Candidate.in(namespace, identity)));
  await until(() => all.some(({ elector }) => elector.isLeading));
  await sleep(1_500);
  assert.equal(all.filter(({ elector }) => elector.isLeading).length, 1);
  for (const candidate of all) await candidate[Symbol.asyncDispose]();
});
