import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually } from '../running-plumbline.ts';
import { Shop, wholeSpec } from './shop.ts';

let shop: Shop;
before(async () => {
  shop = await Shop.open();
});
after(async () => {
  await shop[Symbol.asyncDispose]();
});

const image = { spec: { template: { spec: { containers: [{ name: 'postgres', image: 'evil:1' }] } } } };
const policy = (policy: string) => ({ drift: { policy } });

async function imageOf(name: string): Promise<string | undefined> {
  return /"image":"([^"]*)","imagePullPolicy":"[^"]*","lifecycle|"image":"(evil:1)"/.exec(
    JSON.stringify(await shop.get('StatefulSet', name)),
  )?.[0];
}

test('with drift.policy Report an edit is reported once and left, also over a restart', async () => {
  await shop.create('edited', { ...wholeSpec, ...policy('Report') });
  const made = await shop.requestsFor(async () => {
    await shop.patch('StatefulSet', 'edited', { kind: 'strategic', body: image });
    await shop.untilCondition('edited', 'Drifted', /^True/);
  });
  assert.deepEqual([...made].sort(), ['apply DatabaseService', 'create Event']);
  assert.match((await imageOf('edited')) ?? '', /evil:1/);
  assert.match(
    await shop.condition('edited', 'Drifted'),
    /^True DriftReported: kubectl-edit changed spec\.template\.spec\.containers\[name=postgres\]\.image .* to evil:1\.$/,
  );
  const [receipt] = await shop.receipts('edited');
  assert.deepEqual([receipt?.action, receipt?.manager, receipt?.now], ['Reported', 'kubectl-edit', 'evil:1']);

  const status = { status: { observedGeneration: 99 } };
  const noise = await shop.requestsFor(() =>
    shop.patch('StatefulSet', 'edited', { body: status, subresource: 'status' }),
  );
  assert.deepEqual(noise, [], 'what happens to it beside is looked at and told to nobody');

  await shop.restart();
  assert.deepEqual(
    shop.running.requestsAfter(0).filter(({ verb }) => verb !== 'list'),
    [],
  );
  assert.equal((await shop.receipts('edited')).length, 1);
  assert.equal((await shop.driftEvents('edited')).length, 1);
});

test('it is not drifted any more when the user puts the value back', async () => {
  await shop.create('put-back', policy('Report'));
  const edit = (maxUnavailable: number) =>
    shop.patch('PodDisruptionBudget', 'put-back', { body: { spec: { maxUnavailable } } });
  await edit(2);
  await shop.untilCondition('put-back', 'Drifted', /^True/);
  await edit(1);
  await shop.untilCondition('put-back', 'Drifted', /^False InTrue/);
  await edit(3);
  await shop.untilCondition('put-back', 'Drifted', /^True .* to 3\.$/);
  await shop.running.settled();
  assert.equal((await shop.receipts('put-back')).length, 2);
});

test('what is deleted is reported and not made again; when it is there again, all is true', async () => {
  await shop.create('deleted', policy('Report'));
  const live = await shop.get('PodDisruptionBudget', 'deleted');
  assert(live);
  await shop.delete('PodDisruptionBudget', 'deleted');
  await shop.untilCondition('deleted', 'Drifted', /^True/);
  assert.match(
    await shop.condition('deleted', 'Drifted'),
    /^True DriftReported: Somebody deleted PodDisruptionBudget\/deleted\.$/,
  );
  assert.equal(await shop.get('PodDisruptionBudget', 'deleted'), undefined);
  await shop.restart();
  assert.equal(await shop.get('PodDisruptionBudget', 'deleted'), undefined);
  assert.equal((await shop.receipts('deleted')).length, 1);

  const { uid: _, resourceVersion: __, managedFields: ___, ...metadata } = live.metadata;
  await shop.kube.create(
    { ...live, metadata },
    { type: shop.typeOf('PodDisruptionBudget'), fieldManager: 'kubectl-create' },
  );
  await shop.untilCondition('deleted', 'Drifted', /^False InTrue/);
});

test('a label that our watch needs is missed, and looked for, and left', async () => {
  await shop.create('unlabelled', policy('Report'));
  const label = (value: string | null) =>
    shop.patch('Service', 'unlabelled', { body: { metadata: { labels: { 'plumbline.dev/database': value } } } });
  await label(null);
  await shop.untilCondition('unlabelled', 'Drifted', /^True .* removed metadata\.labels\[plumbline\.dev\/database\]/);
  await label('unlabelled');
  await shop.untilCondition('unlabelled', 'Drifted', /^False InTrue/);
});

test('with Correct again what was left is put back, and told', async () => {
  await shop.create('turned', policy('Report'));
  await shop.patch('Service', 'turned', { body: { spec: { selector: { app: 'x' } } } });
  await shop.untilCondition('turned', 'Drifted', /^True/);
  await shop.edit('turned', policy('Correct'));
  await shop.untilCondition('turned', 'Drifted', /^False InTrue/);
  const [receipt] = await shop.receipts('turned');
  assert.deepEqual([receipt?.action, receipt?.field, receipt?.manager], ['Corrected', 'spec.selector', 'kubectl-edit']);
  await shop.running.settled();
  assert(!JSON.stringify(await shop.get('Service', 'turned')).includes('"app":"x"'));
});

test('a change of the spec applies the object that it concerns as a whole, and no other', async () => {
  await shop.create('changed', { ...policy('Report'), replicas: 1 });
  await shop.patch('StatefulSet', 'changed', { kind: 'strategic', body: image });
  await shop.patch('Service', 'changed', { body: { spec: { selector: { app: 'x' } } } });
  await eventually('both are told', async () => (await shop.receipts('changed')).length === 2 || undefined);
  await shop.edit('changed', { replicas: 2 });
  await eventually('the change is applied', async () => {
    const { spec } = (await shop.get('StatefulSet', 'changed')) as unknown as { spec: { replicas: number } };
    return spec.replicas === 2 || undefined;
  });
  await shop.running.settled();
  assert(JSON.stringify(await shop.get('Service', 'changed')).includes('"app":"x"'));
  assert.match(await shop.condition('changed', 'Drifted'), /^True .*Service\/changed/);
});
