import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { databaseServices, typeOf } from '../../controller/database/kinds.ts';
import { connect, isObjectMissing, KubeClient } from '../../controller/kube/index.ts';
import { newNamespace, sharedCluster } from '../cluster/index.ts';
import { MainProcess } from './main-process.ts';
import { ownKubeconfig } from './own-account.ts';
import { databaseService, eventually, installCrd } from './running-plumbline.ts';

test('a wrong flag is told in one line, with exit code 2', async () => {
  await using main = new MainProcess(['--namspace', 'shop']);
  assert.equal(await main.ends(), 2);
  assert.match(main.stderr, /^error: unknown option '--namspace'.*\n$/);
  assert.equal(main.stdout, '');
});

test('--help goes to standard output, with exit code 0', async () => {
  await using main = new MainProcess(['--help']);
  assert.equal(await main.ends(), 0);
  assert.match(main.stdout, /--kubeconfig/);
});

test('an API server that cannot be reached is told in one line, with exit code 1', async () => {
  const cluster = await sharedCluster();
  const kubeconfig = join(cluster.folder, 'nobody-listens.kubeconfig');
  const text = readFileSync(cluster.kubeconfig, 'utf8');
  writeFileSync(kubeconfig, text.replace(cluster.server, 'https://127.0.0.1:1'), { mode: 0o600 });
  await using main = new MainProcess(['--kubeconfig', kubeconfig]);
  assert.equal(await main.ends(), 1);
  assert.match(main.stderr, /^cannot reach the API server at https:\/\/127\.0\.0\.1:1.*\n$/);
});

test('so is a context that there is not', async () => {
  const { kubeconfig } = await sharedCluster();
  await using main = new MainProcess(['--kubeconfig', kubeconfig, '--context', 'nowhere']);
  assert.equal(await main.ends(), 1);
  assert.match(main.stderr, /^.*nowhere.*\n$/);
});

test('of two controllers one works and the other waits; it takes over when the first is asked to stop', async () => {
  const cluster = await sharedCluster();
  await installCrd(cluster);
  const namespace = await newNamespace(cluster);
  const connection = await connect({ kubeconfig: cluster.kubeconfig });
  await using _closing = { [Symbol.asyncDispose]: () => connection.close() };
  const kube = new KubeClient(connection);
  const kubeconfig = await ownKubeconfig(cluster);
  const flags = ['--kubeconfig', kubeconfig, '--namespace', namespace, '--lease-namespace', namespace];
  const create = (name: string) =>
    kube.create(databaseService(namespace, name), { type: databaseServices, fieldManager: 'kubectl-create' });
  const untilMade = (name: string) =>
    eventually(`${name} is made`, async () => {
      try {
        return await kube.get(typeOf({ kind: 'StatefulSet' }), { namespace, name });
      } catch (error) {
        if (!isObjectMissing(error)) throw error;
        return undefined;
      }
    });

  await using first = new MainProcess(flags);
  await first.says('leading');
  await using second = new MainProcess(flags);
  await second.says('the leader is known');
  await create('one');
  await untilMade('one');
  assert(!second.messages.includes('leading'));

  first.kill('SIGTERM');
  assert.equal(await first.ends(10_000), 0);
  assert.equal(first.stderr, '');
  await second.says('leading');
  await create('two');
  await untilMade('two');

  second.kill('SIGINT');
  assert.equal(await second.ends(10_000), 0);
});
