import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { after, before, test } from 'node:test';
import { customResourceDefinition } from '../../../constructs/api/crd.ts';
import { gitDestinationDefinition } from '../../../constructs/api/git-destination/crd.ts';
import { databaseServices, watchedKinds } from '../../../controller/database/kinds.ts';
import { gitDestinations } from '../../../controller/delivery/destinations/destinations.ts';
import { startCluster, type Cluster } from '../../cluster/index.ts';
import { MainProcess } from '../main-process.ts';
import { ownKubeconfig } from '../own-account.ts';
import { databaseService, eventually } from '../running-plumbline.ts';
import { Shop, wholeSpec } from './shop.ts';
import { patience } from '../../patience.ts';

/** What needs a control plane of its own: another CRD, other flags of the API server, its end in the middle. */
let cluster: Cluster;
before(async () => {
  const apiServerFlags = ['--enable-admission-plugins=OwnerReferencesPermissionEnforcement'];
  cluster = await startCluster({ apiServerFlags, scheduler: false });
});
after(async () => {
  await cluster.stop();
});

async function install(definition: Record<string, unknown>): Promise<void> {
  const { code, stderr } = await cluster.kubectlRun(['apply', '--server-side', '-f', '-'], JSON.stringify(definition));
  assert.equal(code, 0, stderr);
  const { name } = definition['metadata'] as { readonly name: string };
  const established = ['wait', '--for=condition=Established', `crd/${name}`, patience];
  assert.equal((await cluster.kubectlRun(established)).code, 0);
}

/** The CRD of somebody who took the rules out: everything may be stored. */
function withoutRules(): Record<string, unknown> {
  const definition = structuredClone(customResourceDefinition()) as {
    spec: { versions: { schema: { openAPIV3Schema: { properties: Record<string, unknown> } } }[] };
  };
  const loose = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  for (const { schema } of definition.spec.versions) {
    const { status } = schema.openAPIV3Schema.properties;
    schema.openAPIV3Schema = { type: 'object', properties: { spec: loose, status } } as never;
  }
  return definition;
}

test('without the CRD the controller does not wait in vain: one sentence, and exit code 1', async () => {
  await using main = new MainProcess(['--kubeconfig', await ownKubeconfig(cluster)]);
  assert.equal(await main.ends(), 1);
  assert.match(main.stderr, /^.*does not know the kind DatabaseService .*kubectl apply --server-side -f crds\/.*\n$/);
});

const broken: readonly (readonly [name: string, spec: object, words: RegExp])[] = [
  ['2024-orders', {}, /metadata\.name: "2024-orders" must begin with a letter/],
  ['orders.eu', {}, /metadata\.name: "orders\.eu" .*no dots/],
  ['many', { replicas: 99 }, /spec\.replicas: 99/],
  ['empty', { engine: undefined, version: undefined, storage: undefined }, /spec\.(engine|storage|version)/],
  ['stranger', { engine: 'oracle' }, /spec\.engine: "oracle"/],
  ['listed', { parameters: ['a'] }, /spec\.parameters/],
];

test('https://github.com/apecloud/kubeblocks/issues/8017: past the schema nothing is made, and it is said why', async () => {
  await install(withoutRules());
  await install(gitDestinationDefinition());
  const destinations = { namespace: 'default', folder: () => tmpdir(), cluster: 'prod' };
  await using shop = await Shop.open({ destinations }, cluster);
  for (const [name, spec] of broken) {
    const object = databaseService(shop.namespace, name, spec as Record<string, unknown>);
    await shop.kube.create(object, { type: databaseServices, fieldManager: 'test' });
  }
  await cluster.kubectlRun(
    ['create', '-n', shop.namespace, '-f', '-'],
    JSON.stringify({ ...databaseService(shop.namespace, 'bare'), spec: undefined }),
  );
  for (const [name, , words] of broken) {
    assert.match(await shop.untilCondition(name, 'Stalled', /^True SpecInvalid/), words);
    assert.equal((await shop.status(name))?.phase, 'Failed');
  }
  await shop.untilCondition('bare', 'Stalled', /^True SpecInvalid/);
  // … also by what looks for the databases of a destination
  const { apiVersion, kind } = gitDestinations;
  const destination = { apiVersion, kind, metadata: { name: 'any' }, spec: { url: 'file:///nowhere' } };
  await shop.kube.create(destination, { type: gitDestinations, fieldManager: 'kubectl-create' });
  await eventually('it is looked at', async () => (await shop.kube.get(gitDestinations, { name: 'any' }))['status']);
  await shop.kube.delete(gitDestinations, { name: 'any' });
  assert.deepEqual(
    shop.running.logLines.filter((line) => line.includes('TypeError')),
    [],
  );
  await shop.running.settled();
  for (const { type } of watchedKinds) {
    const made = (await shop.list(type)).filter(({ metadata }) => !/^(kube-root-ca\.crt|default)$/.test(metadata.name));
    assert.deepEqual(
      made.map(({ metadata }) => metadata.name),
      [],
      type.kind,
    );
  }
  await shop.edit('many', { replicas: 1 });
  await shop.untilCondition('many', 'Stalled', /^False/);
  const { stdout } = await cluster.kubectlRun(['delete', 'dbs', '--all', '-n', shop.namespace]);
  assert.match(stdout, /deleted/);
});

test('https://github.com/kubernetes-sigs/cluster-api/issues/11098: where owner references are guarded, all is made', async () => {
  await install(customResourceDefinition());
  await using shop = await Shop.open({}, cluster);
  await shop.create('orders', wholeSpec);
  assert(!shop.running.requests.some(({ status }) => status === 403));
  assert(await shop.get('CronJob', 'orders-backup'));
});

test('drift of the time when the API server was down or just up is put back, and the controller lives on', async () => {
  await using shop = await Shop.open({}, cluster);
  await shop.create('orders', wholeSpec);
  const edit = (namespace: string) => {
    const patch = JSON.stringify({ spec: { selector: { app: 'x' } } });
    return cluster.kubectlRun(['patch', 'service', 'orders', '-n', namespace, '--type=merge', '-p', patch]);
  };
  await shop.patch('PodDisruptionBudget', 'orders', { body: { spec: { maxUnavailable: 2 } } });
  await cluster.restartApiServer();
  assert.equal((await edit(shop.namespace)).code, 0);
  const { code } = await cluster.kubectlRun(['delete', 'configmap', 'orders-patroni', '-n', shop.namespace]);
  assert.equal(code, 0);
  await eventually('all is true again', async () => {
    const found = JSON.stringify(await shop.get('Service', 'orders'));
    return (!found.includes('"app":"x"') && (await shop.get('ConfigMap', 'orders-patroni'))) || undefined;
  });
  await eventually('three receipts', async () => (await shop.status('orders'))?.drift?.corrected === 3 || undefined);
  const told = (await shop.receipts('orders')).map(({ object }) => object).sort();
  assert.deepEqual(told, ['ConfigMap/orders-patroni', 'PodDisruptionBudget/orders', 'Service/orders']);
});
