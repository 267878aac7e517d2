import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DatabaseServiceStatus } from '../../constructs/api/status.ts';
import { namesOf } from '../../constructs/names.ts';
import { paths } from '../../constructs/postgresql/paths.ts';
import { pods } from '../../controller/database/kinds.ts';
import { newNamespace, sharedPodCluster, withoutPods } from '../cluster/index.ts';
import { eventually, RunningPlumbline } from '../controller/running-plumbline.ts';
import { longestGap, lostRows, monotonicSeconds } from './acknowledgements.ts';
import { secretOf } from './login.ts';
import { NodeDatabase } from './node-database.ts';
import { Session } from './session.ts';
import { storedRows, Writer } from './writer.ts';

const skip = withoutPods();
/** The kubelet measures volumes about once a minute. */
const patienceMs = 240_000;
/** More than any emptyDir may hold. */
const muchMi = 150;
/** Of what lies in the folders of an emptyDir, in MiB, whoever holds them. */
const measure = (folders: string): string => `du --summarize --block-size=M --total ${folders} | tail -1 | cut -dM -f1`;

// CrunchyData/postgres-operator#4211
test('what grows with the data lies on no scratch volume', { skip }, async (t) => {
  const cluster = await sharedPodCluster();
  const namespace = await newNamespace(cluster);
  const backup = { schedule: '30 2 29 2 *', volume: { size: '512Mi' } };
  const spec = { storage: { size: '1Gi' }, backup };
  await using database = await NodeDatabase.create(cluster, { namespace, spec });
  const [member = ''] = database.members;

  await t.test('a sort that spills', async (t) => {
    // WHEN a sort is larger than its memory, and under way
    const script = `set work_mem = '64kB';
      begin;
      declare c cursor for select md5(n::text) from generate_series(1, 3500000) n order by 1;
      fetch 1 from c;
      select 'spilled ' || sum(size) / 1024 / 1024 from pg_ls_tmpdir();
      \\! echo "volume $(df --output=target ${paths.data}/base/pgsql_tmp | tail -1)"
      \\! echo "scratch $(${measure(`/tmp ${paths.run} /dev/shm`)})"`;
    const said = await database.sql(member, script);
    t.diagnostic(said.replaceAll('\n', ', '));

    // THEN it is on the volume of the data, and nowhere else
    assert.ok(Number(/^spilled (\d+)/m.exec(said)?.[1]) > muchMi, said);
    assert.match(said, new RegExp(`^volume ${paths.volume}$`, 'm'));
    assert.ok(Number(/^scratch (\d+)/m.exec(said)?.[1]) < 16, said);
  });

  await t.test('a dump', async (t) => {
    // GIVEN much to dump, and a second database whose dump has to wait, so that the first can be looked at
    const oneMi = `select string_agg(sha256((n::text || '.' || m)::bytea), '') from generate_series(1, 32768) m`;
    const much = `create table much as select (${oneMi}) as b from generate_series(1, ${muchMi}) n`;
    await database.sql(member, much, 'app');
    await database.sql(member, 'create database zz');
    await database.sql(member, 'create table t (n int)', 'zz');
    const { superuser: password = '' } = await secretOf(database, 'system');
    await using session = new Session(database, { host: 'orders', user: 'postgres', password, database: 'zz' });
    await session.ask('begin; lock table t; select 1');

    // WHEN
    const from = `--from=cronjob/${namesOf(database.name).backup}`;
    assert.equal((await cluster.kubectlRun(['-n', namespace, 'create', 'job', from, 'dump'])).code, 0);
    const waits = `select count(*) from pg_stat_activity where datname = 'zz' and wait_event_type = 'Lock'`;
    const isWaiting = async (): Promise<boolean> => (await database.sql(member, waits)) === '1';
    await eventually('the second dump waits', isWaiting, patienceMs);

    // THEN the first is on the volume of the backups, and nowhere else
    const look = `echo "dumped $(${measure(paths.backup)}), scratch $(${measure(`/tmp ${paths.run}`)})"`;
    const exec = ['-n', namespace, 'exec', 'job/dump', '--', 'bash', '-c', look];
    const { stdout, stderr } = await cluster.kubectlRun(exec);
    t.diagnostic(stdout.trim());
    const [dumped = 0, scratch = Infinity] = [...stdout.matchAll(/\d+/g)].map(Number);
    assert.ok(dumped >= muchMi && scratch < 16, stdout + stderr);
  });
});

// CrunchyData/postgres-operator#4211
test('a member that fills its scratch volume goes alone, is told, and comes back', { skip }, async (t) => {
  // GIVEN three members, and a client that writes
  const cluster = await sharedPodCluster();
  const namespace = await newNamespace(cluster);
  await using database = await NodeDatabase.create(cluster, { namespace, replicas: 3, spec: { durability: 'Sync' } });
  await using running = await RunningPlumbline.start(cluster, { namespace });
  await using writer = await Writer.start(database);
  const leader = await database.leader();
  const victim = database.members.find((member) => member !== leader) ?? '';
  const uids = (): Promise<readonly (string | undefined)[]> =>
    Promise.all(
      database.members.map(async (name) => (await database.kube.get(pods, { namespace, name })).metadata.uid),
    );
  const before = await uids();
  const begun = monotonicSeconds();

  // WHEN one of them writes more to it than its limit
  await database.run(victim, ['dd', 'if=/dev/zero', 'of=/tmp/filler', 'bs=1M', 'count=200', 'status=none']);

  // THEN the condition has the words of the kubelet: the volume, and its limit
  const told = await eventually(
    `${victim} is evicted`,
    async () => {
      const status = (await running.database(namespace, 'orders'))['status'] as DatabaseServiceStatus | undefined;
      return status?.conditions?.find(({ type, reason }) => type === 'Ready' && reason === 'Evicted')?.message;
    },
    patienceMs,
  );
  t.diagnostic(told);
  assert.match(told, new RegExp(`2 of 3 .*${victim} has ended and is made anew: Evicted: .*"tmp".*"128Mi"`));

  // AND it comes back; the others were never restarted, and nothing is lost
  await database.allStream();
  const after = await uids();
  assert.deepEqual(
    database.members.filter((_, i) => after[i] !== before[i]),
    [victim],
  );
  const acknowledged = await writer.stop();
  t.diagnostic(`${longestGap(acknowledged, begun).toFixed(2)} s without writes, ${acknowledged.length} rows`);
  assert.deepEqual(lostRows(acknowledged, await storedRows(database)), []);
  await eventually(
    'it runs',
    async () => {
      const status = (await running.database(namespace, 'orders'))['status'] as DatabaseServiceStatus | undefined;
      return status?.phase === 'Running' || undefined;
    },
    patienceMs,
  );
});
