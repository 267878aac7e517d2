import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DatabaseServiceStatus } from '../../constructs/api/status.ts';
import { secretsAnnotation } from '../../constructs/labels.ts';
import { connectionUri } from '../../constructs/postgresql/credentials.ts';
import { passwordPrefix } from '../../controller/database/credentials.ts';
import { secrets } from '../../controller/database/kinds.ts';
import { newNamespace, sharedPodCluster, withoutPods } from '../cluster/index.ts';
import { eventually, RunningPlumbline } from '../controller/running-plumbline.ts';
import { psql, secretOf, type Login } from './login.ts';
import { NodeDatabase } from './node-database.ts';
import { Session } from './session.ts';

const skip = withoutPods();
const aMinute = 60_000;

test('an edit of a password reaches PostgreSQL without a restart', { skip }, async (t) => {
  // GIVEN a database of two with a controller, and an application that is connected
  const cluster = await sharedPodCluster();
  const namespace = await newNamespace(cluster);
  await using database = await NodeDatabase.create(cluster, { namespace, replicas: 2 });
  await using running = await RunningPlumbline.start(cluster, { namespace });
  await running.settled(1_000);
  const asked = running.requestsAfter(0).filter(({ verb, type }) => verb === 'apply' && type?.kind === 'Pod');
  assert.deepEqual(asked, [], 'nothing is refreshed that is up to date');
  const { password = '' } = await secretOf(database, 'credentials');
  const owner = { host: 'orders', user: 'app', password, database: 'app' };
  await using session = new Session(database, owner);
  assert.equal(await session.ask('select 1'), '1');
  const before = await lives(database);

  await t.test('that of the owner', async (t) => {
    // WHEN somebody writes another one into the Secret
    // … that is looked for wherever none belongs
    const next = `${passwordPrefix}a-new-one, '"\\$ü`;
    const begun = performance.now();
    await edit(database, 'orders-credentials', { password: next });

    // THEN it is good in seconds, the old one is not, and nobody was restarted or disconnected
    await loginWorks(database, { ...owner, password: next });
    t.diagnostic(`good after ${((performance.now() - begun) / 1000).toFixed(1)} s`);
    const refused = await psql(database, owner, 'select 1');
    assert.match(refused.stderr, /password authentication failed/);
    assert.equal(await session.ask('select 2'), '2');
    await mountsAreUpToDate(database);
    assert.deepEqual(await lives(database), before);
  });

  await t.test('those of the system', async () => {
    const { superuser: old = '' } = await secretOf(database, 'system');
    const superuser = { host: 'orders', user: 'postgres', password: old, database: 'postgres' };

    // WHEN those of superuser, replication and rewind change together
    const next = {
      superuser: `${passwordPrefix}superuser:\\`,
      replication: `${passwordPrefix}replication:e'p\\"l`,
      rewind: `${passwordPrefix}rewinding r w`,
    };
    await edit(database, 'orders-system', next);

    // THEN they are good, and members that have to log in again still stream
    await loginWorks(database, { ...superuser, password: next.superuser });
    await loginWorks(database, { ...superuser, user: 'plumbline_rewind', password: next.rewind });
    assert.match((await psql(database, superuser, 'select 1')).stderr, /password authentication failed/);
    await mountsAreUpToDate(database);
    const leader = (await database.leader()) ?? '';
    await database.sql(leader, 'select pg_terminate_backend(pid) from pg_stat_replication');
    await database.allStream();
    assert.equal(await session.ask('select 3'), '3');
    assert.deepEqual(await lives(database), before);
  });

  await t.test('no new one is invented for a Secret that is deleted', async () => {
    // WHEN the Secret of the running database is deleted
    const secret = await database.kube.get(secrets, { namespace, name: 'orders-credentials' });
    await database.kube.delete(secrets, { namespace, name: 'orders-credentials' });

    // THEN the condition says what to do, the database goes on, and nothing takes its place
    const message = await eventually('it is said', () => stalled(running, namespace, 'CredentialsMissing'), aMinute);
    assert.match(message, /orders-credentials.*create it again with the passwords that it had/);
    assert.equal(await session.ask('select 4'), '4');
    await assert.rejects(database.kube.get(secrets, { namespace, name: 'orders-credentials' }), /not found/);

    // WHEN it is put back with another password, by somebody who knows none of our labels
    const { data } = secret as { data?: Record<string, string> };
    const other = Buffer.from('put back').toString('base64');
    await database.kube.create(
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'orders-credentials', namespace },
        data: { ...data, password: other },
      },
      { type: secrets, fieldManager: 'kubectl-create' },
    );

    // THEN that is noticed, and it is good
    await eventually('nothing hinders', () => stalled(running, namespace, 'NothingToDo'), aMinute);
    await loginWorks(database, { ...owner, password: 'put back' });
    assert.deepEqual(await lives(database), before);
  });
});

// movetokube/postgres-operator#75, apache/superset#13456, zalando/postgres-operator#2745
test('passwords and names that break connection strings and SQL are taken as they are', { skip }, async (t) => {
  // GIVEN a Secret of the user that the controller watches, since it bears the label of the database
  const cluster = await sharedPodCluster();
  const namespace = await newNamespace(cluster);
  const names = { username: 'app-user', database: 'Order-Data' };
  const spec = { ...names, credentials: { source: 'Existing', secretName: 's' } };
  await using database = await NodeDatabase.of(cluster, { namespace, replicas: 2, spec });
  await using running = await RunningPlumbline.start(cluster, { namespace });
  const first = `p@ss:w/o?r#d%41 '"\\$x{}`;
  const data = {
    username: Buffer.from('app-user').toString('base64'),
    password: Buffer.from(first).toString('base64'),
  };
  const metadata = { name: 's', namespace, labels: { 'plumbline.dev/database': 'orders' } };
  await database.kube.create(
    { apiVersion: 'v1', kind: 'Secret', metadata, data },
    { type: secrets, fieldManager: 'kubectl-create' },
  );

  // WHEN it starts
  await database.create();
  await database.allStream();

  // THEN the owner can log in and write, and owns the database of that spelling
  const login = { host: 'orders', user: 'app-user', database: 'Order-Data' };
  await loginWorks(database, { ...login, password: first });
  const made = await psql(database, { ...login, password: first }, 'create table t (n int)');
  assert.equal(made.code, 0, made.stderr);

  for (const [what, password] of [
    ['200 characters', 'x'.repeat(200)],
    ['beyond ASCII', 'ü€😀'],
    ['an injection', `';drop role "app-user";--`],
    ['that of the start again', first],
  ] as const) {
    await t.test(`a password: ${what}`, async () => {
      await edit(database, 's', { password });
      await loginWorks(database, { ...login, password });
      const uri = connectionUri({ username: 'app-user', password, host: 'orders', port: '5432', dbname: 'Order-Data' });
      const local = ['psql', '-X', '-q', '-At', '-v', 'ON_ERROR_STOP=1', '-U', 'postgres', '-d', 'postgres'];
      const byUri = await database.run('orders-0', local, { stdin: `\\connect ${uri}\nselect current_user` });
      assert.equal(byUri.trim(), 'app-user');
    });
  }

  await t.test('none of them is in a log, an event or the status', async () => {
    const said = [...running.logLines, JSON.stringify(await running.database(namespace, 'orders'))];
    for (const member of database.members) {
      for (const container of ['postgres', 'steward']) {
        said.push((await cluster.kubectlRun(['-n', namespace, 'logs', member, '-c', container])).stdout);
      }
    }
    said.push((await cluster.kubectlRun(['-n', namespace, 'get', 'events', '-o', 'json'])).stdout);
    for (const secret of ['p@ss', 'x'.repeat(200), 'ü€😀', 'drop role']) {
      assert.equal(said.find((text) => text.includes(secret))?.slice(0, 2_000), undefined);
    }
  });
});

async function edit({ kube, namespace }: NodeDatabase, name: string, values: Readonly<Record<string, string>>) {
  const data = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  );
  await kube.patch(secrets, { namespace, name }, { kind: 'merge', body: { data }, fieldManager: 'kubectl-edit' });
}

async function loginWorks(database: NodeDatabase, login: Login): Promise<void> {
  const works = async () => (await psql(database, login, 'select 1')).code === 0 || undefined;
  await eventually(`${login.user} can log in`, works, aMinute);
}

/** The kubelet was told of each change, and not left to find it in its own time. */
async function mountsAreUpToDate(database: NodeDatabase): Promise<void> {
  const { kube, namespace, members } = database;
  for (const member of members) {
    const told = JSON.parse((await database.pod(member)).metadata.annotations?.[secretsAnnotation] ?? '{}') as object;
    for (const [name, version] of Object.entries(told)) {
      const { metadata } = await kube.get(secrets, { namespace, name });
      assert.equal(version, metadata.resourceVersion, `${name} on ${member}`);
    }
    assert.ok('orders-credentials' in told);
  }
}

/** What would be another after a restart of anything in a member. */
async function lives(database: NodeDatabase): Promise<unknown> {
  const found: unknown[] = [];
  for (const member of database.members) {
    const { metadata } = await database.pod(member);
    const started = await database.sql(member, 'select pg_postmaster_start_time()');
    found.push([metadata.uid, started]);
  }
  return found;
}

/** The message of the condition Stalled, if it has this reason. */
async function stalled(running: RunningPlumbline, namespace: string, reason: string): Promise<string | undefined> {
  const { conditions } = ((await running.database(namespace, 'orders'))['status'] ?? {}) as DatabaseServiceStatus;
  const found = conditions?.find(({ type }) => type === 'Stalled');
  return found?.reason === reason ? found.message : undefined;
}
