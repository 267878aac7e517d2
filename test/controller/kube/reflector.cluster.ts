import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  connect,
  KubeClient,
  keyOf,
  Reflector,
  type Connection,
  type ReflectorReport,
} from '../../../controller/kube/index.ts';
import { newNamespace, sharedCluster, startCluster, type Cluster } from '../../cluster/index.ts';
import { CONFIG_MAPS, configMap, type ConfigMap } from './api-types.ts';
import { FaultyProxy, type Fault } from './faulty-proxy.ts';
import { patienceMs } from '../../patience.ts';

const NOTE = 'Größe 中 😀';

/** A reflector of one namespace over a faulty proxy, beside a client that writes to the server directly. */
class Stage implements AsyncDisposable {
  readonly namespace: string;
  readonly proxy: FaultyProxy;
  readonly writer: KubeClient;
  readonly store = new Map<string, ConfigMap>();
  readonly reports: ReflectorReport[] = [];
  readonly said: string[] = [];
  readonly reflector: Reflector<ConfigMap>;
  readonly #connections: readonly Connection[];
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;

  constructor(
    namespace: string,
    proxy: FaultyProxy,
    direct: Connection,
    proxied: Connection,
    silenceMs: number | undefined,
  ) {
    this.namespace = namespace;
    this.proxy = proxy;
    this.writer = new KubeClient(direct);
    this.#connections = [direct, proxied];
    this.reflector = new Reflector({
      kube: new KubeClient(proxied),
      type: CONFIG_MAPS,
      selection: { namespace, labelSelector: 'of=test' },
      pageSize: 7,
      silenceMs,
      backoff: { initialMs: 50 },
      report: (report) => this.reports.push(report),
      handler: {
        onUpsert: (object) => {
          this.said.push(`upsert ${object.metadata.name}`);
          this.store.set(keyOf(object.metadata), object);
        },
        onDelete: (key) => {
          this.said.push(`delete ${key}`);
          this.store.delete(key);
        },
      },
    });
    this.#done = this.reflector.start(this.#stop.signal);
  }

  static async on(cluster: Cluster, silenceMs?: number): Promise<Stage> {
    const direct = await connect({ kubeconfig: cluster.kubeconfig });
    const proxy = await FaultyProxy.start(direct);
    const proxied = await connect({ kubeconfig: await proxy.kubeconfig() });
    return new Stage(await newNamespace(cluster, 'reflector'), proxy, direct, proxied, silenceMs);
  }

  async put(name: string, value: string): Promise<void> {
    const object = configMap(this.namespace, name, { value }, { labels: { of: 'test' }, annotations: { note: NOTE } });
    await this.writer.apply(object, { type: CONFIG_MAPS, fieldManager: 'test', force: true });
  }

  async remove(name: string): Promise<void> {
    await this.writer.delete(CONFIG_MAPS, { namespace: this.namespace, name });
  }

  /** Creates, changes and deletes; some objects live shorter than a round of it. */
  async churn(round: number): Promise<void> {
    for (let at = 0; at < 6; at += 1) await this.put(`kept-${at}`, `${round}`);
    await this.put(`short-${round}`, 'x');
    await this.remove(`short-${round}`);
    await this.put(`gone-${round}`, 'x');
    if (round > 0) await this.remove(`gone-${round - 1}`);
  }

  async served(): Promise<Map<string, ConfigMap>> {
    const objects = new Map<string, ConfigMap>();
    for await (const page of this.writer.list(CONFIG_MAPS, { namespace: this.namespace, labelSelector: 'of=test' })) {
      for (const object of page.items) objects.set(keyOf(object.metadata), object);
    }
    return objects;
  }

  /** Waits until the store is the server's state to the byte. */
  async untilEqual(withinMs = patienceMs): Promise<void> {
    const until = Date.now() + withinMs;
    for (;;) {
      const served = await this.served();
      try {
        assert.deepEqual(this.store, served);
        assert.equal(this.reflector.size, served.size);
        return;
      } catch (error) {
        if (Date.now() > until) throw error;
        await sleep(50);
      }
    }
  }

  count(kind: ReflectorReport['kind']): number {
    return this.reports.filter((report) => report.kind === kind).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#done;
    await this.proxy[Symbol.asyncDispose]();
    await Promise.all(this.#connections.map((connection) => connection.close()));
  }
}

const FAULTS: readonly (readonly [string, 'list' | 'watch', Fault])[] = [
  ['the connection is reset at once', 'watch', { kind: 'reset', afterLines: 0 }],
  ['the connection is reset between two events', 'watch', { kind: 'reset', afterLines: 3 }],
  ['the connection is reset in the middle of an event', 'watch', { kind: 'reset', afterLines: 2, midLine: true }],
  ['the watch falls silent', 'watch', { kind: 'stall', afterLines: 2 }],
  ['the watch is silent from its beginning', 'watch', { kind: 'stall', afterLines: 0 }],
  ['a line is malformed', 'watch', { kind: 'malformed-line', afterLines: 2 }],
  ['the watch gets 429', 'watch', { kind: 'status', status: 429, retryAfterSeconds: 1 }],
  ['the watch gets 500', 'watch', { kind: 'status', status: 500 }],
  ['the watch gets 410', 'watch', { kind: 'status', status: 410 }],
  ['the watch gets an ERROR event of 410', 'watch', { kind: 'error-event', afterLines: 2, status: 410 }],
  ['the watch gets an ERROR event of 500', 'watch', { kind: 'error-event', afterLines: 1, status: 500 }],
  ['the watch ends in good order', 'watch', { kind: 'end', afterLines: 4 }],
  ['the list is reset', 'list', { kind: 'reset', afterLines: 0 }],
  ['the list gets 410', 'list', { kind: 'status', status: 410 }],
  ['the list gets 429', 'list', { kind: 'status', status: 429, retryAfterSeconds: 1 }],
];

for (const [what, kind, fault] of FAULTS) {
  test(`${what}: in the end the store is what the server has`, async () => {
    await using stage = await Stage.on(await sharedCluster(), 2_000);
    for (let at = 0; at < 20; at += 1) await stage.put(`first-${at}`, '1');
    stage.proxy.inject(kind, fault, 2);
    if (kind === 'list') stage.proxy.inject('watch', { kind: 'status', status: 410 });
    stage.proxy.cut();
    for (let round = 0; round < 4; round += 1) {
      await stage.churn(round);
      await sleep(200);
    }
    await stage.untilEqual();
    for (const until = Date.now() + patienceMs; stage.proxy.pending > 0;) {
      assert.ok(Date.now() < until, 'a fault never happened');
      await stage.put('again', String(Date.now()));
      await sleep(50);
    }
    await stage.put('last', 'x');
    await stage.untilEqual();
    assert.equal(stage.count('handler-failed'), 0);
    assert.equal(stage.count('version-backwards'), 0);
  });
}

test('every event arrives whole when each byte comes by itself (LinusU/node-jsonlines#7)', async () => {
  await using stage = await Stage.on(await sharedCluster());
  stage.proxy.pieceBytes = 1;
  await stage.reflector.synced;
  await stage.churn(0);
  await stage.untilEqual();
  assert.equal(stage.store.get(`${stage.namespace}/kept-0`)?.metadata.annotations?.['note'], NOTE);
  assert.deepEqual(stage.reports, []);
});

test('without a fault each change is told once and in order', async () => {
  await using stage = await Stage.on(await sharedCluster());
  await stage.reflector.synced;
  await stage.put('a', '1');
  await stage.put('a', '2');
  await stage.remove('a');
  await stage.put('a', '3');
  await stage.untilEqual();
  assert.deepEqual(stage.said, ['upsert a', 'upsert a', `delete ${stage.namespace}/a`, 'upsert a']);
});

test('the API server is restarted in the middle, then is away for a while', async () => {
  await using cluster = await startCluster({ controllerManager: false, scheduler: false });
  await using stage = await Stage.on(cluster);
  await stage.reflector.synced;
  await stage.churn(0);
  await stage.untilEqual();
  await cluster.restartApiServer();
  await stage.churn(1);
  await stage.untilEqual();
  await cluster.restartApiServer({ downMs: 3_000 });
  await stage.churn(2);
  await stage.untilEqual();
  assert.equal(stage.count('handler-failed'), 0);
  assert.equal(stage.count('version-backwards'), 0);
});

test('another past behind the same address, as after a restored backup of etcd (kubernetes#107457)', async () => {
  await using restored = await startCluster({ controllerManager: false, scheduler: false });
  const cluster = await sharedCluster();
  await using stage = await Stage.on(cluster, 3_000);
  const past = await connect({ kubeconfig: restored.kubeconfig });
  const admin = new KubeClient(past);
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: stage.namespace } };
  await admin.create(namespace, {
    type: { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false },
    fieldManager: 'test',
  });
  const old = configMap(stage.namespace, 'a', { value: 'restored' }, { labels: { of: 'test' } });
  const before = await admin.create(old, { type: CONFIG_MAPS, fieldManager: 'test' });

  await stage.reflector.synced;
  for (
    let at = 0;
    Number(stage.store.get(`${stage.namespace}/a`)?.metadata.resourceVersion ?? 0) <
    Number(before.metadata.resourceVersion) + 200;
    at += 1
  ) {
    await stage.put('a', `lost ${at}`);
    if (at % 50 === 0) await stage.untilEqual();
  }
  await stage.put('b', 'lost');
  await stage.untilEqual();

  stage.proxy.upstream = past;
  stage.proxy.cut();
  const until = Date.now() + patienceMs;
  while (stage.store.size !== 1 && Date.now() < until) await sleep(50);
  assert.deepEqual([...stage.store.values()], [before]);
  assert.equal(stage.count('version-backwards'), 1);
  const after = await admin.apply(configMap(stage.namespace, 'a', { value: 'after' }), {
    type: CONFIG_MAPS,
    fieldManager: 'test',
    force: true,
  });
  while (stage.store.get(`${stage.namespace}/a`)?.data?.['value'] !== 'after' && Date.now() < until) await sleep(50);
  assert.equal(
    stage.store.get(`${stage.namespace}/a`)?.metadata.resourceVersion,
    after.object.metadata.resourceVersion,
  );
  await past.close();
});
