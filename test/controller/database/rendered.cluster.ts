import assert from 'node:assert/strict';
import test from 'node:test';
import { fieldManager } from '../../../controller/database/child.ts';
import { claims, secrets, watchedKinds } from '../../../controller/database/kinds.ts';
import { stateAll, stateWithSecrets } from '../../../controller/database/stated.ts';
import { appliedEntry, deviations, fieldsOf, leaves, readable, statedTree } from '../../../controller/drift/index.ts';
import { connect, KubeClient, LeaderElector } from '../../../controller/kube/index.ts';
import { sharedCluster } from '../../cluster/index.ts';
import { inShort, Shop, wholeSpec } from './shop.ts';

const everything = {
  ...wholeSpec,
  version: '17.9',
  storage: { size: '1Gi', storageClass: 'fast', onDelete: 'Delete' },
  resources: { requests: { cpu: '1000m', memory: '2048Mi' }, limits: { cpu: 2, memory: '4Gi' } },
  scheduling: {
    spreadBy: 'topology.kubernetes.io/zone',
    nodeSelector: { pool: 'db' },
    tolerations: [{ key: 'pool', operator: 'Equal', value: 'db', effect: 'NoSchedule' }],
  },
  access: {
    from: [{ namespaceSelector: { matchLabels: { a: 'b' } }, podSelector: {} }, { ipBlock: { cidr: 'fd00::/8' } }],
  },
  monitoring: { enabled: true, from: [{ namespaceSelector: { matchLabels: { a: 'b' } } }] },
};

test('every object of every kind is exactly what is stated, and ours to the last field', async () => {
  await using shop = await Shop.open();
  await Promise.all([shop.create('orders', everything), shop.create('small')]);
  for (const name of ['orders', 'small']) {
    for (const { object } of stateAll(await shop.resource(name))) {
      const what = `${object.kind} ${object.metadata.name}`;
      const live = await shop.get(object.kind, object.metadata.name);
      assert(live, what);
      assert.deepEqual(
        deviations(object, live, fieldManager).map(({ kind, path }) => `${kind} ${readable(path)}`),
        [],
        what,
      );
      const own = [...leaves(fieldsOf(appliedEntry(live, fieldManager)))].map(readable);
      assert.deepEqual(own.sort(), [...leaves(statedTree(object))].map(readable).sort(), what);
    }
  }
});

test('a restart of the controller asks for nothing but its lists: what is true is seen to be true', async () => {
  await using shop = await Shop.open();
  await Promise.all([shop.create('orders', everything), shop.create('small')]);
  await shop.restart();
  assert.deepEqual(
    shop.running.requestsAfter(0).filter(({ verb }) => verb !== 'list'),
    [],
  );
  const { children } = shop.running.plumbline;
  for (const name of ['orders', 'small']) {
    const known = children.of(`${shop.namespace}/${name}`);
    assert(known.length >= stateWithSecrets(await shop.resource(name)).length);
    assert.deepEqual(
      known.filter(({ suspect }) => suspect !== undefined),
      [],
      'no whole object stays in memory',
    );
  }
});

test('at rest there are watches, the lease, and nothing else', async () => {
  const leases: string[] = [];
  const { kubeconfig } = await sharedCluster();
  const connection = await connect({ kubeconfig });
  await using _closing = { [Symbol.asyncDispose]: () => connection.close() };
  const kube = new KubeClient(connection, { onRequest: (facts) => leases.push(inShort(facts)) });
  const elector = new LeaderElector({ kube, namespace: 'default', name: `plumbline-${Date.now()}` });
  await using shop = await Shop.open({ elector });
  await shop.create('orders', wholeSpec);
  const before = shop.running.requests.length;
  leases.length = 0;
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  assert.deepEqual(shop.running.requestsAfter(before).map(inShort), []);
  assert(leases.length > 0 && leases.every((request) => request.endsWith(' Lease')), leases.join());
});

test('https://github.com/argoproj/argo-cd/issues/5431: what must live bears no instance label without an owner', async () => {
  await using shop = await Shop.open();
  await shop.create('orders', wholeSpec);
  for (const { type } of watchedKinds) {
    for (const { metadata } of await shop.list(type, 'app.kubernetes.io/instance=orders')) {
      assert(metadata.ownerReferences !== undefined, `${type.kind} ${metadata.name}`);
    }
  }
  for (const type of [claims, secrets]) {
    assert((await shop.list(type)).length > 0);
    assert.deepEqual(await shop.list(type, 'app.kubernetes.io/instance=orders'), []);
  }
});
