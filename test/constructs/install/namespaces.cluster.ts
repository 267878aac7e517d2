import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InstallationProps } from '../../../constructs/install/options.ts';
import { controllerName } from '../../../constructs/install/settings.ts';
import { newNamespace, sharedCluster } from '../../cluster/index.ts';
import { MainProcess } from '../../controller/main-process.ts';
import { databaseService, eventually } from '../../controller/running-plumbline.ts';
import { auditedRequests, userOf } from './audit-log.ts';
import { environmentOf, installAccess, kubeconfigOf, kubectl } from './installed.ts';

const system = 'plumbline-system';

test('a controller that is installed for two namespaces makes databases there, and asks for nothing anywhere else', async () => {
  // GIVEN three namespaces with a database each, and an installation for two of them
  const cluster = await sharedCluster();
  const [shop, finance, other] = [
    await newNamespace(cluster),
    await newNamespace(cluster),
    await newNamespace(cluster),
  ];
  for (const namespace of [shop, finance, other]) {
    await kubectl(cluster, ['create', '-f', '-'], JSON.stringify(databaseService(namespace, 'orders')));
  }
  const props: InstallationProps = { namespace: system, watchNamespaces: [shop, finance], metricsAuth: 'None' };
  const manifests = await installAccess(cluster, props);
  const kubeconfig = await kubeconfigOf(cluster, system, controllerName);
  const before = auditedRequests(cluster, userOf(system, controllerName)).length;

  // WHEN the controller runs as its Deployment says
  await using main = new MainProcess(['--kubeconfig', kubeconfig], environmentOf(props));
  await main.says('leading');

  // THEN the two are made
  const isMade = async (namespace: string) =>
    (await cluster.kubectlRun(['-n', namespace, 'get', 'statefulset', 'orders'])).code === 0;
  for (const namespace of [shop, finance]) {
    await eventually(`a database is made in ${namespace}`, async () => (await isMade(namespace)) || undefined);
  }
  // … and nothing else was asked for, denied or not
  const requests = auditedRequests(cluster, userOf(system, controllerName)).slice(before);
  const denied = requests.filter(({ isDenied }) => isDenied);
  assert.deepEqual(
    denied.map(({ verb, resource }) => `${verb} ${resource}`),
    ['list gitdestinations'],
    'that is how it finds out whether it may',
  );
  const places = new Set(
    requests
      .filter(({ resource, isDenied }) => !isDenied && !resource.startsWith('/'))
      .map(({ namespace }) => namespace),
  );
  assert.deepEqual(places, new Set([shop, finance, system]));
  assert(!(await isMade(other)));
  assert(!manifests.some(({ kind }) => kind.startsWith('Cluster')), 'it has no right that holds for the cluster');

  main.kill('SIGTERM');
  assert.equal(await main.ends(), 0);
});
