import assert from 'node:assert/strict';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  classify,
  connect,
  ConnectionError,
  KubeClient,
  Reflector,
  type Connection,
  type RequestFacts,
} from '../../../controller/kube/index.ts';
import { newNamespace, sharedCluster, startCluster, type Cluster } from '../../cluster/index.ts';
import { CONFIG_MAPS, configMap } from './api-types.ts';
import { kubeconfigFor } from './scripted-server.ts';
import { mountServiceAccount } from './service-account-folder.ts';
import { discardFolder } from '../../discard-folder.ts';

async function kubectl(cluster: Cluster, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await cluster.kubectlRun(args);
  assert.equal(code, 0, stderr);
  return stdout.trim();
}

async function certificateAuthorityOf(cluster: Cluster): Promise<string> {
  const data = await kubectl(
    cluster,
    'config',
    'view',
    '--raw',
    '-o',
    'jsonpath={.clusters[0].cluster.certificate-authority-data}',
  );
  if (data !== '') return Buffer.from(data, 'base64').toString();
  return readFile(
    await kubectl(cluster, 'config', 'view', '-o', 'jsonpath={.clusters[0].cluster.certificate-authority}'),
    'utf8',
  );
}

async function connectWith(cluster: Cluster, folder: string, token: string): Promise<Connection> {
  const kubeconfig = join(folder, 'kubeconfig');
  const ca = Buffer.from(await certificateAuthorityOf(cluster)).toString('base64');
  await writeFile(
    kubeconfig,
    JSON.stringify(kubeconfigFor(cluster.server, { token }, { 'certificate-authority-data': ca })),
  );
  return connect({ kubeconfig, check: false });
}

async function statusOf(connection: Connection): Promise<number> {
  const { status, body } = await connection.request({ method: 'GET', path: '/api' });
  await text(body);
  return status;
}

test('a token that is rotated and revoked under a running process costs neither a request nor an event (client-node#1240)', async () => {
  const cluster = await sharedCluster();
  const namespace = await newNamespace(cluster, 'token');
  await kubectl(
    cluster,
    '-n',
    namespace,
    'create',
    'rolebinding',
    'reader',
    '--clusterrole=view',
    `--serviceaccount=${namespace}:default`,
  );
  const tokenBoundTo = async (secret: string): Promise<string> => {
    await kubectl(cluster, '-n', namespace, 'create', 'secret', 'generic', secret);
    return kubectl(
      cluster,
      '-n',
      namespace,
      'create',
      'token',
      'default',
      '--bound-object-kind=Secret',
      `--bound-object-name=${secret}`,
    );
  };
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-account-'));
  const files = { 'ca.crt': await certificateAuthorityOf(cluster), namespace };
  const first = await tokenBoundTo('first');
  await mountServiceAccount(folder, { ...files, token: first });
  const { hostname, port } = new URL(cluster.server);
  const environment = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
  const connection = await connect({ inCluster: true, serviceAccountFolder: folder, environment });
  const facts: RequestFacts[] = [];
  const kube = new KubeClient(connection, { onRequest: (fact) => facts.push(fact) });
  const names = new Set<string>();
  const reflector = new Reflector({
    kube,
    type: CONFIG_MAPS,
    selection: { namespace },
    handler: { onUpsert: ({ metadata }) => names.add(metadata.name), onDelete: () => undefined },
  });
  const stop = new AbortController();
  const done = reflector.start(stop.signal);
  await reflector.synced;

  await mountServiceAccount(folder, { ...files, token: await tokenBoundTo('second') });
  await kubectl(cluster, '-n', namespace, 'delete', 'secret', 'first');
  // The server remembers for some seconds that a token was good.
  const revoked = await connectWith(cluster, folder, first);
  for (let tries = 0; (await statusOf(revoked)) !== 401; tries += 1) {
    assert.ok(tries < 300, 'the old token is never refused');
    await kube.get(CONFIG_MAPS, { namespace, name: 'kube-root-ca.crt' });
    await sleep(200);
  }
  await revoked.close();
  for (let tries = 0; tries < 10; tries += 1) await kube.get(CONFIG_MAPS, { namespace, name: 'kube-root-ca.crt' });
  await kubectl(cluster, '-n', namespace, 'create', 'configmap', 'after');
  for (let tries = 0; !names.has('after') && tries < 200; tries += 1) await sleep(50);
  assert.ok(names.has('after'));
  assert.deepEqual(
    facts.filter(({ status }) => status !== 200),
    [],
  );
  stop.abort();
  await done;
  await connection.close();
  discardFolder(folder);
});

test('an API server that stops and comes back needs no new connection object', async () => {
  await using cluster = await startCluster({ controllerManager: false, scheduler: false });
  const connection = await connect({ kubeconfig: cluster.kubeconfig });
  const kube = new KubeClient(connection);
  await kube.create(configMap('default', 'a'), { type: CONFIG_MAPS, fieldManager: 'test' });
  await cluster.stopApiServer();
  await assert.rejects(
    kube.get(CONFIG_MAPS, { namespace: 'default', name: 'a' }),
    (error) => classify(error).kind === 'network',
  );
  await assert.rejects(connect({ kubeconfig: cluster.kubeconfig }), (error) => {
    assert.ok(error instanceof ConnectionError);
    assert.equal(error.problem, 'unreachable');
    return true;
  });
  await cluster.startApiServer();
  assert.equal((await kube.get(CONFIG_MAPS, { namespace: 'default', name: 'a' })).metadata.name, 'a');
  await connection.close();
});
