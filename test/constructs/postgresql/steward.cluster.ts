import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { endOfFirst, notFirst } from './first-process.ts';
import { Sandbox, serverMissing } from './sandbox.ts';
import { nasty, passwords, stage, startSteward, until } from './steward-stage.ts';

test(
  'roles, owner and database come to be, with passwords and names of any kind (movetokube/postgres-operator#75)',
  { skip: serverMissing },
  async () => {
    const { sandbox, postgres, api } = await stage();
    using _ = sandbox;
    // WHEN
    const said = startSteward(sandbox);
    await until(() => said().includes('database Order-Data made'), 'the database');
    // THEN
    assert.ok(postgres.canLogIn('app-user', nasty, 'Order-Data'));
    assert.ok(postgres.canLogIn('postgres', passwords.superuser));
    assert.ok(postgres.canLogIn('plumbline_replication', passwords.replication));
    assert.ok(postgres.canLogIn('plumbline_rewind', passwords.rewind));
    assert.ok(!postgres.canLogIn('app-user', 'wrong', 'Order-Data'));
    const owner = `select pg_get_userbyid(datdba) from pg_database where datname = 'Order-Data'`;
    assert.deepEqual(postgres.sql(owner), ['app-user']);
    const attributes = `select rolname, rolsuper, rolreplication, rolcreaterole from pg_roles where rolname !~ '^pg_' order by 1`;
    assert.deepEqual(postgres.sql(attributes), [
      'app-user|f|f|f',
      'plumbline_replication|f|t|f',
      'plumbline_rewind|f|f|f',
      'postgres|t|t|t',
    ]);
    const reads = `select has_function_privilege('plumbline_rewind', 'pg_read_binary_file(text)', 'execute')`;
    assert.deepEqual(postgres.sql(reads), ['t']);
    // The identity was on the claim before anybody could store anything.
    assert.ok(api.annotations('persistentvolumeclaims/data-orders-0')['plumbline.dev/system-identifier']);
  },
);

test(
  'nothing of a password is logged, not even by a server that logs every statement',
  { skip: serverMissing },
  async () => {
    const { sandbox, postgres } = await stage();
    using _ = sandbox;
    const said = startSteward(sandbox);
    await until(() => said().includes('database Order-Data made'), 'the database');
    for (const text of [postgres.log(), said()]) {
      for (const secret of [nasty, ...Object.values(passwords)]) assert.ok(!text.includes(secret));
      assert.doesNotMatch(text, /SCRAM-SHA-256\$/);
    }
  },
);

for (const [what, password] of [
  ['one that would end a statement', `';drop role "app-user";--`],
  ['one of 200 characters', 'x'.repeat(200)],
  ['one with letters and signs of other scripts', 'ü€😀'],
  ['one that SASLprep changes', 'a\u00a0b\u00adc\u2168ﬁ'],
  ['one that SASLprep forbids', '\u0627\u0031'],
  ['one with a dollar quote', '$$;select 1;$$ \\! id'],
] as const) {
  test(`a password that changes is set within seconds: ${what}`, { skip: serverMissing }, async () => {
    const { sandbox, postgres } = await stage();
    using _ = sandbox;
    const said = startSteward(sandbox);
    await until(() => said().includes('database Order-Data made'), 'the database');
    // WHEN the kubelet swaps the mounted Secret
    sandbox.secret('credentials', { password });
    await until(() => said().includes('password of role app-user set'), 'the password');
    // THEN
    assert.ok(postgres.canLogIn('app-user', password, 'Order-Data'));
    assert.ok(!postgres.canLogIn('app-user', nasty, 'Order-Data'));
    assert.deepEqual(postgres.sql(`select count(*) from pg_roles where rolname = 'app-user'`), ['1']);
  });
}

test('a password that is right already is left alone, whoever set it', { skip: serverMissing }, async () => {
  const { sandbox, postgres } = await stage('ü€😀');
  using _ = sandbox;
  postgres.sql(`set password_encryption = 'scram-sha-256'; create role "app-user" login password 'ü€😀' createdb;`);
  const before = postgres.sql(`select rolpassword from pg_authid where rolname = 'app-user'`);
  const said = startSteward(sandbox);
  await until(() => said().includes('database Order-Data made'), 'the database');
  assert.deepEqual(postgres.sql(`select rolpassword from pg_authid where rolname = 'app-user'`), before);
  // An attribute that somebody gave is kept.
  assert.deepEqual(postgres.sql(`select rolcreatedb from pg_roles where rolname = 'app-user'`), ['t']);
});

test(
  'what was cut off half-way is finished at the next start (research/real-cluster.md)',
  { skip: serverMissing },
  async () => {
    const { sandbox, postgres } = await stage();
    using _ = sandbox;
    postgres.sql(`create role plumbline_replication; create role "app-user" nologin;`);
    const said = startSteward(sandbox);
    await until(() => said().includes('database Order-Data made'), 'the database');
    assert.ok(postgres.canLogIn('plumbline_replication', passwords.replication));
    assert.ok(postgres.canLogIn('app-user', nasty, 'Order-Data'));
  },
);

test(
  'as long as Patroni does not hold the lock nothing is touched: it may be initialising still',
  { skip: serverMissing },
  async () => {
    const { sandbox, postgres, patroni } = await stage();
    using _ = sandbox;
    patroni.status = 503;
    const said = startSteward(sandbox);
    await sleep(2500);
    assert.deepEqual(postgres.sql(`select count(*) from pg_roles where rolname ~ 'plumbline|app'`), ['0']);
    patroni.status = 200;
    await until(() => said().includes('database Order-Data made'), 'the database');
  },
);

test(
  'without the API no database is made: its identity must be on the claim first',
  { skip: serverMissing },
  async () => {
    const { sandbox, api, postgres } = await stage();
    using _ = sandbox;
    api.failWith = 503;
    const said = startSteward(sandbox);
    await until(() => said().includes('the server is ill'), 'a word about it');
    assert.deepEqual(postgres.sql(`select count(*) from pg_database where datname = 'Order-Data'`), ['0']);
    api.failWith = undefined;
    await until(() => said().includes('database Order-Data made'), 'the database');
  },
);

test('at rest it asks nothing of the API and says nothing', { skip: serverMissing }, async () => {
  const { sandbox, api } = await stage();
  using _ = sandbox;
  const said = startSteward(sandbox);
  await until(() => said().includes('database Order-Data made'), 'the database');
  await until(() => api.annotations('pods/orders-0')['plumbline.dev/usage'] !== undefined, 'the use of the disk');
  const usage = JSON.parse(api.annotations('pods/orders-0')['plumbline.dev/usage'] ?? '') as Record<string, unknown>;
  assert.deepEqual(Object.keys(usage), ['capacityBytes', 'usedPercent', 'walBytes', 'slots']);
  const [requests, output] = [api.requests.length, said()];
  await sleep(12_000);
  assert.deepEqual([api.requests.length, said()], [requests, output]);
});

test(
  'the logical slots are stated when they change, and at rest nothing is asked',
  { skip: serverMissing },
  async () => {
    const { sandbox, api, postgres } = await stage(nasty, ['wal_level=logical']);
    using _ = sandbox;
    const stated = () => api.annotations('pods/orders-0')['plumbline.dev/slots'];
    const said = startSteward(sandbox);
    await until(() => said().includes('database Order-Data made'), 'the database');
    await until(() => stated() === '{"own":[],"synced":[]}', 'that there are none');
    // WHEN one is made
    postgres.sql(`select pg_create_logical_replication_slot('cdc', 'pgoutput')`, 'Order-Data');
    await until(() => stated()?.includes('cdc') === true, 'the slot');
    // THEN
    const slot = { name: 'cdc', database: 'Order-Data', plugin: 'pgoutput', failover: false };
    assert.deepEqual(JSON.parse(stated() ?? ''), { own: [slot], synced: [] });
    await until(() => api.annotations('pods/orders-0')['plumbline.dev/usage'] !== undefined, 'the use of the disk');
    const requests = api.requests.length;
    await sleep(12_000);
    assert.equal(api.requests.length, requests);
    // WHEN it is dropped
    postgres.sql(`select pg_drop_replication_slot('cdc')`);
    await until(() => stated() === '{"own":[],"synced":[]}', 'that it is gone');
  },
);

/** Gives the member settings of which one waits for a restart, and returns their digest. */
function settings(sandbox: Sandbox): string {
  const text = JSON.stringify({ postgresql: { parameters: { max_connections: '200' } } });
  sandbox.write('volume/pgdata/patroni.dynamic.json', text);
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

test(
  'the server is restarted for the settings that are there, once, also when Patroni turns that down at first',
  { skip: serverMissing },
  async () => {
    const { sandbox, api, patroni } = await stage();
    using _ = sandbox;
    const digest = settings(sandbox);
    patroni.restarts.push(503, 503);
    const said = startSteward(sandbox);
    const stated = () => api.annotations('pods/orders-0')['plumbline.dev/settings'] ?? '';
    await until(() => stated().includes('max_connections'), 'what waits for a restart');
    sandbox.write('asked/restart', `${digest}-1`);
    const restarts = () => patroni.requests.filter((request) => request === 'POST /restart').length;
    await until(() => restarts() === 3, 'the third try');
    await sleep(2_500);
    assert.equal(restarts(), 3, said());
    assert.match(said(), /the restart that the pod is asked for has to wait: Patroni says/);
  },
);

for (const [what, request] of [
  ['is left from other settings', () => '0123456789abcdef-1'],
  ['was made to it as a replica', (digest: string) => `${digest}-1-replica`],
] as const)
  test(`a request for a restart of a primary that ${what} is nobody’s wish`, { skip: serverMissing }, async () => {
    const { sandbox, api, patroni } = await stage();
    using _ = sandbox;
    sandbox.write('asked/restart', request(settings(sandbox)));
    startSteward(sandbox);
    const stated = () => api.annotations('pods/orders-0')['plumbline.dev/settings'] ?? '';
    await until(() => stated().includes('max_connections'), 'what waits for a restart');
    await sleep(2_500);
    assert.deepEqual(
      patroni.requests.filter((request) => request.startsWith('POST')),
      [],
    );
  });

for (const [what, anyone, left] of [
  ['opened for whoever is in step', 'orders-1', []],
  ['left as it is where an earlier one was open', 'orders-2', ['leader', 'member', 'plumbline.dev/anyone']],
] as const) {
  test(`a switchover is ${what}, when the primary begins to stop`, { skip: serverMissing }, async () => {
    const { sandbox, api, postgres } = await stage();
    using _ = sandbox;
    const request = 'configmaps/orders-patroni-failover';
    api.put(request, { leader: 'orders-0', member: 'orders-1', 'plumbline.dev/anyone': anyone });
    const said = startSteward(sandbox);
    await until(() => said().includes('database Order-Data made'), 'the database');
    // From now on it has an eye on the primary.
    await sleep(1_500);
    postgres.stop();
    await until(() => api.requests.includes(`GET ${request}`), 'a look at the request');
    await until(() => Object.keys(api.annotations(request)).length === left.length, 'what is left of it');
    assert.deepEqual(Object.keys(api.annotations(request)).sort(), left);
  });
}

test(
  'no role changes while the Secret of the system lacks a key, and the pod says so',
  { skip: serverMissing },
  async () => {
    // GIVEN
    const { sandbox, api, postgres } = await stage();
    using _ = sandbox;
    const said = startSteward(sandbox);
    const told = () => api.annotations('pods/orders-0')['plumbline.dev/start'];
    await until(() => said().includes('database Order-Data made'), 'the database');
    // WHEN
    sandbox.secret('system', { ...passwords, replication: 'another', restapi: '' });
    sandbox.secret('credentials', { password: 'another' });
    // THEN the owner alone has another password
    await until(() => told() !== undefined && said().includes('password of role app-user set'), 'what is missing');
    assert.match(told() ?? '', /"SystemSecretIncomplete".* under restapi: /);
    assert.ok(!said().includes('password of role plumbline_replication set'));
    assert.ok(postgres.canLogIn('plumbline_replication', passwords.replication, 'postgres'));
    // WHEN
    sandbox.secret('system', { ...passwords, replication: 'another' });
    // THEN
    await until(() => told() === undefined, 'that it is whole');
    await until(() => said().includes('password of role plumbline_replication set'), 'the password');
  },
);

test('a new owner waits for a password that is text, and the pod says so', { skip: serverMissing }, async () => {
  const { sandbox, api } = await stage();
  using _ = sandbox;
  sandbox.secret('credentials', { password: Buffer.from([0x61, 0xff, 0xfe]) });
  const said = startSteward(sandbox);
  const told = () => api.annotations('pods/orders-0')['plumbline.dev/start'];
  await until(() => told() !== undefined, 'why it waits');
  assert.match(told() ?? '', /"CredentialsUnusable".* under the key password, so app-user could never log in/);
  sandbox.secret('credentials', { password: nasty });
  await until(() => said().includes('database Order-Data made'), 'the database');
  assert.equal(told(), undefined);
});

test(
  'a password that becomes no text changes nothing, and is told without its bytes',
  { skip: serverMissing },
  async () => {
    const { sandbox, api, postgres } = await stage();
    using _ = sandbox;
    settings(sandbox);
    const said = startSteward(sandbox);
    await until(() => said().includes('database Order-Data made'), 'the database');
    sandbox.secret('credentials', { password: Buffer.from([0x61, 0xff, 0xfe]) });
    await until(() => said().includes('stays as it is'), 'that it is seen');
    await until(() => 'plumbline.dev/settings' in api.annotations('pods/orders-0'), 'the settings');
    assert.match(said(), /the password of role app-user stays as it is: its Secret holds none, or one that is no text/);
    assert.doesNotMatch(said(), /0xff|byte/);
    assert.ok(postgres.canLogIn('app-user', nasty, 'Order-Data'));
  },
);

for (const script of ['steward.py', 'monitoring.py']) {
  test(`TERM ends it while it is still being loaded: ${script}`, { skip: notFirst || serverMissing }, async () => {
    // GIVEN
    using sandbox = new Sandbox();
    sandbox.write(
      'scripts/handover.py',
      'import os, signal, time\nos.kill(os.getpid(), signal.SIGTERM)\ntime.sleep(600)',
    );
    assert.equal(await endOfFirst(sandbox, ['python3', '-B', sandbox.path(`scripts/${script}`)]), 0);
  });
}

test('it ends where its pod was deleted before it heeded TERM', { skip: serverMissing }, async () => {
  const { sandbox, api } = await stage();
  using _ = sandbox;
  api.markDeleted('pods/orders-0');
  const { status } = await sandbox.runAsync('python3', ['-B', sandbox.path('scripts/steward.py')]);
  assert.equal(status, 0);
});
