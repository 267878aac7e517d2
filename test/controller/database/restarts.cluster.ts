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

const image = { spec: { template: { spec: { containers: [{ name: 'postgres', image: 'other:1' }] } } } };
const edit = (name: string) => shop.patch('StatefulSet', name, { kind: 'strategic', body: image });

const event = (name: string, pattern: RegExp) =>
  eventually(`an Event of ${name} says ${pattern}`, async () =>
    (await shop.driftEvents(name)).find((message) => pattern.test(message)),
  );

/** What its receipts say of restarts, the newest first, once there are so many. */
const costs = (name: string, count = 1) =>
  eventually(`${name} has ${count} receipts`, async () => {
    const receipts = await shop.receipts(name);
    return receipts.length < count ? undefined : receipts.map(({ action, cost }) => `${action}: ${cost}`);
  });

test('a template that is put back before anything was made from it restarts nobody, and that is said', async () => {
  await shop.create('early', wholeSpec);
  await edit('early');
  await event('early', /It was put back\. No member restarts for that\.$/);
  assert.deepEqual(await costs('early'), ['Corrected: No member restarts for that.']);
  const line = shop.driftLines().find((one) => one.includes('StatefulSet/early'));
  assert.match(line ?? '', /No member restarts for that\.$/);
});

test('where Kubernetes renews the members, it is said that it does', async () => {
  await shop.create('rolling', { ...wholeSpec, upgrade: { rollout: 'StatefulSet' } });
  await edit('rolling');
  await event('rolling', /It was put back\. Kubernetes restarts the members for that\.$/);
  assert.deepEqual(await costs('rolling'), ['Corrected: Kubernetes restarts the members for that.']);
});

test('what a member was made from meanwhile is named, first as what it would cost, then as what it does', async () => {
  await shop.create('late', { ...wholeSpec, drift: { policy: 'Report' } });
  await edit('late');
  await event('late', /drift\.policy is Report\. To put it back restarts no member\.$/);
  await shop.untilObserved('late');
  await shop.delete('Pod', 'late-1', { gracePeriodSeconds: 0 });
  await eventually(
    'it is made again from what somebody wrote',
    async () => JSON.stringify((await shop.get('Pod', 'late-1'))?.['spec'] ?? '').includes('other:1') || undefined,
  );
  await shop.running.settled();
  await shop.edit('late', { drift: { policy: 'Correct' } });
  await event('late', /It was put back\. That restarts the member that was made from it \(late-1\)\.$/);
  assert.deepEqual(await costs('late', 2), [
    'Corrected: That restarts the member that was made from it (late-1).',
    'Reported: To put it back restarts no member.',
  ]);
});
