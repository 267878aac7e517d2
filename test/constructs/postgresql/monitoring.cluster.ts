import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { Sandbox, serverMissing } from './sandbox.ts';
import { passwords, stage, startSteward, until } from './steward-stage.ts';

const role = 'plumbline_monitoring';

/** What the exporter logs in with; empty while it is not written down. */
function password(sandbox: Sandbox): string {
  const path = sandbox.path('monitoring/pgpass');
  return existsSync(path) ? (readFileSync(path, 'utf8').trimEnd().split(':').at(-1) ?? '') : '';
}

test(
  'the exporter can log in, may look at everything and read no row of anybody',
  { skip: serverMissing },
  async () => {
    // GIVEN a table of the owner
    const { sandbox, postgres } = await stage();
    using _ = sandbox;
    // WHEN
    const said = startSteward(sandbox, 'monitoring.py');
    await until(
      () => said().includes('database Order-Data made') && said().includes('may monitor'),
      'roles and database',
    );
    // THEN it logs in with what is written down, as a file of libpq that nobody else may read
    assert.ok(postgres.canLogIn(role, password(sandbox)));
    const path = sandbox.path('monitoring/pgpass');
    assert.equal(readFileSync(path, 'utf8'), `localhost:${postgres.port}:*:${role}:${password(sandbox)}\n`);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    // AND may do no more than look
    const attributes = `select rolsuper, rolreplication, rolcreaterole, rolcreatedb, rolbypassrls from pg_roles where rolname = '${role}'`;
    assert.deepEqual(postgres.sql(attributes), ['f|f|f|f|f']);
    assert.deepEqual(postgres.sql(`set role ${role}; select count(*) > 0 from pg_ls_waldir()`), ['t']);
    postgres.sql('create table t (n int)', 'Order-Data');
    assert.throws(() => postgres.sql(`set role ${role}; select * from t`, 'Order-Data'), /permission denied/);
    assert.throws(() => postgres.sql(`set role ${role}; select rolpassword from pg_authid`), /permission denied/);
    // AND no password is told, of the superuser or of the exporter
    for (const text of [postgres.log(), said(), readFileSync(path, 'utf8')])
      for (const secret of Object.values(passwords)) assert.ok(!text.includes(secret));
    for (const text of [postgres.log(), said()]) assert.ok(!text.includes(password(sandbox)));
  },
);

test(
  'its password changes with that of the superuser, and what somebody did to the role is put right',
  { skip: serverMissing },
  async () => {
    // GIVEN a role of that name that cannot do its work
    const { sandbox, postgres } = await stage();
    using _ = sandbox;
    postgres.sql(`create role ${role} nologin`);
    const said = startSteward(sandbox, 'monitoring.py');
    await until(() => said().includes('may monitor'), 'the role');
    const before = password(sandbox);
    assert.ok(postgres.canLogIn(role, before));
    // WHEN the kubelet swaps the mounted Secret
    sandbox.secret('system', { ...passwords, superuser: 'another' });
    await until(() => said().split('may log in').length === 3, 'the new password');
    // THEN
    assert.notEqual(password(sandbox), before);
    assert.ok(postgres.canLogIn(role, password(sandbox)));
    assert.ok(!postgres.canLogIn(role, before));
  },
);

test(
  'without Patroni’s lock the role is not touched, and the password is there for a replica too',
  { skip: serverMissing },
  async () => {
    const { sandbox, postgres, patroni } = await stage();
    using _ = sandbox;
    patroni.status = 503;
    const said = startSteward(sandbox, 'monitoring.py');
    await until(() => password(sandbox) !== '' && patroni.requests.includes('GET /primary'), 'the password');
    assert.deepEqual(postgres.sql(`select count(*) from pg_roles where rolname = '${role}'`), ['0']);
    patroni.status = 200;
    await until(() => said().includes('may monitor'), 'the role');
  },
);

test('the want of a place for the password ends no steward', { skip: serverMissing }, async () => {
  const { sandbox, postgres } = await stage();
  using _ = sandbox;
  chmodSync(sandbox.path('monitoring'), 0o555);
  const said = startSteward(sandbox, 'monitoring.py');
  await until(() => said().includes('database Order-Data made'), 'the database');
  await until(() => said().includes('PermissionError'), 'a word about it');
  chmodSync(sandbox.path('monitoring'), 0o755);
  await until(() => said().includes('may monitor'), 'the role');
  assert.ok(postgres.canLogIn(role, password(sandbox)));
});

test(
  'an exporter that dies is started again, with its arguments, and ends with its container',
  { skip: process.platform === 'win32' ? 'needs a POSIX shell' : false },
  async () => {
    // GIVEN a program of that name that says how it was called, and dies
    using sandbox = new Sandbox();
    sandbox.write('bin/postgres_exporter', '#!/bin/sh\necho "called with $* and $PGPASSFILE"\nexit 3\n', 0o755);
    const started = sandbox.start('sh', [sandbox.path('scripts/exporter.sh'), '--one', '--two']);
    // WHEN
    await until(() => started.output().split('called with').length === 3, 'the second start');
    // THEN
    const call = `called with --one --two and ${sandbox.path('monitoring/pgpass')}\nexporter: ended with 3`;
    assert.ok(started.output().includes(call), started.output());
    const ended = once(started.process, 'close');
    started.process.kill('SIGTERM');
    assert.deepEqual(await ended, [0, null]);
  },
);
