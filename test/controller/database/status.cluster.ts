import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../../controller/kube/index.ts';
import { eventually } from '../running-plumbline.ts';
import { patience, Shop } from './shop.ts';

let shop: Shop;
before(async () => {
  shop = await Shop.open();
  await shop.create('orders');
  await shop.patch('Service', 'orders', { body: { spec: { selector: { app: 'x' } } } });
  await eventually('there is a receipt', async () => (await shop.receipts('orders')).length === 1 || undefined);
  await shop.running.settled();
});
after(async () => {
  await shop[Symbol.asyncDispose]();
});

const forge = (body: object) => () =>
  shop.patch('DatabaseService', 'orders', { body: { status: body }, subresource: 'status', fieldManager: 'forger' });

/** The status emptied, as a restore does. */
async function empty(): Promise<void> {
  const { status: _, ...rest } = (await shop.resource('orders')) as unknown as KubeObject;
  const args = ['replace', '--subresource=status', '-f', '-'];
  const { code, stderr } = await shop.cluster.kubectlRun(args, JSON.stringify({ ...rest, status: {} }));
  assert.equal(code, 0, stderr);
}

const rows: readonly (readonly [what: string, act: () => Promise<unknown>])[] = [
  ['another phase', forge({ phase: 'Running', readyReplicas: 1, ready: '1/1' })],
  ['a primary that is none', forge({ primary: 'orders-7' })],
  ['receipts of what never was', forge({ drift: { corrected: 99, receipts: [] } })],
  ['a commit that is none', forge({ git: { commit: 'abc', path: 'x' } })],
  ['another time', forge({ lastReconcileTime: '2000-01-01T00:00:00Z' })],
  ['no conditions', forge({ conditions: [] })],
  ['an emptied status', empty],
];

for (const [what, act] of rows) {
  test(`the status is written again, once, as it was: ${what}`, async () => {
    const before = await shop.status('orders');
    const made = await shop.requestsFor(async () => {
      await act();
      await eventually(
        'it is as it was',
        async () => isDeepStrictEqual(await shop.status('orders'), before) || undefined,
      );
    });
    assert(made.length >= 1 && made.length <= 2, made.join(', '));
    assert(
      made.every((request) => request.endsWith(' DatabaseService')),
      made.join(', '),
    );
  });
}

test("somebody else's condition stays, and costs nothing", async () => {
  const before = await shop.status('orders');
  const billed = {
    type: 'Billed',
    status: 'True',
    reason: 'Paid',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  } as const;
  const made = await shop.requestsFor(forge({ conditions: [...(before?.conditions ?? []), billed] }));
  assert.deepEqual(made, []);
  assert.match(await shop.condition('orders', 'Billed'), /^True Paid/);
});

test("the user's object is never written, but for its status", async () => {
  const { metadata, spec } = (await shop.resource('orders')) as unknown as KubeObject;
  const ours = (metadata.managedFields ?? []).filter(({ manager }) => manager?.startsWith('plumbline'));
  assert.deepEqual(
    ours.map(({ manager, operation, subresource }) => [manager, operation, subresource]),
    [['plumbline-status', 'Apply', 'status']],
  );
  assert.deepEqual(Object.keys(ours[0]?.fieldsV1 ?? {}), ['f:status']);
  assert.deepEqual([metadata.generation, metadata.finalizers], [1, undefined]);
  assert.deepEqual(spec, { engine: 'postgresql', version: '17', storage: { size: '1Gi' }, replicas: 1, ...patience });
});

test('what kubectl get shows is there', async () => {
  const { stdout } = await shop.cluster.kubectlRun(['get', 'dbs', 'orders', '-n', shop.namespace, '-o', 'wide']);
  assert.match(stdout, /Provisioning +0\/1 +postgresql +17 .* 1Gi +1/);
});
