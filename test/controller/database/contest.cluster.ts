import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { load } from 'js-yaml';
import type { KubeObject } from '../../../controller/kube/index.ts';
import { eventually, RunningPlumbline } from '../running-plumbline.ts';
import { Shop, wholeSpec } from './shop.ts';

const contest = { flips: 4, withinMs: 600_000, restMs: 6_000 };

let shop: Shop;
before(async () => {
  shop = await Shop.open({ contest });
});
after(async () => {
  await shop[Symbol.asyncDispose]();
});

/** Somebody who looks ten times a second, and writes whenever a value is not his. */
class Rival implements AsyncDisposable {
  writes = 0;
  #isOver = false;
  readonly #end: Promise<void>;

  constructor(isHis: () => Promise<boolean>, write: () => Promise<unknown>) {
    this.#end = this.#run(isHis, write);
  }

  async #run(isHis: () => Promise<boolean>, write: () => Promise<unknown>): Promise<void> {
    while (!this.#isOver) {
      if (!(await isHis())) {
        await write();
        this.writes++;
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#end;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

async function specOf(kind: string, name: string): Promise<Readonly<Record<string, unknown>>> {
  return ((await shop.get(kind, name)) as KubeObject)['spec'] as Readonly<Record<string, unknown>>;
}

const budget = (name: string, maxUnavailable: number): KubeObject => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name, namespace: shop.namespace },
  spec: { maxUnavailable },
});

/** As Argo CD with self-heal: a forced apply. */
function budgeteer(name: string, fieldManager: string): Rival {
  const options = { type: shop.typeOf('PodDisruptionBudget'), fieldManager, force: true };
  return new Rival(
    async () => (await specOf('PodDisruptionBudget', name))['maxUnavailable'] === 2,
    () => shop.kube.apply(budget(name, 2), options),
  );
}

const applies = (made: readonly string[], kind: string) => made.filter((one) => one === `apply ${kind}`).length;

test('with Argo CD and its self-heal: given up after a few times, named, tried again now and then, by another controller too, put back when it ends', async () => {
  await shop.create('argo', wholeSpec);
  const before = shop.running.requests.length;
  const rival = budgeteer('argo', 'argocd-controller');
  await using _ = rival;
  const condition = await shop.untilCondition('argo', 'Drifted', /^True Contested/);
  assert.match(
    condition,
    /argocd-controller and Plumbline keep changing spec\.maxUnavailable of PodDisruptionBudget\/argo \(2 and 1\); it is left until \d{4}-\S+Z\. /,
  );
  assert.match(condition, /To let it be so: drift: \{allowManagers: \[argocd-controller\]\}\./);
  assert.match(
    condition,
    /ignoreDifferences: \[\{group: "\*", kind: PodDisruptionBudget, managedFieldsManagers: \[plumbline\]\}\]/,
  );
  await shop.running.settled();
  const made = shop.running.requestsAfter(before).map(({ verb, type }) => `${verb} ${type?.kind ?? ''}`);
  assert(applies(made, 'PodDisruptionBudget') <= contest.flips + 1, made.join(', '));
  const { writes } = rival;
  const until = Date.parse(/it is left until (\S+Z)\./.exec(condition)?.[1] ?? '');
  // Another controller does not fight anew.
  await shop.restart(undefined, { contest });
  const restarted = await shop.condition('argo', 'Drifted');
  if (Date.now() < until) assert.equal(restarted, condition);
  await eventually('it is tried again', () => rival.writes > writes || undefined);
  await shop.running.settled();
  assert.equal(rival.writes, writes + 1, 'once');
  assert.match(await shop.condition('argo', 'Drifted'), /^True Contested/);
  const [receipt] = await shop.receipts('argo');
  assert.deepEqual([receipt?.manager, receipt?.now], ['argocd-controller', '2']);
  await rival.stop();
  await eventually(
    'it is put back when nobody fights any more',
    async () => (await specOf('PodDisruptionBudget', 'argo'))['maxUnavailable'] === 1 || undefined,
  );
  await shop.untilCondition('argo', 'Drifted', /^False InTrue/);
});

test('with an autoscaler: the line in the condition ends it', async () => {
  await shop.create('scaler', wholeSpec);
  const rival = new Rival(
    async () => (await specOf('StatefulSet', 'scaler'))['replicas'] === 4,
    () =>
      shop.patch('StatefulSet', 'scaler', {
        body: { spec: { replicas: 4 } },
        subresource: 'scale',
        fieldManager: 'autoscaler',
      }),
  );
  await using _ = rival;
  const condition = await shop.untilCondition('scaler', 'Drifted', /^True Contested: autoscaler .* spec\.replicas/);
  const line = /drift: (\{allowManagers: \[autoscaler\]\})/.exec(condition);
  assert(line, condition);
  await shop.edit('scaler', { drift: { allowManagers: ['autoscaler'] } });
  await shop.untilCondition('scaler', 'Drifted', /^False InTrue/);
  await eventually(
    'it has its number',
    async () => (await specOf('StatefulSet', 'scaler'))['replicas'] === 4 || undefined,
  );
  await shop.running.settled();
  const { writes } = rival;
  await shop.restart(undefined, { contest });
  assert.equal(rival.writes, writes, 'nobody writes any more');
});

test('with an autoscaler: what somebody else changes in the same object is put back, and its number is left', async () => {
  // GIVEN a fight that is left for longer than the test lasts
  await using shop = await Shop.open({ contest: { ...contest, restMs: 600_000 } });
  const set = async () => JSON.stringify(await shop.get('StatefulSet', 'apart'));
  await shop.create('apart', wholeSpec);
  await using rival = new Rival(
    async () => (await set()).includes('"replicas":4,'),
    () =>
      shop.patch('StatefulSet', 'apart', {
        body: { spec: { replicas: 4 } },
        subresource: 'scale',
        fieldManager: 'autoscaler',
      }),
  );
  const condition = await shop.untilCondition('apart', 'Drifted', /^True Contested: autoscaler .* spec\.replicas/);
  await shop.running.settled();
  const { writes } = rival;
  const before = shop.running.requests.length;
  // WHEN
  const containers = [{ name: 'postgres', image: 'evil:1' }];
  await shop.patch('StatefulSet', 'apart', {
    kind: 'strategic',
    body: { spec: { template: { spec: { containers } } } },
  });
  // THEN
  await eventually('it is put back', async () => !(await set()).includes('evil:1') || undefined);
  const corrected = await eventually('it is told', async () =>
    (await shop.receipts('apart')).find(({ manager }) => manager === 'kubectl-edit'),
  );
  assert.deepEqual([corrected.action, corrected.now], ['Corrected', 'evil:1']);
  await shop.running.settled();
  const made = shop.running.requestsAfter(before).map(({ verb, type }) => `${verb} ${type?.kind ?? ''}`);
  assert.equal(applies(made, 'StatefulSet'), 1, made.join(', '));
  assert.equal(await shop.condition('apart', 'Drifted'), condition);
  // Another controller leaves the number too.
  await shop.restart(undefined, { contest });
  assert.equal(await shop.condition('apart', 'Drifted'), condition);
  assert.equal(rival.writes, writes, 'nobody writes any more');
});

test('with somebody under the name of Plumbline itself', async () => {
  await shop.create('namesake', wholeSpec);
  const live = (await shop.get('PodDisruptionBudget', 'namesake')) as KubeObject;
  const { labels = {}, ownerReferences = [] } = live.metadata;
  const body = { ...budget('namesake', 2), spec: { ...(live['spec'] as object), maxUnavailable: 2 } };
  const options = { type: shop.typeOf('PodDisruptionBudget'), fieldManager: 'plumbline', force: true };
  const rival = new Rival(
    async () => (await specOf('PodDisruptionBudget', 'namesake'))['maxUnavailable'] === 2,
    () => shop.kube.apply({ ...body, metadata: { ...body.metadata, labels, ownerReferences } }, options),
  );
  await using _ = rival;
  await shop.untilCondition(
    'namesake',
    'Drifted',
    /^True Contested: Somebody under the name of Plumbline and Plumbline keep changing spec\.maxUnavailable/,
  );
  await shop.running.settled();
});

test('with an injector whose addition is removed, and with somebody who deletes an object each time', async () => {
  await shop.create('injected', { ...wholeSpec, drift: { additions: 'Remove' } });
  const sidecar = { spec: { template: { spec: { containers: [{ name: 'mesh', image: 'mesh:1' }] } } } };
  const injector = new Rival(
    async () => JSON.stringify(await specOf('StatefulSet', 'injected')).includes('mesh:1'),
    () => shop.patch('StatefulSet', 'injected', { kind: 'strategic', body: sidecar, fieldManager: 'mesh-injector' }),
  );
  await using _ = injector;
  const pruner = new Rival(
    async () => (await shop.get('Service', 'injected-ro')) === undefined,
    () => shop.delete('Service', 'injected-ro'),
  );
  await using __ = pruner;
  const condition = await shop.untilCondition(
    'injected',
    'Drifted',
    /^True Contested: (?=.*Somebody and Plumbline keep changing Service\/injected-ro)(?=.*mesh-injector and Plumbline keep changing)/,
  );
  assert.match(
    condition,
    /\.containers\[name=mesh\] of StatefulSet\/injected; it is left until .* drift: \{allowManagers: \[mesh-injector\]\}/,
  );
  await Promise.all([injector.stop(), pruner.stop()]);
  await eventually('what was deleted is made again', () => shop.get('Service', 'injected-ro'));
  await shop.untilCondition('injected', 'Drifted', /^False InTrue/);
});

test('two of the same Plumbline agree: no fight, nobody accused, and then no request', async () => {
  await using shop = await Shop.open({ contest });
  const other = await RunningPlumbline.start(shop.cluster, { namespace: shop.namespace, lookAgainMs: 500, contest });
  await using _ = other;
  await shop.create('twins', wholeSpec);
  await shop.patch('PodDisruptionBudget', 'twins', { body: { spec: { maxUnavailable: 3 } } });
  await eventually(
    'it is put back',
    async () =>
      JSON.stringify(await shop.get('PodDisruptionBudget', 'twins')).includes('"maxUnavailable":1') || undefined,
  );
  await shop.edit('twins', { replicas: 2 });
  await eventually('it is seen', async () => (await shop.status('twins'))?.observedGeneration === 2 || undefined);
  await shop.running.settled(1_000);
  await other.settled(1_000);
  const managers = (await shop.receipts('twins')).map(({ manager }) => manager);
  assert(
    managers.every((manager) => manager === 'kubectl-edit'),
    managers.join(', '),
  );
  assert.match(await shop.condition('twins', 'Drifted'), /^False InTrue/);
});

test('edits by different people are no fight, however many', async () => {
  await shop.create('busy', wholeSpec);
  for (let turn = 0; turn < 8; turn++) {
    const corrected = (await shop.status('busy'))?.drift?.corrected ?? 0;
    const body = { spec: { maxUnavailable: 2 } };
    await shop.patch('PodDisruptionBudget', 'busy', { body, fieldManager: turn % 2 === 0 ? 'anna' : 'bernd' });
    await eventually(
      'it is put back',
      async () => ((await shop.status('busy'))?.drift?.corrected ?? 0) > corrected || undefined,
    );
  }
  assert.match(await shop.condition('busy', 'Drifted'), /^False InTrue/);
});

test('with somebody who wipes managedFields again and again', async () => {
  await shop.create('wiper', wholeSpec);
  const before = shop.running.requests.length;
  await using _ = new Rival(
    async () => ((await shop.get('Service', 'wiper-ro'))?.metadata.managedFields ?? []).length === 0,
    () => shop.patch('Service', 'wiper-ro', { body: { metadata: { managedFields: [{}] } } }),
  );
  await shop.untilCondition(
    'wiper',
    'Drifted',
    /^True Contested: Somebody and Plumbline keep changing metadata\.managedFields of Service\/wiper-ro; it is left until /,
  );
  await shop.running.settled();
  const made = shop.running.requestsAfter(before).map(({ verb, type }) => `${verb} ${type?.kind ?? ''}`);
  assert(applies(made, 'Service') <= contest.flips + 1, made.join(', '));
});

test('with a tool that writes under two names in turn', async () => {
  await shop.create('turns', wholeSpec);
  let turn = 0;
  const rival = new Rival(
    async () => (await specOf('PodDisruptionBudget', 'turns'))['maxUnavailable'] === 2,
    () => {
      const fieldManager = (turn += 1) % 2 === 0 ? 'tool-a' : 'tool-b';
      return shop.patch('PodDisruptionBudget', 'turns', { body: { spec: { maxUnavailable: 2 } }, fieldManager });
    },
  );
  await using _ = rival;
  const condition = await shop.untilCondition('turns', 'Drifted', /^True Contested: tool-a, tool-b and Plumbline /);
  assert(condition.includes('drift: {allowManagers: [tool-a, tool-b]}'), condition);
  assert(rival.writes <= contest.flips * 4 + 1, `${rival.writes} writes`);
});

test('the line of YAML is the one that is meant, whatever name the rival gave himself', async () => {
  await shop.create('strange', wholeSpec);
  const fieldManager = 'ops], policy: Report, x: [';
  await using _ = new Rival(
    async () => (await specOf('PodDisruptionBudget', 'strange'))['maxUnavailable'] === 2,
    () => shop.patch('PodDisruptionBudget', 'strange', { body: { spec: { maxUnavailable: 2 } }, fieldManager }),
  );
  const condition = await shop.untilCondition('strange', 'Drifted', /^True Contested/);
  const [, line = ''] = /To let it be so: (.*)\. To have it/.exec(condition) ?? [];
  const spec = load(line) as Record<string, unknown>;
  assert.deepEqual(spec, { drift: { allowManagers: [fieldManager] } });
  await shop.edit('strange', spec);
  await shop.untilCondition('strange', 'Drifted', /^False InTrue/);
  assert.equal((await specOf('PodDisruptionBudget', 'strange'))['maxUnavailable'], 2);
});

test('with a HorizontalPodAutoscaler: its number is left to it by the line in the condition', async () => {
  await shop.create('hpa', wholeSpec);
  const autoscaler = {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'hpa', namespace: shop.namespace },
    spec: {
      // More than the spec asks for: for that it needs no metrics.
      minReplicas: 4,
      maxReplicas: 5,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'hpa' },
    },
  };
  const { code, stderr } = await shop.cluster.kubectlRun(['apply', '-f', '-'], JSON.stringify(autoscaler));
  assert.equal(code, 0, stderr);
  const receipt = await eventually('it is told', async () => (await shop.receipts('hpa'))[0]);
  assert.deepEqual(
    [receipt.field, receipt.manager, receipt.operation],
    ['spec.replicas', 'kube-controller-manager', 'Update of scale'],
  );
  await shop.edit('hpa', { drift: { allowManagers: [receipt.manager] } });
  await eventually(
    'it has its number',
    async () => (await specOf('StatefulSet', 'hpa'))['replicas'] === 4 || undefined,
  );
  await shop.running.settled();
  await shop.restart(undefined, { contest });
  assert.equal((await specOf('StatefulSet', 'hpa'))['replicas'], 4);
  await shop.untilCondition('hpa', 'Drifted', /^False InTrue/);
  await shop.cluster.kubectlRun(['delete', '-n', shop.namespace, 'horizontalpodautoscaler', 'hpa']);
});

test('a number of members that decides about volumes: the line says what works', async () => {
  await shop.create('kept', { ...wholeSpec, storage: { size: '1Gi', onDelete: 'Delete' } });
  await using _ = new Rival(
    async () => (await specOf('StatefulSet', 'kept'))['replicas'] === 2,
    () =>
      shop.patch('StatefulSet', 'kept', {
        body: { spec: { replicas: 2 } },
        subresource: 'scale',
        fieldManager: 'autoscaler',
      }),
  );
  const condition = await shop.untilCondition('kept', 'Drifted', /^True Contested/);
  assert(condition.includes('To let it be so: drift: {policy: Report}.'), condition);
});
