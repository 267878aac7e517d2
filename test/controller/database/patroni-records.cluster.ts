import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { identityAnnotation } from '../../../constructs/labels.ts';
import { claims, typeOf } from '../../../controller/database/kinds.ts';
import type { KubeObject } from '../../../controller/kube/index.ts';
import { eventually } from '../running-plumbline.ts';
import { Shop } from './shop.ts';

let shop: Shop;
before(async () => {
  shop = await Shop.open();
});
after(async () => {
  await shop[Symbol.asyncDispose]();
});

const configMaps = typeOf({ kind: 'ConfigMap' });

/** Makes a ConfigMap as Patroni does. */
async function put(database: string, what: string, annotations: Readonly<Record<string, string>> = {}): Promise<void> {
  const labels = { 'plumbline.dev/patroni': `${database}-patroni` };
  const metadata = { name: `${database}-patroni-${what}`, namespace: shop.namespace, labels, annotations };
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
  await shop.kube.create(object, { type: configMaps, fieldManager: 'Patroni' });
}

/** The claim of a member that has data. */
async function putClaim(database: string, ordinal: number): Promise<void> {
  const object: KubeObject = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: `data-${database}-${ordinal}`,
      namespace: shop.namespace,
      labels: { 'plumbline.dev/database': database },
      annotations: { [identityAnnotation]: '7300000000000000001' },
    },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  await shop.kube.create(object, { type: claims, fieldManager: 'test' });
}

async function left(database: string): Promise<readonly string[]> {
  const found = await shop.list(configMaps, `plumbline.dev/patroni=${database}-patroni`);
  return found.map(({ metadata }) => metadata.name.slice(`${database}-patroni-`.length)).toSorted();
}

/** Says of member 0 what its kubelet, Patroni and its steward would. */
async function run(database: string): Promise<void> {
  const conditions = [{ type: 'Ready', status: 'True' }];
  await eventually('the pod is there', () => shop.get('Pod', `${database}-0`));
  const labels = { 'plumbline.dev/role': 'primary' };
  const annotations = { 'plumbline.dev/settings': '{"digest":"d","refused":{},"restart":{}}' };
  await shop.patch('Pod', `${database}-0`, { body: { metadata: { labels, annotations } }, fieldManager: 'Patroni' });
  await shop.patch('Pod', `${database}-0`, {
    kind: 'strategic',
    body: { status: { phase: 'Running', conditions } },
    subresource: 'status',
    fieldManager: 'kubelet',
  });
  await eventually('it runs', async () => (await shop.status(database))?.phase === 'Running' || undefined);
  await shop.running.settled();
}

for (const { title, database, withData, stays } of [
  { title: 'no member of which has data', database: 'emptied', withData: [], stays: [] },
  { title: 'too few of its members in step have data', database: 'behind', withData: [1, 3], stays: [] },
  { title: 'enough of its members in step have data', database: 'enough', withData: [1, 2], stays: ['sync'] },
  { title: 'the primary of which has data', database: 'leading', withData: [0], stays: ['sync'] },
]) {
  test(`what an earlier database left of Patroni’s, ${title}: ${stays.join() || 'nothing'} stays`, async () => {
    // GIVEN what Patroni and claims had of a database that is gone, of whose two replicas one had every commit
    const [first, second, third] = [0, 1, 2].map((ordinal) => `${database}-${ordinal}`);
    await put(database, 'leader', { leader: `${first}` });
    await put(database, 'failover');
    await put(database, 'sync', { leader: `${first}`, sync_standby: `${second},${third}`, quorum: '1' });
    for (const ordinal of withData) await putClaim(database, ordinal);

    // WHEN another of its name is created
    await shop.create(database, { replicas: 3, durability: 'Sync' });

    // THEN nothing is left that would hold its members up
    assert.deepEqual(await left(database), ['config', ...stays]);
  });
}

test('once a database runs, what Patroni keeps goes with it, but for who is in step, and is not asked for again', async () => {
  await shop.create('orders', { durability: 'Async' });
  for (const what of ['leader', 'failover', 'sync']) await put('orders', what);
  await run('orders');
  const ownersOf = async (what: string) =>
    (await shop.get('ConfigMap', `orders-patroni-${what}`))?.metadata.ownerReferences?.map(({ kind }) => kind);
  assert.deepEqual(await ownersOf('leader'), ['DatabaseService', 'RoleBinding']);
  assert.deepEqual(await ownersOf('failover'), ['DatabaseService', 'RoleBinding']);
  assert.equal(await ownersOf('sync'), undefined);

  await shop.restart();
  const applied = shop.running
    .requestsAfter(0)
    .filter(({ verb, type }) => verb === 'apply' && type?.kind === 'ConfigMap');
  assert.deepEqual(applied, []);

  await shop.delete('DatabaseService', 'orders');
  await eventually('they are gone', async () => (await left('orders')).join() === 'sync' || undefined);
});

test('with storage.onDelete Delete who is in step goes too, also where that is asked for later', async () => {
  await shop.create('gone', {});
  for (const what of ['leader', 'sync']) await put('gone', what);
  await run('gone');
  await shop.edit('gone', { storage: { onDelete: 'Delete' } });
  await eventually('it is owned', async () => {
    const sync = await shop.get('ConfigMap', 'gone-patroni-sync');
    return sync?.metadata.ownerReferences?.length === 2 || undefined;
  });
  await shop.delete('DatabaseService', 'gone');
  await eventually('they are gone', async () => (await left('gone')).length === 0 || undefined);
});
