import assert from 'node:assert/strict';
import test from 'node:test';
import { connect, KubeClient, type KubeObject, type ResourceType } from '../../../controller/kube/index.ts';
import { sharedCluster } from '../../cluster/index.ts';
import { eventually, installCrd } from '../running-plumbline.ts';
import { inShort, Shop, wholeSpec } from './shop.ts';

/** Requests of the controller within a second and a half, with a look each half second: no more than a few. */
async function assertNoHotLoop(shop: Shop, most: number): Promise<void> {
  const before = shop.running.requests.length;
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const made = shop.running.requestsAfter(before).map(({ verb, type }) => `${verb} ${type?.kind}`);
  assert(made.length <= most, made.join(', '));
}

async function make(
  shop: Shop,
  kind: ResourceType,
  object: Omit<KubeObject, 'metadata'> & { metadata: object },
): Promise<void> {
  const metadata = { namespace: shop.namespace, ...object.metadata } as KubeObject['metadata'];
  await shop.kube.create({ ...object, metadata } as KubeObject, { type: kind, fieldManager: 'test' });
}

const type = (apiVersion: string, kind: string, plural: string, namespaced = true): ResourceType => ({
  apiVersion,
  kind,
  plural,
  namespaced,
});
const quotas = type('v1', 'ResourceQuota', 'resourcequotas');
const namespaces = type('v1', 'Namespace', 'namespaces', false);

test('a quota that is used up is named, and the database goes on when there is room', async () => {
  await using shop = await Shop.open();
  const quota = {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'few' },
    spec: { hard: { services: '1' } },
  };
  await make(shop, quotas, quota);
  await eventually('the quota is in force', async () => {
    const { status } = (await shop.kube.get(quotas, { name: 'few', namespace: shop.namespace })) as {
      status?: { hard?: object };
    };
    return status?.hard;
  });
  await shop.submit('orders');
  const stalled = await shop.untilCondition('orders', 'Stalled', /^True QuotaExceeded/);
  assert.match(stalled, /Service orders\S*: .*exceeded quota: few/);
  await assertNoHotLoop(shop, 5);
  await shop.kube.delete(quotas, { name: 'few', namespace: shop.namespace });
  await shop.untilCondition('orders', 'Stalled', /^False/);
  assert(await shop.get('StatefulSet', 'orders'));
});

test('a missing right is named, what may be repaired is, and the rest follows when it is granted', async () => {
  const cluster = await sharedCluster();
  await installCrd(cluster);
  const user = `plumbline-${Date.now()}`;
  const connection = await connect({ kubeconfig: await cluster.kubeconfigFor(user) });
  await using _closing = { [Symbol.asyncDispose]: () => connection.close() };
  const everything = { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] };
  const writes = (resources: readonly string[]) => ({
    apiGroups: ['*'],
    resources,
    verbs: ['create', 'patch', 'update', 'delete', 'bind', 'escalate'],
  });
  const most = [
    'configmaps',
    'secrets',
    'serviceaccounts',
    'roles',
    'rolebindings',
    'networkpolicies',
    'events',
    'databaseservices/status',
    'databaseservices/finalizers',
  ];
  const grant = async (resources: readonly string[]): Promise<void> => {
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: user },
      rules: [everything, writes(resources)],
    };
    const binding = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: user },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: user },
      subjects: [{ kind: 'User', name: user, apiGroup: 'rbac.authorization.k8s.io' }],
    };
    const { code, stderr } = await cluster.kubectlRun(
      ['apply', '-f', '-'],
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [role, binding] }),
    );
    assert.equal(code, 0, stderr);
  };
  await grant(most);
  await eventually('the right is known', async () => {
    const { code } = await cluster.kubectlRun(['auth', 'can-i', 'list', 'pods', '-A', `--as=${user}`]);
    return code === 0 || undefined;
  });
  await using shop = await Shop.open();
  const requests: string[] = [];
  await shop.restart(undefined, {
    kube: new KubeClient(connection, {
      onRequest: ({ verb, type }) => void (verb === 'watch' || requests.push(`${verb} ${type?.kind}`)),
    }),
  });
  await shop.submit('orders');
  const stalled = await shop.untilCondition('orders', 'Stalled', /^True Forbidden/);
  assert.match(
    stalled,
    new RegExp(`Service orders\\S*: services .* is forbidden: User "${user}" cannot patch resource "services"`),
  );
  await shop.delete('ConfigMap', 'orders-patroni');
  await eventually('what may be repaired is', () => shop.get('ConfigMap', 'orders-patroni'));
  const before = requests.length;
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  assert(requests.length - before <= 6, requests.slice(before).join(', '));
  await grant([...most, 'services', 'statefulsets', 'poddisruptionbudgets']);
  await shop.untilCondition('orders', 'Stalled', /^False/);
  assert(await shop.get('StatefulSet', 'orders'));
});

test('a policy that refuses is named by its own words', async () => {
  await using shop = await Shop.open();
  const name = `no-statefulsets-${Date.now()}`;
  const policies = type(
    'admissionregistration.k8s.io/v1',
    'ValidatingAdmissionPolicy',
    'validatingadmissionpolicies',
    false,
  );
  const bindings = type(
    'admissionregistration.k8s.io/v1',
    'ValidatingAdmissionPolicyBinding',
    'validatingadmissionpolicybindings',
    false,
  );
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const rules = [{ apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['statefulsets'] }];
  await shop.kube.create(
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: {
        matchConstraints: { resourceRules: rules },
        validations: [{ expression: 'false', message: 'databases go to the other cluster' }],
      },
    },
    { type: policies, fieldManager: 'test' },
  );
  await shop.kube.create(
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: {
        policyName: name,
        validationActions: ['Deny'],
        matchResources: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': shop.namespace } } },
      },
    },
    { type: bindings, fieldManager: 'test' },
  );
  await eventually('the policy is in force', async () => {
    const args = ['create', '-n', shop.namespace, '--dry-run=server', '-f', '-'];
    const set = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'x' },
      spec: {
        serviceName: 'x',
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', image: 'b' }] } },
      },
    };
    return (await shop.cluster.kubectlRun(args, JSON.stringify(set))).code !== 0 || undefined;
  });
  await shop.submit('orders');
  const stalled = await shop.untilCondition('orders', 'Stalled', /^True AdmissionDenied/);
  assert.match(stalled, /StatefulSet orders: .*databases go to the other cluster/);
  await assertNoHotLoop(shop, 5);
  await shop.kube.delete(bindings, { name });
  await shop.untilCondition('orders', 'Stalled', /^False/);
  await shop.kube.delete(policies, { name });
});

test('in a namespace that is being deleted nothing is made, nobody is accused, and it is tried once', async () => {
  await using shop = await Shop.open();
  await shop.create('orders', wholeSpec);
  // Its own finalizer keeps the database: otherwise it may be gone before its objects.
  const held = (finalizers: readonly string[] | null) =>
    shop.patch('DatabaseService', 'orders', { body: { metadata: { finalizers } } });
  await held(['plumbline.dev/test']);
  await shop.running.settled();
  const before = shop.running.requests.length;
  await shop.kube.delete(namespaces, { name: shop.namespace });
  await eventually('the objects go', async () => (await shop.get('Service', 'orders')) === undefined || undefined);
  await shop.running.settled(1_000);
  const refused = shop.running.requestsAfter(before).filter(({ status }) => status === 403);
  // What was deleted at once before the first refusal may have been asked for in the same run; in another one the same would be asked for again. Of
  // Secrets there are two.
  const asked = refused.map(inShort).filter((request) => request !== 'create Secret');
  assert.equal(new Set(asked).size, asked.length, asked.join(', '));
  assert(refused.length - asked.length <= 2, refused.map(inShort).join(', '));
  assert.equal(await shop.get('StatefulSet', 'orders'), undefined);
  assert.deepEqual(await shop.receipts('orders'), []);
  await held(null);
});
