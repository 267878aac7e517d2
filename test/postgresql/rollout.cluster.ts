import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutPods } from '../cluster/index.ts';
import { restartedAtAnnotation } from '../../constructs/labels.ts';
import { eventually } from '../controller/running-plumbline.ts';
import { longestGap, lostRows } from './acknowledgements.ts';
import { ManagedDatabase } from './managed-database.ts';
import { storedRows, Writer } from './writer.ts';

const skip = withoutPods();

test('changes of three members', { skip }, async (t) => {
  await using managed = await ManagedDatabase.open({ replicas: 3, durability: 'Sync' });
  const { database } = managed;

  await t.test('pods: replicas first, the old primary last after a switchover, and no row is lost', async (t) => {
    const before = await managed.lives();
    const primary = await managed.primary();
    await using writer = await Writer.start(database);

    await managed.edit({ resources: { requests: { cpu: '60m', memory: '256Mi' } } });
    await managed.stable();

    const replicas = ['orders-2', 'orders-1', 'orders-0'].filter((name) => name !== primary);
    assert.deepEqual(managed.stepsInWords(), [
      ...replicas.map((name) => `MemberReplaced ${name}`),
      `SwitchoverRequested ${primary}`,
      `MemberReplaced ${primary}`,
      'RevisionStable Every',
    ]);
    assert.notEqual(await managed.primary(), primary);
    const after = await managed.lives();
    assert(after.every(({ uid }, i) => uid !== before[i]?.uid));
    const acknowledged = await writer.stop();
    t.diagnostic(`${longestGap(acknowledged, 0).toFixed(2)} s without writes, ${acknowledged.length} rows`);
    assert.deepEqual(lostRows(acknowledged, await storedRows(database)), []);
  });

  await t.test('a setting that needs a reload restarts nothing', async () => {
    const before = await managed.lives();
    await managed.edit({ parameters: { work_mem: '8MB' } });
    await managed.stable();
    assert.deepEqual(await managed.everySays('show work_mem'), ['8MB', '8MB', '8MB']);
    assert.deepEqual(await managed.lives(), before);
  });

  await t.test('a setting that needs a restart restarts each server in its pod, the old primary last', async () => {
    const [before, primary] = [await managed.lives(), await managed.primary()];
    managed.steps.length = 0;
    await managed.edit({ parameters: { max_connections: '120' } });
    await managed.stable();
    assert.deepEqual(await managed.everySays('show max_connections'), ['120', '120', '120']);
    const after = await managed.lives();
    assert.deepEqual(
      after.map(({ uid }) => uid),
      before.map(({ uid }) => uid),
    );
    assert(after.every(({ startedAt }, i) => startedAt !== before[i]?.startedAt));
    const steps = managed.stepsInWords();
    const restarts = steps.filter((step) => step.startsWith('ServerRestarted'));
    assert.equal(new Set(restarts).size, restarts.length, 'each once');
    assert.equal(steps.indexOf(`SwitchoverRequested ${primary}`), 2);
  });

  await t.test('a lower value that standbys follow: the primary first', async () => {
    const primary = await managed.primary();
    managed.steps.length = 0;
    await managed.edit({ parameters: { max_connections: '110' } });
    await managed.stable();
    assert.deepEqual(await managed.everySays('show max_connections'), ['110', '110', '110']);
    assert.equal(managed.stepsInWords()[0], `ServerRestarted ${primary}`);
    assert.equal(await managed.primary(), primary);
  });

  await t.test('formancehq/ledger#1764: kubectl rollout restart restarts nobody, not some', async () => {
    const before = await managed.lives();
    const { cluster, namespace } = database;
    const { code } = await cluster.kubectlRun(['-n', namespace, 'rollout', 'restart', 'statefulset/orders']);
    assert.equal(code, 0);
    await managed.running.settled(2_000);
    assert.deepEqual(await managed.lives(), before);
  });

  await t.test('the same where additions are removed: the annotation goes, and nobody restarts', async () => {
    const { cluster, namespace } = database;
    const template = async (): Promise<string> => {
      const { stdout } = await cluster.kubectlRun(['-n', namespace, 'get', 'statefulset/orders', '-o', 'json']);
      return JSON.stringify((JSON.parse(stdout) as { spec: object }).spec);
    };
    const before = await managed.lives();
    assert((await template()).includes('restartedAt'), 'until then it is left');
    await managed.edit({ drift: { additions: 'Remove' } });
    await eventually('what was left is removed', async () => !(await template()).includes('restartedAt') || undefined);
    const { code } = await cluster.kubectlRun(['-n', namespace, 'rollout', 'restart', 'statefulset/orders']);
    assert.equal(code, 0);
    await eventually('it is removed', async () => !(await template()).includes('restartedAt') || undefined);
    await managed.running.settled(2_000);
    assert.deepEqual(await managed.lives(), before);
  });

  await t.test('plumbline.dev/restarted-at has all made again, replicas first, and no row is lost', async (t) => {
    const [before, primary] = [await managed.lives(), await managed.primary()];
    managed.steps.length = 0;
    await using writer = await Writer.start(database);
    await managed.edit({}, { [restartedAtAnnotation]: '1' });
    const after = await managed.until('each is made again', async () => {
      const lives = await managed.lives().catch(() => []);
      const areNew = lives.length > 0 && lives.every(({ uid }, i) => uid !== before[i]?.uid);
      return areNew ? lives : undefined;
    });
    await managed.phase('Running');
    const replicas = ['orders-2', 'orders-1', 'orders-0'].filter((name) => name !== primary);
    assert.deepEqual(managed.stepsInWords(), [
      ...replicas.map((name) => `MemberReplaced ${name}`),
      `SwitchoverRequested ${primary}`,
      `MemberReplaced ${primary}`,
    ]);
    const acknowledged = await writer.stop();
    t.diagnostic(`${longestGap(acknowledged, 0).toFixed(2)} s without writes, ${acknowledged.length} rows`);
    assert.deepEqual(lostRows(acknowledged, await storedRows(database)), []);
    await managed.edit({}, { [restartedAtAnnotation]: null });
    await managed.running.settled(2_000);
    assert.deepEqual(await managed.lives(), after);
  });

  await t.test('two changes in a row end at the last one', async () => {
    await managed.edit({ resources: { requests: { cpu: '61m', memory: '256Mi' } } });
    await managed.edit({ resources: { requests: { cpu: '62m', memory: '256Mi' } } });
    await managed.stable();
    const cpus = await Promise.all(
      database.members.map(async (name) => JSON.stringify((await database.pod(name))['spec']).includes('"cpu":"62m"')),
    );
    assert.deepEqual(cpus, [true, true, true]);
  });

  await t.test('controllers that die after each change, before they hear of it, bring it to its end', async (t) => {
    // GIVEN a controller that lives for one change, and whoever takes over from it
    const primary = await managed.primary();
    const uids = new Map((await managed.lives()).map(({ name, uid }) => [name, uid]));
    const missing: string[] = [];
    await managed.dieAtEachWrite(async ({ verb, kind, name }) => {
      if (verb !== 'delete' || kind !== 'Pod') return;
      for (const other of database.members.filter((member) => member !== name)) {
        if (!(await database.isReady(other))) missing.push(`${other} as ${name} goes`);
      }
    });

    // WHEN the pods change
    await managed.edit({ resources: { requests: { cpu: '63m', memory: '256Mi' } } });
    await managed.stable();
    await managed.keepController();

    // THEN each member was made again once, none while another was missing, the old primary last and after a switchover
    assert.deepEqual(missing, []);
    const writes = managed.lastWrites.map(({ verb, kind, name }) => `${verb} ${kind} ${name}`);
    t.diagnostic(`${writes.length} controllers: ${writes.join(', ')}`);
    const replicas = ['orders-2', 'orders-1', 'orders-0'].filter((name) => name !== primary);
    assert.deepEqual(
      writes.filter((write) => write.startsWith('delete Pod')),
      [...replicas, primary].map((name) => `delete Pod ${name}`),
    );
    const handsOver = writes.indexOf('apply ConfigMap orders-patroni-failover');
    assert(handsOver > writes.indexOf(`delete Pod ${replicas[1]}`));
    assert(handsOver < writes.indexOf(`delete Pod ${primary}`));
    for (const { name, uid } of await managed.lives()) assert.notEqual(uid, uids.get(name));
  });
});
