import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { before, describe, test } from 'node:test';
import { newNamespace, sharedCluster, type Cluster } from '../cluster/index.ts';
import { eventually } from '../controller/running-plumbline.ts';
import { Shop } from '../controller/database/shop.ts';
import { Leaks } from './leaks.ts';
import { generated, Mark } from './mark.ts';

let cluster: Cluster;
let namespace: string;
before(async () => {
  cluster = await sharedCluster();
  namespace = await newNamespace(cluster);
});

/** A password that no run fails for, and what looks for it. */
function planted(): { readonly password: string; readonly leaks: Leaks } {
  const mark = `trial${randomBytes(6).toString('hex')}_`;
  return { password: `${mark}${randomBytes(24).toString('base64url')}`, leaks: new Leaks(new Mark(mark), cluster) };
}

async function create(kind: string, name: string, body: object): Promise<void> {
  const object = { apiVersion: 'v1', kind, metadata: { name, namespace }, ...body };
  const { code, stderr } = await cluster.kubectlRun(['create', '-f', '-'], JSON.stringify(object));
  assert.equal(code, 0, stderr);
}

describe('a password where none belongs is told', () => {
  test('in an object that was there for a moment', async () => {
    const { password, leaks } = planted();
    using _ = leaks;
    // GIVEN it where it belongs
    await create('Secret', 'login', { stringData: { password } });
    assert.deepEqual(leaks.places(), []);
    assert.deepEqual(leaks.secrets(), [`/registry/secrets/${namespace}/login`]);

    // WHEN somebody writes it elsewhere too, as it is and encoded, and takes it away again
    await create('ConfigMap', 'plain', { data: { note: `it is ${password}` } });
    await create('ConfigMap', 'encoded', { data: { note: Buffer.from(password).toString('base64') } });
    await cluster.kubectlRun(['-n', namespace, 'delete', 'configmap', 'plain', 'encoded']);

    // THEN both are named
    const keys = ['encoded', 'plain'].map((name) => `/registry/configmaps/${namespace}/${name}`);
    assert.deepEqual([...leaks.places()].sort(), keys);
  });

  test('in an Event', async () => {
    const { password, leaks } = planted();
    using _ = leaks;
    const involvedObject = { kind: 'Pod', name: 'orders-0', namespace };
    await create('Event', 'told', { involvedObject, message: `cannot log in with ${password}` });
    assert.deepEqual(leaks.places(), [`/registry/events/${namespace}/told`]);
  });

  test('in the log of a container that is gone by the time that it is asked for', async () => {
    const { password, leaks } = planted();
    using _ = leaks;
    const log = join(cluster.folder, `node/pod-logs/${namespace}_orders-0_uid/postgres/0.log`);
    mkdirSync(dirname(log), { recursive: true });
    // In two halves, as a slow writer would.
    appendFileSync(log, `${'x'.repeat(1_000)} ${password.slice(0, 12)}`);
    leaks.lookNow();
    appendFileSync(log, `${password.slice(12)}\n`);
    leaks.lookNow();
    rmSync(dirname(log), { recursive: true });
    assert.deepEqual(leaks.places(), [log]);
  });

  test('in the arguments of a process', async () => {
    const { password, leaks } = planted();
    using _ = leaks;
    const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1_000)', password], { stdio: 'ignore' });
    try {
      await once(child, 'spawn');
      await eventually('it is seen', () => leaks.places().length > 0 || undefined);
      assert.deepEqual(leaks.places(), [`arguments of ${process.execPath}`]);
    } finally {
      child.kill('SIGKILL');
    }
  });
});

test('the passwords of a database are in its Secrets, and the controller says none', async () => {
  await using shop = await Shop.open();
  using leaks = new Leaks(generated, cluster);
  await shop.create('orders', { replicas: 3 });
  const own = leaks.secrets().filter((key) => key.startsWith(`/registry/secrets/${shop.namespace}/`));
  assert.deepEqual(
    own.sort(),
    ['credentials', 'system'].map((name) => `/registry/secrets/${shop.namespace}/orders-${name}`),
  );
  assert.deepEqual(leaks.places(), []);
});
