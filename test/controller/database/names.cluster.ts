import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
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

const own = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: shop.namespace },
  spec: { ports: [{ port: 80 }], selector: { app: 'web' } },
});

test("a person's own Service is not taken over; the database waits, says whose name it needs, and goes on when it is free", async () => {
  await shop.kube.create(own('orders'), { type: shop.typeOf('Service'), fieldManager: 'kubectl-create' });
  const untouched = await shop.get('Service', 'orders');
  await shop.submit('orders');
  const stalled = await shop.untilCondition('orders', 'Stalled', /^True NameTaken/);
  assert.match(stalled, /Service orders is needed and belongs to somebody who is not Plumbline/);
  assert.equal((await shop.status('orders'))?.phase, 'Failed');
  assert.equal(await shop.get('StatefulSet', 'orders'), undefined, 'never a StatefulSet without its Services');
  const before = shop.running.requests.length;
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  const made = shop.running.requestsAfter(before);
  assert(made.length <= 6, `a slow look now and then: ${made.map(({ verb }) => verb).join()}`);
  assert.deepEqual(await shop.get('Service', 'orders'), untouched);

  await shop.delete('Service', 'orders');
  await shop.untilCondition('orders', 'Stalled', /^False/);
  await eventually('the rest is made', () => shop.get('StatefulSet', 'orders'));
  assert.equal((await shop.receipts('orders')).length, 0);
});

test('databases a and a-ro need the same Service: the second names the first, asks for nothing, and follows at once', async () => {
  await shop.create('a');
  const uid = (await shop.get('Service', 'a-ro'))?.metadata.uid;
  await shop.submit('a-ro');
  const stalled = await shop.untilCondition('a-ro', 'Stalled', /^True NameTaken/);
  assert.match(stalled, /Service a-ro is needed and belongs to DatabaseService a:/);
  await shop.running.settled();
  const before = shop.running.requests.length;
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  assert.equal(shop.running.requestsAfter(before).length, 0, 'the watch will tell');
  assert.equal((await shop.get('Service', 'a-ro'))?.metadata.uid, uid);
  assert.equal((await shop.receipts('a')).length, 0);

  await shop.delete('DatabaseService', 'a');
  await shop.untilCondition('a-ro', 'Stalled', /^False/);
  await eventually(
    'it has its Services',
    async () => (await shop.get('Service', 'a-ro-ro')) && shop.get('Service', 'a-ro'),
  );
});

test('what something else owns is not taken over, whatever its label says', async () => {
  const owner = await shop.kube.create(own('owner'), { type: shop.typeOf('Service'), fieldManager: 'kubectl-create' });
  const { metadata } = own('owned');
  const ownerReferences = [
    { apiVersion: 'v1', kind: 'Service', name: 'owner', uid: owner.metadata.uid ?? '', controller: true },
  ];
  const labels = { 'plumbline.dev/database': 'owned' };
  const owned = { ...own('owned'), metadata: { ...metadata, labels, ownerReferences } };
  await shop.kube.create(owned, { type: shop.typeOf('Service'), fieldManager: 'somebody' });
  await shop.submit('owned');
  assert.match(await shop.untilCondition('owned', 'Stalled', /^True NameTaken/), /belongs to Service owner:/);
  await shop.delete('Service', 'owned');
  await shop.untilCondition('owned', 'Stalled', /^False/);
});

test("a person's own Secret under the name of a new database is left alone", async () => {
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'vault-credentials', namespace: shop.namespace },
    data: { password: 'bXk=' },
  };
  await shop.kube.create(secret, { type: shop.typeOf('Secret'), fieldManager: 'kubectl-create' });
  await shop.submit('vault');
  const stalled = await shop.untilCondition('vault', 'Stalled', /^True NameTaken/);
  assert.match(stalled, /Secret vault-credentials is needed/);
  assert.doesNotMatch(stalled, /remove|delete/, 'it may hold what nobody could make again');
  assert.deepEqual((await shop.get('Secret', 'vault-credentials'))?.['data'], secret.data);
  assert.equal((await shop.get('Secret', 'vault-credentials'))?.metadata.labels, undefined);
});

test('an object of an earlier life that is still being deleted is waited for, and then made', async () => {
  const finalizers = ['plumbline.dev/test'];
  const labels = { 'plumbline.dev/database': 'again' };
  const { metadata, ...rest } = own('again');
  const leaving = { ...rest, metadata: { ...metadata, labels, finalizers } };
  await shop.kube.create(leaving, { type: shop.typeOf('Service'), fieldManager: 'somebody' });
  await shop.delete('Service', 'again');
  await shop.submit('again');
  const progress = await shop.untilCondition('again', 'Progressing', /^False DeletionPending/);
  assert.match(progress, /Service again is being deleted; it is made again when it is gone/);
  assert.equal(await shop.get('StatefulSet', 'again'), undefined, 'never a StatefulSet without its Services');
  await shop.patch('Service', 'again', { body: { metadata: { finalizers: null } } });
  await shop.untilCondition('again', 'Progressing', /^True MembersStarting/);
  assert(await shop.get('StatefulSet', 'again'));
  assert.equal((await shop.receipts('again')).length, 0);
});
