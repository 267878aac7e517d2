import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { locateBinaries } from './binaries.ts';
import { newNamespace, sharedCluster, startCluster, type Cluster } from './index.ts';
import { assertNothingLeft, pidsOf, runningIn } from './left-overs.ts';
import { kubernetesVersion } from './pins.ts';
import { patienceMs } from '../patience.ts';
import { discardFolder } from '../discard-folder.ts';

test('the shared cluster is ready, has the pinned version and is the same for everybody', async () => {
  const cluster = await sharedCluster();
  assert.equal(await sharedCluster(), cluster);
  assert.equal((await cluster.kubectlRun(['get', '--raw', '/readyz'])).stdout, 'ok');
  if (process.env['KUBEBUILDER_ASSETS'] !== undefined) return;
  const version = JSON.parse((await cluster.kubectlRun(['version', '-o', 'json'])).stdout) as Versions;
  assert.equal(version.serverVersion.gitVersion, kubernetesVersion);
  assert.equal(version.clientVersion.gitVersion, kubernetesVersion);
});

test('a Deployment gets its pods, and the scheduler says why they stay pending', async (t) => {
  const cluster = await sharedCluster();
  if (!cluster.parts.includes('kube-scheduler')) return t.skip('KUBEBUILDER_ASSETS has no scheduler');
  const namespace = await newNamespace(cluster);
  await succeed(cluster, ['-n', namespace, 'create', 'deployment', 'web', '--image=web:1', '--replicas=2']);
  const condition = '{.items[*].status.conditions[?(@.type=="PodScheduled")].reason}';
  const reasons = await eventually(
    () => succeed(cluster, ['-n', namespace, 'get', 'pods', '-o', `jsonpath=${condition}`]),
    (text) => text.split(' ').length === 2,
  );
  assert.equal(reasons, 'Unschedulable Unschedulable');
});

test('kubectl reads standard input, and a failing command is a result', async () => {
  const cluster = await sharedCluster();
  const namespace = await newNamespace(cluster, 'stdin');
  assert.match(namespace, /^stdin-/);
  const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', namespace }, data: { a: '1' } };
  const applied = await cluster.kubectlRun(['apply', '-f', '-'], JSON.stringify(manifest));
  assert.deepEqual(applied, { stdout: 'configmap/settings created\n', stderr: '', code: 0 });
  const missing = await cluster.kubectlRun(['-n', namespace, 'get', 'configmap', 'others']);
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, /NotFound/);
});

test('a user of a kubeconfig of their own may do what RBAC says and no more', async () => {
  const cluster = await sharedCluster();
  const namespace = await newNamespace(cluster);
  const create = ['-n', namespace, 'create'];
  await succeed(cluster, [...create, 'role', 'reader', '--verb=get,list', '--resource=pods']);
  await succeed(cluster, [...create, 'rolebinding', 'readers', '--role=reader', '--group=readers']);
  const kubeconfig = await cluster.kubeconfigFor('jane', ['readers', 'guests']);
  const asJane = (...args: string[]) => cluster.kubectlRun([`--kubeconfig=${kubeconfig}`, '-n', namespace, ...args]);
  assert.match((await asJane('auth', 'whoami')).stdout, /jane\n.*\[readers guests system:authenticated]/);
  // The API server learns of a new role a moment after it has stored it.
  const pods = await eventually(
    () => asJane('get', 'pods'),
    ({ code }) => code === 0,
  );
  assert.equal(pods.code, 0, pods.stderr);
  assert.match((await asJane('get', 'secrets')).stderr, /User "jane" cannot list resource "secrets"/);
});

test('two clusters run side by side, and stopping one leaves none of it and all of the other', async () => {
  const [one, two] = await Promise.all([startCluster(), startCluster()]);
  const pids = { one: pidsOf(one.folder), two: pidsOf(two.folder) };
  assert.equal(runningIn(one.folder, pids.one).length, one.parts.length + 1, 'its parts and their guard');
  await newNamespace(one, 'only-in-one');
  assert.doesNotMatch(await succeed(two, ['get', 'namespaces', '-o', 'name']), /only-in-one/);

  await one.stop();
  assert.deepEqual(runningIn(one.folder, pids.one), []);
  assert.equal(existsSync(one.folder), false);
  assert.equal(await succeed(two, ['get', '--raw', '/readyz']), 'ok');
  await two.stop();
  await two.stop();
  await assertNothingLeft(two.folder, pids.two);
});

test('the API server goes away and comes back at the same address with the same data, even with a watch open', async () => {
  await using cluster = await startCluster({ auditLog: true });
  const namespace = await newNamespace(cluster, 'kept');
  const watch = cluster.kubectlRun(['get', 'namespaces', '--watch', '-o', 'name']);
  await eventually(
    async () => readFileSync(cluster.auditLogPath ?? '', 'utf8'),
    (log) => /"verb":"watch"[^\n]*plumbline-admin/.test(log),
  );

  await cluster.stopApiServer();
  assert.notEqual((await cluster.kubectlRun(['get', '--raw', '/readyz'])).code, 0);
  assert.match((await watch).stdout, new RegExp(`namespace/${namespace}`));
  await cluster.startApiServer();
  assert.match(await succeed(cluster, ['get', 'namespaces', '-o', 'name']), new RegExp(`namespace/${namespace}`));

  const begin = performance.now();
  await cluster.restartApiServer({ downMs: 1500 });
  assert.ok(performance.now() - begin >= 1500);
  await newNamespace(cluster, 'controllers-work-again');
});

test('the audit log has one line of metadata for each request', async () => {
  await using cluster = await startCluster({ auditLog: true, controllerManager: false, scheduler: false });
  assert.deepEqual(cluster.parts, ['etcd', 'kube-apiserver']);
  await succeed(cluster, ['create', 'configmap', 'seen', '--from-literal=word=unseen']);
  const log = readFileSync(cluster.auditLogPath ?? '', 'utf8');
  const events = log
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as AuditEvent);
  const created = events.filter(({ verb, objectRef }) => verb === 'create' && objectRef?.resource === 'configmaps');
  assert.ok(created.some(({ user, level }) => user.username === 'plumbline-admin' && level === 'Metadata'));
  assert.doesNotMatch(log, /unseen/);
});

test('with envtest assets there is no controller manager, and pods can be created all the same', async (t) => {
  const binaries = await locateBinaries();
  const assets = mkdtempSync(join(tmpdir(), 'assets-'));
  for (const name of ['etcd', 'kube-apiserver', 'kubectl'] as const) symlinkSync(binaries[name], join(assets, name));
  const before = process.env['KUBEBUILDER_ASSETS'];
  process.env['KUBEBUILDER_ASSETS'] = assets;
  t.after(() => {
    if (before === undefined) delete process.env['KUBEBUILDER_ASSETS'];
    else process.env['KUBEBUILDER_ASSETS'] = before;
    discardFolder(assets);
  });

  await using cluster = await startCluster();
  assert.deepEqual(cluster.parts, ['etcd', 'kube-apiserver']);
  assert.equal(cluster.kubectl, join(assets, 'kubectl'));
  const namespace = await newNamespace(cluster);
  await succeed(cluster, ['-n', namespace, 'run', 'alone', '--image=web:1']);
});

test('a part that ends early is named with the last lines of its log', async () => {
  await assert.rejects(startCluster({ apiServerFlags: ['--no-such-flag'] }), {
    name: 'StartError',
    message:
      /^kube-apiserver ended with code 1\. The last lines of kube-apiserver\.log:\n[^]*unknown flag: --no-such-flag/,
  });
});

test('a port that is taken is known from the log, so that the start can be tried again', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  t.after(() => other.close());
  await once(other, 'listening');
  const flags = [`--secure-port=${(other.address() as AddressInfo).port}`];
  await assert.rejects(startCluster({ apiServerFlags: flags }), { name: 'StartError', isPortTaken: true });
});

interface Versions {
  readonly serverVersion: { readonly gitVersion: string };
  readonly clientVersion: { readonly gitVersion: string };
}

interface AuditEvent {
  readonly verb: string;
  readonly level: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly resource: string };
}

async function succeed(cluster: Cluster, args: readonly string[]): Promise<string> {
  const { stdout, stderr, code } = await cluster.kubectlRun(args);
  assert.equal(code, 0, `kubectl ${args.join(' ')}: ${stderr}`);
  return stdout;
}

async function eventually<T>(look: () => Promise<T>, isEnough: (seen: T) => boolean): Promise<T> {
  const deadline = Date.now() + patienceMs;
  let seen = await look();
  while (!isEnough(seen) && Date.now() < deadline) {
    await delay(100);
    seen = await look();
  }
  return seen;
}
