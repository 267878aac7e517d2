import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DatabaseServiceStatus } from '../../constructs/api/status.ts';
import { backupLabel, databaseLabel } from '../../constructs/labels.ts';
import { namesOf } from '../../constructs/names.ts';
import { claims, jobs, pods } from '../../controller/database/kinds.ts';
import { systemClock, type KubeObject } from '../../controller/kube/index.ts';
import { newNamespace, sharedPodCluster, withoutOwnNode, withoutPods } from '../cluster/index.ts';
import { eventually, RunningPlumbline } from '../controller/running-plumbline.ts';
import { NodeDatabase } from './node-database.ts';
import { ensureRestingPod } from './resting-pod.ts';
import { Session } from './session.ts';
import { secretOf } from './login.ts';

const skip = withoutPods();
const patienceMs = 180_000;
/** What is incompressible and larger than the volume of the backups. */
const tooMuch = `create table big as select string_agg(sha256(random()::text::bytea), '') as b
  from generate_series(1, 1000000) n group by n % 100`;

test('backups are made by Jobs of the CronJob, and a broken one is told and does no harm', { skip }, async (t) => {
  // GIVEN a database of two with rows in it, a small volume for two backups, and a controller
  const cluster = await sharedPodCluster();
  const namespace = await newNamespace(cluster);
  await cluster.kubectlRun(['label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce=restricted']);
  const backup = { schedule: '30 2 29 2 *', retention: { keep: 2 }, volume: { size: '24Mi' } };
  await using database = await NodeDatabase.create(cluster, { namespace, replicas: 2, spec: { backup } });
  await using running = await RunningPlumbline.start(cluster, { namespace });
  const leader = (await database.leader()) ?? '';
  const rows = `create table rows as select n, md5(n::text) as text from generate_series(1, 5000) n`;
  await database.sql(leader, rows, 'app');
  await said(running, namespace, 'False', 'NoBackupYet', /30 2 29 2 \*/);

  await t.test('a dump has the same rows, and its pod is no member', async () => {
    // WHEN a Job is made by hand
    const pod = await backUp(database, 'first', 'Complete');

    // THEN it is told, and what it wrote loads into an empty database
    await said(running, namespace, 'True', 'BackupSucceeded', /ended at 20/);
    const { labels = {} } = pod.metadata;
    assert.equal(labels[backupLabel], 'orders');
    assert.equal(labels[databaseLabel], undefined);
    const budget = ['-n', namespace, 'get', 'pdb', 'orders', '-o', 'jsonpath={.status.expectedPods}'];
    assert.equal((await cluster.kubectlRun(budget)).stdout, '2');
    await database.sql(leader, 'create database restored');
    const [folder = ''] = await folders(database);
    const { superuser = '' } = await secretOf(database, 'system');
    const restore = `read -r PGPASSWORD && export PGPASSWORD &&
      pg_restore -h orders -U postgres -d restored --exit-on-error /backup/orders/${folder}/app.dump`;
    await inspect(database, restore, `${superuser}\n`);
    const sum = `select count(*), sum(hashtext(rows::text)) from rows`;
    assert.equal(await database.sql(leader, sum, 'restored'), await database.sql(leader, sum, 'app'));
    assert.match(await inspect(database, `cat /backup/orders/${folder}/globals.sql`), /CREATE ROLE app/);
    await database.sql(leader, 'drop database restored');
  });

  await t.test('as many are kept as the spec says', async () => {
    await backUp(database, 'second', 'Complete');
    await backUp(database, 'third', 'Complete');
    assert.equal((await folders(database)).length, 2);
  });

  for (const { what, name, words, strike, skip = false } of [
    {
      what: 'the volume is full',
      skip: withoutOwnNode('fills a volume, and whatever else has its file system'),
      name: 'full',
      words: /No space left on device/,
      strike: async () => {
        await database.sql(leader, tooMuch, 'app');
        return async () => void (await database.sql(leader, 'drop table big', 'app'));
      },
    },
    {
      what: 'the password is wrong',
      name: 'password',
      words: /password authentication failed for user "postgres"/,
      strike: async () => {
        const { superuser = '' } = await secretOf(database, 'system');
        await database.sql(leader, `alter role postgres password 'another'`);
        return async () => void (await database.sql(leader, `alter role postgres password '${superuser}'`));
      },
    },
    {
      what: 'a database goes in the middle',
      name: 'gone',
      words: /terminating connection due to administrator command/,
      strike: async () => {
        const doomed = new Doomed(database, leader);
        await doomed.start();
        return () => doomed.stop();
      },
    },
  ]) {
    await t.test(`a backup fails when ${what}: nothing is removed, nothing half made is left`, { skip }, async (t) => {
      // GIVEN two good backups
      const before = await folders(database);
      assert.equal(before.length, 2);

      // WHEN
      const takeBack = await strike();
      await backUp(database, name, 'Failed');
      await takeBack();

      // THEN the condition names the Job and has its words, and the volume is as it was
      const message = await said(running, namespace, 'False', 'BackupFailed', words);
      t.diagnostic(message);
      assert.match(message, new RegExp(`^Job ${name} failed: BackoffLimitExceeded`));
      assert.match(message, /The last good backup ended at 20/);
      assert.deepEqual(await folders(database), before);

      // AND the next good one ends that
      await backUp(database, `${name}-after`, 'Complete');
      await said(running, namespace, 'True', 'BackupSucceeded', /./);
      assert.equal((await folders(database)).length, 2);
    });
  }

  await t.test('Jobs are left alone, and at rest nothing is asked', async () => {
    await running.settled(2_000);
    const deleted = running.requestsAfter(0).filter(({ verb }) => verb === 'delete');
    assert.deepEqual(deleted, []);
  });
});

test('a backup whose pod does not start is told, and goes on by itself', { skip }, async () => {
  // GIVEN a volume for backups that is not there, and a controller whose clock is ahead: it has less patience
  const cluster = await sharedPodCluster();
  const namespace = await newNamespace(cluster);
  const backup = { schedule: '@yearly', volume: { claimName: 'missing' } };
  await using database = await NodeDatabase.create(cluster, { namespace, spec: { backup } });
  const clock = { ...systemClock, now: () => systemClock.now() + 100_000 };
  await using running = await RunningPlumbline.start(cluster, { namespace, clock });

  // WHEN a backup is due
  const waiting = backUp(database, 'waits', 'Complete');

  // THEN the condition names the claim
  await said(running, namespace, 'False', 'BackupStuck', /^Job waits has waited since .*"missing" not found/);

  // WHEN that is made, THEN the same Job ends well, and is told
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'missing', namespace },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '24Mi' } } },
  };
  await database.kube.create(claim, { type: claims, fieldManager: 'kubectl-create' });
  await waiting;
  await said(running, namespace, 'True', 'BackupSucceeded', /./);
});

/** Makes a Job of the CronJob, waits until it has ended as expected, and returns its last pod. */
async function backUp(database: NodeDatabase, name: string, end: 'Complete' | 'Failed'): Promise<KubeObject> {
  const { cluster, kube, namespace } = database;
  const from = `--from=cronjob/${namesOf(database.name).backup}`;
  const { code, stderr } = await cluster.kubectlRun(['-n', namespace, 'create', 'job', from, name]);
  assert.equal(code, 0, stderr);
  const ended = await eventually(
    `Job ${name} has ended`,
    async () => {
      const { status } = (await kube.get(jobs, { namespace, name })) as KubeObject & {
        status: { conditions?: readonly { type: string; status: string }[] };
      };
      return status.conditions?.find(({ type, status }) => ['Complete', 'Failed'].includes(type) && status === 'True');
    },
    patienceMs,
  );
  const logs = await cluster.kubectlRun(['-n', namespace, 'logs', `job/${name}`]);
  assert.equal(ended.type, end, logs.stdout);
  const found: KubeObject[] = [];
  const selection = { namespace, labelSelector: `batch.kubernetes.io/job-name=${name}` };
  for await (const { items } of kube.list(pods, selection)) found.push(...items);
  const [first] = found;
  assert.ok(first);
  return first;
}

/** Waits until the condition BackupCurrent says this, and returns its message. */
async function said(
  running: RunningPlumbline,
  namespace: string,
  status: 'True' | 'False',
  reason: string,
  words: RegExp,
): Promise<string> {
  let last = '';
  const asExpected = async (): Promise<string | undefined> => {
    const found = (await running.database(namespace, 'orders'))['status'] as DatabaseServiceStatus | undefined;
    const condition = found?.conditions?.find(({ type }) => type === 'BackupCurrent');
    last = `${condition?.status} ${condition?.reason}: ${condition?.message}`;
    const isSo = condition?.status === status && condition.reason === reason && words.test(condition.message);
    return isSo ? condition.message : undefined;
  };
  return eventually(`BackupCurrent is ${status} for ${reason}`, asExpected).catch((error: Error) => {
    throw new Error(`${error.message}; it is ${last}`);
  });
}

/** A database whose dump waits for a lock, and that is then dropped, dump and all; and again, for a Job tries more than once. */
class Doomed {
  readonly #database: NodeDatabase;
  readonly #leader: string;
  readonly #stop = new AbortController();
  #end: Promise<void> = Promise.resolve();

  constructor(database: NodeDatabase, leader: string) {
    this.#database = database;
    this.#leader = leader;
  }

  /** Returns when the first dump would have to wait. */
  async start(): Promise<void> {
    const first = await this.#locked();
    this.#end = this.#go(first);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#end;
  }

  async #go(first: Session): Promise<void> {
    const waits = `select count(*) from pg_stat_activity
      where datname = 'zz' and application_name = 'plumbline-backup' and wait_event_type = 'Lock'`;
    for (let session = first; ; session = await this.#locked()) {
      while (!this.#stop.signal.aborted && (await this.#database.sql(this.#leader, waits)) === '0') {
        await new Promise((resolve) => setTimeout(resolve, 250));
      }
      await this.#database.sql(this.#leader, 'drop database zz with (force)');
      await session[Symbol.asyncDispose]();
      if (this.#stop.signal.aborted) return;
    }
  }

  async #locked(): Promise<Session> {
    const { superuser: password = '' } = await secretOf(this.#database, 'system');
    await this.#database.sql(this.#leader, 'create database zz');
    await this.#database.sql(this.#leader, 'create table t (n int)', 'zz');
    const session = new Session(this.#database, { host: 'orders', user: 'postgres', password, database: 'zz' });
    await session.ask('begin; lock table t; select 1');
    return session;
  }
}

/** Whatever lies in the folder of the backups, hidden files too. */
async function folders(database: NodeDatabase): Promise<readonly string[]> {
  return (await inspect(database, 'ls -A /backup/orders')).split('\n').filter(Boolean);
}

/** Runs a script in a pod of its own that has the volume of the backups. */
async function inspect(database: NodeDatabase, script: string, stdin = ''): Promise<string> {
  const { cluster, namespace, name } = database;
  const mount = { name: 'backup', mountPath: '/backup' };
  const volume = { name: 'backup', persistentVolumeClaim: { claimName: namesOf(name).backup } };
  await ensureRestingPod(database, { name: 'inspector', mounted: { mount, volume } });
  const exec = ['-n', namespace, 'exec', '-i', 'inspector', '--', 'bash', '-c', script];
  const { code, stdout, stderr } = await cluster.kubectlRun(exec, stdin);
  assert.equal(code, 0, stderr);
  return stdout;
}
