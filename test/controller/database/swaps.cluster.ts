import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { KubeObject } from '../../../controller/kube/index.ts';
import { eventually } from '../running-plumbline.ts';
import { Shop, wholeSpec } from './shop.ts';

let shop: Shop;
before(async () => {
  shop = await Shop.open();
});
after(async () => {
  await shop[Symbol.asyncDispose]();
});

type Spec = Record<string, unknown>;

async function specOf(kind: string, name: string): Promise<Spec> {
  return ((await shop.get(kind, name)) as KubeObject)['spec'] as Spec;
}

/** What kubectl edit sends for a changed `spec`: a PUT, again where a status was written meanwhile. */
async function edit(kind: string, name: string, change: (spec: Spec) => Spec): Promise<void> {
  const args = ['replace', '-n', shop.namespace, '-f', '-', '--field-manager=kubectl-edit'];
  await eventually('it is written', async () => {
    const live = (await shop.get(kind, name)) as KubeObject;
    const edited = JSON.stringify({ ...live, spec: change(live['spec'] as Spec) });
    const { code, stderr } = await shop.cluster.kubectlRun(args, edited);
    assert(code === 0 || stderr.includes('(Conflict)'), stderr);
    return code === 0 || undefined;
  });
}

const swapped = ({ maxUnavailable: _, ...rest }: Spec): Spec => ({ ...rest, minAvailable: 1 });

test('a field swapped for one that does not go with it is put back, and hinders no change of the spec', async () => {
  await shop.create('swap', wholeSpec);
  await edit('PodDisruptionBudget', 'swap', swapped);
  await shop.edit('swap', { backup: { schedule: '5 5 * * *' } });
  await eventually('it is put back', () =>
    shop.isTrue('PodDisruptionBudget', 'swap', 'swap').then((is) => is || undefined),
  );
  assert.equal((await specOf('PodDisruptionBudget', 'swap'))['minAvailable'], undefined);
  await eventually(
    'the spec is followed',
    async () => (await specOf('CronJob', 'swap-backup'))['schedule'] === '5 5 * * *' || undefined,
  );
  await shop.untilCondition('swap', 'Drifted', /^False InTrue/);
  assert.match(await shop.condition('swap', 'Stalled'), /^False/);
  assert.deepEqual((await shop.receipts('swap')).map(({ field, manager }) => `${field} by ${manager}`).sort(), [
    'spec.maxUnavailable by unknown',
    'spec.minAvailable by kubectl-edit',
  ]);
});

test('a field swapped in a pause is put back when that ends', async () => {
  await shop.create('later', { ...wholeSpec, drift: { pause: { until: '2099-01-01T00:00:00Z' } } });
  await edit('PodDisruptionBudget', 'later', swapped);
  await shop.untilCondition('later', 'Drifted', /^True DriftReported.*spec\.maxUnavailable/);
  await shop.edit('later', { drift: { pause: null } });
  await eventually('it is put back', () =>
    shop.isTrue('PodDisruptionBudget', 'later', 'later').then((is) => is || undefined),
  );
  await shop.untilCondition('later', 'Drifted', /^False InTrue/);
});

test('a change that brings a part with it is told once', async () => {
  await shop.create('rolling', wholeSpec);
  await edit('StatefulSet', 'rolling', (spec) => ({
    ...spec,
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } },
  }));
  await eventually('it is put back', () =>
    shop.isTrue('StatefulSet', 'rolling', 'rolling').then((is) => is || undefined),
  );
  assert.equal(JSON.stringify((await specOf('StatefulSet', 'rolling'))['updateStrategy']), '{"type":"OnDelete"}');
  await shop.untilCondition('rolling', 'Drifted', /^False InTrue/);
  const told = (await shop.receipts('rolling')).map(({ field, action }) => `${field} ${action}`);
  assert.equal(told.filter((one) => one.startsWith('spec.updateStrategy.type')).length, 1, told.join(', '));
  assert(!told.some((one) => one.startsWith('spec.updateStrategy ')), told.join(', '));
});

interface Container {
  readonly name: string;
  readonly image: string;
}

test('a container that was renamed and edited at once is put back, and a sidecar beside it stays', async () => {
  await shop.create('renamed', wholeSpec);
  const containers = async (): Promise<readonly Container[]> => {
    const { template } = await specOf('StatefulSet', 'renamed');
    return (template as { spec: { containers: readonly Container[] } }).spec.containers;
  };
  const before = await containers();
  const spy = { name: 'spy', image: 'spy:1' };
  await edit('StatefulSet', 'renamed', (spec) => {
    const template = structuredClone(spec['template']) as { spec: { containers: Container[] } };
    template.spec.containers = template.spec.containers.map((one) =>
      one.name === 'postgres' ? { ...one, name: 'pg', image: 'other:1' } : one,
    );
    template.spec.containers.push(spy);
    return { ...spec, template };
  });
  await eventually('it is put back', () =>
    shop.isTrue('StatefulSet', 'renamed', 'renamed').then((is) => is || undefined),
  );
  assert.deepEqual(
    (await containers()).map(({ name }) => name).sort(),
    [...before.map(({ name }) => name), 'spy'].sort(),
  );
  const receipt = await eventually('it is told', async () =>
    (await shop.receipts('renamed')).find(({ field }) => field.endsWith('containers[name=postgres]')),
  );
  assert.deepEqual([receipt.manager, receipt.action], ['kubectl-edit', 'Corrected']);
});
