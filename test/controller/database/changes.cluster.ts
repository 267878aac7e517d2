import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { render } from '../../../constructs/render.ts';
import { serialize } from '../../../constructs/serialize.ts';
import { claims } from '../../../controller/database/kinds.ts';
import { stateWithSecrets } from '../../../controller/database/stated.ts';
import { eventually } from '../running-plumbline.ts';
import { Shop, wholeSpec } from './shop.ts';

let shop: Shop;
before(async () => {
  shop = await Shop.open();
});
after(async () => {
  await shop[Symbol.asyncDispose]();
});

test('a creation is one request for each object and its history, one for the authority of the certificate, one look at what an earlier database left, and few statuses', async () => {
  const made = await shop.requestsFor(() => shop.create('orders', wholeSpec));
  const objects = stateWithSecrets(await shop.resource('orders')).length;
  const statuses = made.filter((request) => request === 'apply DatabaseService').length;
  assert.equal(made.length - statuses, objects + 3);
  assert.deepEqual(
    made.filter((request) => request.startsWith('get')),
    ['get Secret'],
  );
  assert(statuses >= 1 && statuses <= 3, made.join(', '));
});

type Row = readonly [what: string, spec: Readonly<Record<string, unknown>>, requests: readonly string[]];
const peers = [{ podSelector: { matchLabels: { app: 'web' } } }];
const rows: readonly Row[] = [
  ['a parameter, and that it is tried', { parameters: { work_mem: '8MB' } }, ['apply ConfigMap', 'apply ConfigMap']],
  ['members, after a look at who leads', { replicas: 2 }, ['get ConfigMap', 'apply StatefulSet']],
  ['when backups run', { backup: { schedule: '0 4 * * *' } }, ['apply CronJob']],
  ['who may connect', { access: { from: peers } }, ['apply NetworkPolicy']],
  ['nothing', { replicas: 2 }, []],
  ['what concerns the controller alone', { drift: { policy: 'Correct' } }, []],
];
for (const [what, spec, requests] of rows) {
  test(`a change of the spec applies what it changes: ${what}`, async () => {
    const made = await shop.requestsFor(async () => {
      await shop.edit('orders', spec);
      const { generation } = (await shop.resource('orders')).metadata;
      await eventually(
        'it is seen',
        async () => (await shop.status('orders'))?.observedGeneration === generation || undefined,
      );
    });
    assert.deepEqual(
      made.filter((request) => request !== 'apply DatabaseService'),
      requests,
    );
    const { generation } = (await shop.resource('orders')).metadata;
    assert.equal((await shop.status('orders'))?.observedGeneration, generation);
    assert.deepEqual(await shop.receipts('orders'), []);
  });
}

test('ten edits of the spec in a row end at the last one', async () => {
  for (let n = 1; n <= 10; n++) await shop.edit('orders', { parameters: { max_connections: String(100 + n) } });
  await eventually(
    'the last is applied',
    async () => JSON.stringify(await shop.get('ConfigMap', 'orders-patroni-config')).includes('110') || undefined,
  );
  await shop.running.settled();
  const { generation } = (await shop.resource('orders')).metadata;
  assert.equal((await shop.status('orders'))?.observedGeneration, generation);
  assert.deepEqual(await shop.receipts('orders'), []);
});

test('without a backup in the spec its CronJob and ServiceAccount go, and never the claim', async () => {
  await shop.create('less', wholeSpec);
  const claim = (await shop.get('PersistentVolumeClaim', 'less-backup'))?.metadata.uid;
  await shop.edit('less', { backup: null });
  await eventually('both are gone', async () => {
    const left = await Promise.all([shop.get('CronJob', 'less-backup'), shop.get('ServiceAccount', 'less-backup')]);
    return left.every((one) => one === undefined) || undefined;
  });
  await shop.running.settled();
  assert.equal((await shop.get('PersistentVolumeClaim', 'less-backup'))?.metadata.uid, claim);
  assert.deepEqual(await shop.receipts('less'), []);
  await shop.edit('less', { backup: wholeSpec.backup });
  await eventually('it is there again', () => shop.get('CronJob', 'less-backup'));
  assert.equal((await shop.get('PersistentVolumeClaim', 'less-backup'))?.metadata.uid, claim);
});

test('with delivery.apply false nothing but what is never in Git is made; the phase tells what a GitOps tool has applied', async () => {
  const spec = { delivery: { apply: false } };
  const made = await shop.requestsFor(() => shop.create('gitops', spec));
  const changes = made.filter((request) => !/^(get|list) /.test(request));
  assert.deepEqual([...new Set(changes)].sort(), ['apply ConfigMap', 'apply DatabaseService', 'create Secret']);
  assert.ok(await shop.get('ConfigMap', 'gitops-history'));
  for (const name of ['credentials', 'system', 'tls', 'tls-ca'])
    assert.ok(await shop.get('Secret', `gitops-${name}`), name);
  assert.equal((await shop.status('gitops'))?.phase, 'Pending');
  assert.match(await shop.condition('gitops', 'Drifted'), /^False NotApplied/);

  const { apiVersion, kind, spec: stored } = await shop.resource('gitops');
  const document = { apiVersion, kind, metadata: { name: 'gitops', namespace: shop.namespace }, spec: stored };
  const manifests = render(document).map(serialize).join('---\n');
  const args = ['apply', '--server-side', '--field-manager=argocd-controller', '-f', '-'];
  const { code, stderr } = await shop.cluster.kubectlRun(args, manifests);
  assert.equal(code, 0, stderr);
  await eventually('it starts', async () => (await shop.status('gitops'))?.phase === 'Provisioning' || undefined);
  await shop.running.settled();
  const suspects = shop.running.plumbline.children.of(`${shop.namespace}/gitops`).filter((child) => child.suspect);
  assert.deepEqual(suspects, [], 'nothing of it is kept');
  await shop.delete('Service', 'gitops-ro');
  await shop.running.settled();
  const said = await shop.requestsFor(() =>
    shop.patch('Service', 'gitops', { body: { spec: { selector: { a: 'b' } } } }),
  );
  assert.deepEqual([...new Set(said)].sort(), ['apply DatabaseService', 'create Event'], 'it is told, and left');
  assert.equal(await shop.get('Service', 'gitops-ro'), undefined, 'that is the business of the GitOps tool');

  const uid = (await shop.get('StatefulSet', 'gitops'))?.metadata.uid;
  await shop.edit('gitops', { delivery: { apply: true } });
  await eventually('it is applied', () => shop.get('Service', 'gitops-ro'));
  await shop.running.settled();
  assert.equal((await shop.get('StatefulSet', 'gitops'))?.metadata.uid, uid);
  assert.equal((await shop.list(claims, 'plumbline.dev/database=gitops')).length, 1);
});
