import assert from 'node:assert/strict';
import test from 'node:test';
import type { ResourceType } from '../../../controller/kube/index.ts';
import { eventually } from '../running-plumbline.ts';
import { Shop, wholeSpec } from './shop.ts';

const apiVersion = 'admissionregistration.k8s.io/v1';
const policies: ResourceType = {
  apiVersion,
  kind: 'MutatingAdmissionPolicy',
  plural: 'mutatingadmissionpolicies',
  namespaced: false,
};
const bindings: ResourceType = {
  apiVersion,
  kind: 'MutatingAdmissionPolicyBinding',
  plural: 'mutatingadmissionpolicybindings',
  namespaced: false,
};

/** As a managed platform does: more cpu, ephemeral storage, a label on the pods. */
const expression = `Object{spec: Object.spec{template: Object.spec.template{
  metadata: Object.spec.template.metadata{labels: {"platform": "managed"}},
  spec: Object.spec.template.spec{containers: object.spec.template.spec.containers.map(c,
    Object.spec.template.spec.containers{name: c.name, resources: Object.spec.template.spec.containers.resources{
      requests: {"cpu": "250m", "ephemeral-storage": "1Gi"}, limits: {"ephemeral-storage": "1Gi"}}})}}}}`;

test('https://github.com/prometheus-operator/prometheus-operator/issues/8049: a policy that rewrites what we apply', async () => {
  await using shop = await Shop.open();
  const name = `platform-${Date.now()}`;
  const isOurs = `object.metadata.namespace == "${shop.namespace}"`;
  const rules = [
    { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['statefulsets'] },
  ];
  await shop.kube.create(
    {
      apiVersion,
      kind: policies.kind,
      metadata: { name },
      spec: {
        matchConstraints: { resourceRules: rules },
        matchConditions: [{ name: 'ours', expression: isOurs }],
        failurePolicy: 'Fail',
        reinvocationPolicy: 'Never',
        mutations: [
          {
            patchType: 'ApplyConfiguration',
            applyConfiguration: { expression: expression },
          },
        ],
      },
    },
    { type: policies, fieldManager: 'test' },
  );
  await shop.kube.create(
    { apiVersion, kind: bindings.kind, metadata: { name }, spec: { policyName: name } },
    { type: bindings, fieldManager: 'test' },
  );
  const probe = JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'probe' },
    spec: {
      serviceName: 'x',
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', image: 'b' }] } },
    },
  });
  await eventually('the policy is in force', async () => {
    const args = ['create', '-n', shop.namespace, '--dry-run=server', '-o', 'yaml', '-f', '-'];
    const { stdout, stderr } = await shop.cluster.kubectlRun(args, probe);
    if (stderr !== '') throw new Error(stderr);
    return stdout.includes('platform: managed') || undefined;
  });
  const applies = (made: readonly string[]) => made.filter((request) => request === 'apply StatefulSet').length;

  const created = await shop.requestsFor(() => shop.create('orders', wholeSpec));
  assert(applies(created) <= 2, created.join(', '));
  const text = async (): Promise<string> => JSON.stringify(await shop.get('StatefulSet', 'orders'));
  assert((await text()).includes('"ephemeral-storage":"1Gi"'));

  const changed = await shop.requestsFor(async () => {
    await shop.edit('orders', { replicas: 2 });
    await eventually('it is seen', async () => (await shop.status('orders'))?.observedGeneration === 2 || undefined);
  });
  assert.equal(applies(changed), 1, changed.join(', '));

  const { resourceVersion, generation } = (await shop.get('StatefulSet', 'orders'))?.metadata ?? {};
  await shop.restart();
  const again = (await shop.get('StatefulSet', 'orders'))?.metadata;
  assert.deepEqual([again?.resourceVersion, again?.generation], [resourceVersion, generation], 'nothing is written');
  assert(shop.running.requestsAfter(0).filter(({ verb }) => verb !== 'list').length <= 1, 'one dry run');

  const body = { spec: { template: { spec: { containers: [{ name: 'postgres', image: 'evil:1' }] } } } };
  const repaired = await shop.requestsFor(async () => {
    await shop.patch('StatefulSet', 'orders', { kind: 'strategic', body });
    await eventually('it is told', async () => (await shop.receipts('orders')).length === 1 || undefined);
  });
  assert.equal(applies(repaired), 1, repaired.join(', '));
  assert(!(await text()).includes('evil:1'));
  assert((await text()).includes('"ephemeral-storage":"1Gi"'), 'back to what admission makes of ours');
  assert.deepEqual(
    (await shop.receipts('orders')).map(({ manager, field }) => [manager, field.split('.').at(-1)]),
    [['kubectl-edit', 'image']],
  );
  assert.match(await shop.condition('orders', 'Drifted'), /^False/);
  assert.deepEqual(await shop.requestsFor(async () => new Promise((resolve) => setTimeout(resolve, 1_500))), []);
  await shop.kube.delete(bindings, { name });
  await shop.kube.delete(policies, { name });
});
