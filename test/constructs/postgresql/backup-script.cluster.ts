import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { RunningPostgres } from './running-postgres.ts';
import { Sandbox, serverMissing, type Ran } from './sandbox.ts';

const password = `su'per\\:p@ss:w/o?r#d%41 "$x{}`;
const names = ['Order-Data', 'a=b', 'sp ace/sl\\ash', 'ü€😀', "quo'te"];

interface Stage {
  readonly sandbox: Sandbox;
  readonly postgres: RunningPostgres;
}

async function stage(): Promise<Stage> {
  const sandbox = new Sandbox();
  const postgres = await RunningPostgres.start(sandbox);
  sandbox.secret('system', { superuser: password });
  postgres.sql(
    `set password_encryption = 'scram-sha-256'; alter role postgres password '${password.replaceAll("'", "''")}';`,
  );
  return { sandbox, postgres };
}

function args({ sandbox, postgres }: Stage, keep: number): readonly string[] {
  return [
    sandbox.path('scripts/backup.sh'),
    '--host=127.0.0.1',
    `--port=${postgres.port}`,
    '--username=postgres',
    `--password-file=${sandbox.path('secrets/system/superuser')}`,
    `--into=${sandbox.path('backup/orders')}`,
    `--keep=${keep}`,
    '--time-zone=Europe/Berlin',
  ];
}

const backUp = (on: Stage, keep = 7): Ran => on.sandbox.run('bash', args(on, keep));

/** Names in the folder of backups, the hidden ones too. */
function backups({ sandbox }: Stage): readonly string[] {
  const folder = sandbox.path('backup/orders');
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}

/** A backup that was made earlier. */
function earlier({ sandbox }: Stage, ...stamps: readonly string[]): void {
  for (const stamp of stamps) sandbox.write(`backup/orders/${stamp}/globals.sql`, '-- roles\n');
}

test(
  'every database and the roles are dumped, and the dump loads into an empty database with the same rows',
  { skip: serverMissing },
  async () => {
    const on = await stage();
    using _ = on.sandbox;
    for (const name of names) {
      on.postgres.sql(`create database "${name}"`);
      on.postgres.sql(`create table t as select generate_series(1, 1000) as i, 'ü€😀' as text`, name);
    }
    // WHEN
    const { status, output } = backUp(on);
    // THEN
    assert.equal(status, 0, output);
    const [stamp = ''] = backups(on);
    assert.match(stamp, /^\d{8}T\d{6}Z$/);
    const folder = on.sandbox.path(`backup/orders/${stamp}`);
    const dumps = readdirSync(folder).filter((file) => file.endsWith('.dump'));
    assert.equal(dumps.length, names.length + 1);
    assert.ok(readdirSync(folder).includes('globals.sql'));
    assert.match(on.sandbox.run('cat', [join(folder, 'globals.sql')]).output, /CREATE ROLE postgres/);
    // Every dump is found by its name, and loads.
    for (const name of names) {
      const file = dumps.find((dump) => decodeURIComponent(dump.replace(/\.dump$/, '')) === name);
      assert.ok(file, name);
      on.postgres.sql('drop database if exists restored; create database restored;'.split('; ').join(';\n'));
      const env = { PGHOST: on.sandbox.path('socket'), PGPORT: String(on.postgres.port), PGUSER: 'postgres' };
      const restored = on.sandbox.run('pg_restore', ['-d', 'restored', join(folder, file)], { env });
      assert.equal(restored.status, 0, restored.output);
      assert.deepEqual(on.postgres.sql('select count(*), sum(i), min(text) from t', 'restored'), ['1000|500500|ü€😀']);
    }
  },
);

test(
  'backups beyond retention go, the oldest first, once the new one is complete',
  { skip: serverMissing },
  async () => {
    const on = await stage();
    using _ = on.sandbox;
    earlier(on, '20200101T000000Z', '20210101T000000Z', '20220101T000000Z');
    assert.equal(backUp(on, 2).status, 0);
    const left = backups(on);
    assert.equal(left.length, 2);
    assert.equal(left[0], '20220101T000000Z');
  },
);

// kubernetes/kubernetes#121594
test('where the clock goes back, the two of one night count once', { skip: serverMissing }, async () => {
  // GIVEN a night with two 02:30s in Berlin, and one before it; the same hour apart, two were made by hand on another day
  const on = await stage();
  using _ = on.sandbox;
  const byHand = ['20251020T100000Z', '20251020T110000Z'];
  earlier(on, ...byHand, '20251025T003003Z', '20251026T003002Z', '20251026T013004Z');

  // WHEN another one is made, THEN the first of the two goes, and none that a single one would have left
  assert.equal(backUp(on, 5).status, 0);
  assert.deepEqual(backups(on).slice(0, -1), [...byHand, '20251025T003003Z', '20251026T013004Z']);

  // AND from then on the oldest
  assert.equal(backUp(on, 5).status, 0);
  assert.deepEqual(backups(on).slice(0, -2), [byHand[1], '20251025T003003Z', '20251026T013004Z']);
});

test('what has no name of a backup neither counts nor goes', { skip: serverMissing }, async () => {
  const on = await stage();
  using _ = on.sandbox;
  earlier(on, `0'T0Z`, '20250101T000000Z', '20251026T003002Z', '20251026T013004Z');
  const { status, output } = backUp(on, 3);
  assert.equal(status, 0, output);
  assert.deepEqual(backups(on).slice(0, -1), [`0'T0Z`, '20250101T000000Z', '20251026T013004Z']);
});

test('what somebody else keeps in the folder is left alone', { skip: serverMissing }, async () => {
  const on = await stage();
  using _ = on.sandbox;
  on.sandbox.write('backup/orders/notes/readme', '');
  on.sandbox.write('backup/bills/20200101T000000Z/globals.sql', '');
  assert.equal(backUp(on, 1).status, 0);
  assert.ok(backups(on).includes('notes'));
  assert.ok(existsSync(on.sandbox.path('backup/bills/20200101T000000Z')));
});

/** The run failed, said so by its exit code, and neither took nor left anything. */
function assertFailed(on: Stage, ran: Ran, saying: RegExp): void {
  assert.notEqual(ran.status, 0, ran.output);
  assert.match(ran.output, saying);
  assert.ok(!ran.output.includes(password));
  assert.deepEqual(backups(on), ['20200101T000000Z', '20210101T000000Z']);
  assert.deepEqual(
    readdirSync(on.sandbox.path('run')).filter((file) => file.startsWith('pgpass')),
    [],
  );
}

test('a wrong password fails the run (spilo#861)', { skip: serverMissing }, async () => {
  const on = await stage();
  using _ = on.sandbox;
  earlier(on, '20200101T000000Z', '20210101T000000Z');
  on.sandbox.secret('system', { superuser: 'wrong' });
  assertFailed(on, backUp(on, 1), /password authentication failed/);
});

test('the cause is left for Kubernetes in one line', { skip: serverMissing }, async () => {
  const on = await stage();
  using _ = on.sandbox;
  on.sandbox.secret('system', { superuser: 'wrong' });
  on.sandbox.write('termination-log', '');
  Object.assign(on.sandbox.env, { PLUMBLINE_TERMINATION_LOG: on.sandbox.path('termination-log') });
  assert.notEqual(backUp(on, 1).status, 0);
  const said = on.sandbox.run('cat', [on.sandbox.path('termination-log')]).output;
  assert.match(said, /^pg_dumpall: error: .*password authentication failed for user "postgres"\n$/);
});

test('a server that comes a moment later is waited for', { skip: serverMissing }, async () => {
  const on = await stage();
  using _ = on.sandbox;
  on.postgres.stop();
  const running = on.sandbox.start('bash', args(on, 1));
  const ended = new Promise<number | null>((resolve) => void running.process.once('close', resolve));
  await sleep(1_500);
  on.postgres.startAgain();
  assert.equal(await ended, 0, running.output());
});

test('a database that goes away in the middle fails the run', { skip: serverMissing }, async () => {
  const on = await stage();
  using _ = on.sandbox;
  earlier(on, '20200101T000000Z', '20210101T000000Z');
  // A dump waits for this lock, for as long as it takes to end it.
  on.postgres.sql('create table t (i int)');
  const { PGHOST, PGPORT } = { PGHOST: on.sandbox.path('socket'), PGPORT: String(on.postgres.port) };
  Object.assign(on.sandbox.env, { PGHOST, PGPORT });
  on.sandbox.start('psql', ['-U', 'postgres', '-d', 'postgres', '-c', 'begin; lock t; select pg_sleep(30)']);
  const running = on.sandbox.start('bash', args(on, 1));
  const ended = new Promise<number | null>((resolve) => void running.process.once('close', resolve));
  const isDumping = () => on.postgres.sql(`select count(*) from pg_locks where not granted`)[0] !== '0';
  for (let tries = 0; tries < 100 && !isDumping(); tries += 1) await sleep(50);
  on.postgres.sql(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'plumbline-backup'`);
  assertFailed(on, { status: await ended, output: running.output() }, /pg_dump: error/);
});

test('a run that is ended by its deadline leaves nothing', { skip: serverMissing }, async () => {
  const on = await stage();
  using _ = on.sandbox;
  earlier(on, '20200101T000000Z', '20210101T000000Z');
  on.postgres.sql('create table t (i int)');
  Object.assign(on.sandbox.env, { PGHOST: on.sandbox.path('socket'), PGPORT: String(on.postgres.port) });
  on.sandbox.start('psql', ['-U', 'postgres', '-d', 'postgres', '-c', 'begin; lock t; select pg_sleep(30)']);
  const running = on.sandbox.start('bash', args(on, 1));
  const ended = new Promise<number | null>((resolve) => void running.process.once('close', resolve));
  const isDumping = () => on.postgres.sql(`select count(*) from pg_locks where not granted`)[0] !== '0';
  for (let tries = 0; tries < 100 && !isDumping(); tries += 1) await sleep(50);
  const begun = performance.now();
  running.process.kill('SIGTERM');
  assertFailed(on, { status: await ended, output: running.output() }, /(?:)/);
  assert.ok(performance.now() - begun < 5000);
});

const canMount = process.getuid?.() === 0 && spawnSync('mount', ['--version']).status === 0;

test(
  'a full volume fails the run',
  { skip: serverMissing || (canMount ? false : 'needs root, to mount a small volume') },
  async (t) => {
    const on = await stage();
    using _ = on.sandbox;
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=0777', 'tmpfs', on.sandbox.path('backup')]);
    if (mounted.status !== 0) {
      t.skip('no file system can be mounted here');
      return;
    }
    on.sandbox.onDispose(() => void spawnSync('umount', [on.sandbox.path('backup')]));
    on.postgres.sql(
      'create table t as select md5(i::text) || md5((i + 1)::text) as text from generate_series(1, 60000) i',
    );
    earlier(on, '20200101T000000Z', '20210101T000000Z');
    assertFailed(on, backUp(on, 1), /No space left|could not write/);
  },
);

test('what a killed run left is removed by the next one', { skip: serverMissing }, async () => {
  const on = await stage();
  using _ = on.sandbox;
  on.sandbox.write('backup/orders/.partial-20200101T000000Z-1/postgres.dump', 'half');
  assert.equal(backUp(on).status, 0);
  assert.ok(backups(on).every((name) => !name.startsWith('.')));
});

test('two runs at once are two whole backups, one after the other', { skip: serverMissing }, async () => {
  const on = await stage();
  using _ = on.sandbox;
  const runs = await Promise.all([1, 2].map(() => on.sandbox.runAsync('bash', args(on, 7))));
  assert.deepEqual(
    runs.map(({ status }) => status),
    [0, 0],
    runs.map(({ output }) => output).join('\n'),
  );
  assert.equal(backups(on).length, 2);
  for (const name of backups(on)) {
    const files = readdirSync(on.sandbox.path(`backup/orders/${name}`)).sort();
    assert.deepEqual(files, ['globals.sql', 'postgres.dump']);
  }
});
