import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { events } from '../../../controller/database/kinds.ts';
import type { KubeObject } from '../../../controller/kube/index.ts';
import { eventually } from '../running-plumbline.ts';
import { Shop, wholeSpec } from './shop.ts';

const contest = { flips: 4, withinMs: 600_000, restMs: 60_000 };
const secret = 'hunter2';
const field = 'spec.template.spec.containers[name=postgres].env[name=HOME]';

let shop: Shop;
before(async () => {
  shop = await Shop.open({ contest });
});
after(async () => {
  await shop[Symbol.asyncDispose]();
});

type Variable = { readonly name: string; readonly value?: string };
type Workload = KubeObject & {
  spec: { template: { spec: { containers: readonly { readonly name: string; readonly env: readonly Variable[] }[] } } };
};

async function homes(name: string): Promise<readonly (string | undefined)[]> {
  const { spec } = (await shop.get('StatefulSet', name)) as Workload;
  const [postgres] = spec.template.spec.containers;
  return (postgres?.env ?? []).filter((one) => one.name === 'HOME').map(({ value }) => value);
}

/** A second variable of a name that we state: the kubelet takes the last. */
async function double(name: string): Promise<void> {
  const value = { name: 'HOME', value: secret };
  const body = [{ op: 'add', path: '/spec/template/spec/containers/0/env/-', value }];
  await shop.patch('StatefulSet', name, { kind: 'json', body });
}

test('a second variable under a name of ours is told with its editor, taken out, and its value shown nowhere', async () => {
  await shop.create('double', wholeSpec);
  await double('double');
  const receipt = await eventually('it is told', async () => (await shop.receipts('double'))[0]);
  assert.deepEqual(
    [receipt.field, receipt.was, receipt.now, receipt.manager, receipt.action],
    [field, '(hidden)', '(hidden)', 'kubectl-edit', 'Corrected'],
  );
  assert.deepEqual(await homes('double'), ['/tmp']);
  await shop.untilCondition('double', 'Drifted', /^False InTrue/);
  const told = [
    JSON.stringify(await shop.status('double')),
    ...shop.running.logLines,
    ...(await shop.list(events)).map((event) => JSON.stringify(event)),
  ];
  assert.deepEqual(
    told.filter((text) => text.includes(secret)),
    [],
  );
});

test('in a pause it is told and left, until that ends', async () => {
  await shop.create('paused', { ...wholeSpec, drift: { pause: { until: '2099-01-01T00:00:00Z' } } });
  await double('paused');
  const condition = await shop.untilCondition('paused', 'Drifted', /^True DriftReported/);
  assert(condition.includes(field), condition);
  assert.deepEqual(await homes('paused'), ['/tmp', secret]);
  await shop.edit('paused', { drift: { pause: null } });
  await eventually('it is taken out', async () => (await homes('paused')).length === 1 || undefined);
});

test('who adds it again and again is in a fight', async () => {
  await shop.create('again', wholeSpec);
  const isContested = async () => (await shop.condition('again', 'Drifted')).startsWith('True Contested');
  let writes = 0;
  await eventually('it is given up', async () => {
    if ((await homes('again')).length === 1) {
      await double('again');
      writes += 1;
    }
    return (await isContested()) || undefined;
  });
  assert(writes <= contest.flips + 1, `${writes} writes`);
});
