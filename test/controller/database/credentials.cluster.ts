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

const secretOf = (name: string, data: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: shop.namespace },
  type: 'Opaque',
  data,
});

async function put(secret: KubeObject): Promise<void> {
  await shop.kube.create(secret, { type: shop.typeOf('Secret'), fieldManager: 'kubectl-create' });
}

test('a Secret that is deleted under a database with data is not invented anew; put back, all goes on', async () => {
  await shop.create('orders');
  const before = await shop.get('Secret', 'orders-system');
  await shop.delete('Secret', 'orders-system');
  const stalled = await shop.untilCondition('orders', 'Stalled', /^True CredentialsMissing/);
  assert.match(stalled, /Secret orders-system is gone/);
  await shop.patch('Service', 'orders', { body: { spec: { selector: { app: 'x' } } } });
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  assert.equal(await shop.get('Secret', 'orders-system'), undefined);
  assert(
    !JSON.stringify(await shop.get('Service', 'orders')).includes('"app":"x"'),
    'what else there is, is repaired meanwhile',
  );

  await put(secretOf('orders-system', before?.['data'] as object));
  await shop.untilCondition('orders', 'Stalled', /^False/);
  const now = await shop.get('Secret', 'orders-system');
  assert.deepEqual(now?.['data'], before?.['data']);
  assert.equal(now?.metadata.labels?.['plumbline.dev/database'], 'orders');
});

test('a restart between does not make new passwords either', async () => {
  await shop.create('restarted');
  await shop.restart(() => shop.delete('Secret', 'restarted-credentials'));
  await shop.untilCondition('restarted', 'Stalled', /^True CredentialsMissing/);
  assert.equal(await shop.get('Secret', 'restarted-credentials'), undefined);
  await shop.delete('DatabaseService', 'restarted');
});

test('of a new database, claims with the identity of data are enough to make no new passwords', async () => {
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: 'data-old-0',
      namespace: shop.namespace,
      labels: { 'plumbline.dev/database': 'old' },
      annotations: { 'plumbline.dev/system-identifier': '7300000000000000001' },
    },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  await shop.kube.create(claim, { type: shop.typeOf('PersistentVolumeClaim'), fieldManager: 'test' });
  await shop.submit('old');
  await shop.untilCondition('old', 'Stalled', /^True CredentialsMissing/);
  assert.equal(await shop.get('StatefulSet', 'old'), undefined);
  await shop.delete('DatabaseService', 'old');
});

test('an edit of the data of a Secret is an instruction, and no drift', async () => {
  await shop.create('edited');
  const edit = () => shop.patch('Secret', 'edited-credentials', { body: { data: { password: 'bmV3' } } });
  const made = await shop.requestsFor(edit);
  assert(
    made.every((request) => request === 'apply Pod'),
    `the members are told of it at most: ${made.join(', ')}`,
  );
  const data = (await shop.get('Secret', 'edited-credentials'))?.['data'] as { password?: string } | undefined;
  assert.equal(data?.password, 'bmV3');
});

for (const [name, label, value] of [
  ['labels', 'app.kubernetes.io/managed-by', null],
  ['watched', 'plumbline.dev/database', null],
  ['elsewhere', 'plumbline.dev/database', 'no-such-database'],
  ['another', 'plumbline.dev/database', 'labels'],
] as const) {
  test(`the label ${label} of a Secret, turned into ${value}, comes back without a touch of its data`, async () => {
    await shop.create(name);
    const before = await shop.get('Secret', `${name}-system`);
    const body = { metadata: { labels: { [label]: value } } };
    await shop.patch('Secret', `${name}-system`, { body });
    await eventually('it is told', async () => (await shop.receipts(name)).length === 1 || undefined);
    await shop.running.settled();
    const now = await shop.get('Secret', `${name}-system`);
    assert.deepEqual(now?.metadata.labels, before?.metadata.labels);
    assert.deepEqual([now?.metadata.uid, now?.['data']], [before?.metadata.uid, before?.['data']]);
    const [receipt] = await shop.receipts(name);
    assert.deepEqual([receipt?.object, receipt?.field], [`Secret/${name}-system`, `metadata.labels[${label}]`]);
    assert.equal(await shop.condition(name, 'Stalled'), 'False NothingToDo: Nothing hinders.');
  });
}

test('a claim of backups that is labelled as that of another database is put back, also after a restart', async () => {
  const backup = { schedule: '@daily', volume: { size: '1Gi' } };
  await shop.create('mine', { backup });
  await shop.create('theirs', { backup });
  const body = { metadata: { labels: { 'plumbline.dev/database': 'theirs' } } };
  const isBack = async () =>
    (await shop.get('PersistentVolumeClaim', 'mine-backup'))?.metadata.labels?.['plumbline.dev/database'] === 'mine' ||
    undefined;
  await shop.patch('PersistentVolumeClaim', 'mine-backup', { body });
  await eventually('it is told', async () => (await shop.receipts('mine')).length === 1 || undefined);
  assert(await isBack());
  await shop.restart(() => shop.patch('PersistentVolumeClaim', 'mine-backup', { body }));
  await eventually('it is put back', isBack);
  await eventually('it is told again', async () => (await shop.receipts('mine')).length === 2 || undefined);
  for (const { field, manager, action } of await shop.receipts('mine')) {
    assert.deepEqual(
      [field, manager, action],
      ['metadata.labels[plumbline.dev/database]', 'kubectl-edit', 'Corrected'],
    );
  }
  assert.deepEqual(await shop.receipts('theirs'), []);
});

test('a Secret of the user is waited for by name, and not asked for any more once it is there', async () => {
  await shop.submit('existing', { credentials: { source: 'Existing', secretName: 'my-login' } });
  const stalled = await shop.untilCondition('existing', 'Stalled', /^True SecretNotFound/);
  assert.match(stalled, /Secret my-login does not exist: create it with the keys username and password/);
  assert(await shop.get('StatefulSet', 'existing'), 'the rest is made: pods wait for the Secret by themselves');
  assert.equal(await shop.get('Secret', 'existing-credentials'), undefined);
  await put(secretOf('my-login', { username: 'YQ==', password: 'Yg==' }));
  await shop.untilCondition('existing', 'Stalled', /^False/);
  assert.equal((await shop.status('existing'))?.credentialsSecret, 'my-login');
  await shop.running.settled();
  const before = shop.running.requests.length;
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  const asked = shop.running.requestsAfter(before).map(({ verb, type }) => `${verb} ${type?.kind}`);
  assert.deepEqual(asked, []);
});

test('no password is in the log, in an Event or in a status', async () => {
  const passwords = (await shop.list(shop.typeOf('Secret')))
    .flatMap((secret) => Object.entries((secret['data'] ?? {}) as Record<string, string>))
    .filter(([key]) => !['username', 'dbname', 'host', 'port'].includes(key))
    .map(([, value]) => Buffer.from(value, 'base64').toString())
    .filter((value) => value.length > 8);
  assert(passwords.length > 10);
  const said = [
    ...shop.running.logLines,
    ...(await shop.list(shop.typeOf('DatabaseService'))).map((one) => JSON.stringify(one)),
    ...(await shop.list(shop.typeOf('Event'))).map((one) => JSON.stringify(one)),
  ].join('\n');
  for (const password of passwords) assert(!said.includes(password));
});
