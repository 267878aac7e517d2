import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { FakeApi } from './fake-api.ts';
import { orders } from './orders.ts';
import { Sandbox, serverMissing } from './sandbox.ts';
import { until } from './steward-stage.ts';

const passwords = { superuser: 's', replication: `re'pl\\:ication`, rewind: 'r', restapi: 'rest:"api' };

async function gated(env: Readonly<Record<string, string>> = {}): Promise<{ sandbox: Sandbox; api: FakeApi }> {
  const sandbox = new Sandbox(env);
  const api = await FakeApi.start(sandbox);
  sandbox.onDispose(() => api[Symbol.dispose]());
  // The image of the test decides the major.
  const major = /\d+/.exec(sandbox.run('postgres', ['--version']).output)?.[0] ?? '17';
  sandbox.member(orders({ version: major }), { postgresql: 5432, rest: 8008 });
  sandbox.secret('system', passwords);
  api.put('configmaps/orders-patroni-config', { config: '{}' });
  api.put('pods/orders-0');
  for (const ordinal of [0, 1, 2]) api.put(`persistentvolumeclaims/data-orders-${ordinal}`);
  return { sandbox, api };
}

const gate = (sandbox: Sandbox, ...args: readonly string[]) =>
  sandbox.runAsync('python3', ['-B', sandbox.path('scripts/start_gate.py'), ...args]);

interface PatroniConfiguration {
  readonly name: string;
  readonly bootstrap?: { readonly initdb: readonly unknown[] };
  readonly kubernetes: { readonly namespace: string };
  readonly postgresql: { readonly connect_address: string };
  readonly restapi: { readonly connect_address: string; readonly authentication: unknown };
}

const composed = (sandbox: Sandbox) =>
  JSON.parse(readFileSync(sandbox.path('run/patroni.yml'), 'utf8')) as PatroniConfiguration;

function initialise(sandbox: Sandbox): string {
  const data = sandbox.path('volume/pgdata');
  sandbox.run('initdb', ['-D', data, '-U', 'postgres', '-N', '-A', 'trust']);
  const { output } = sandbox.run('pg_controldata', ['-D', data], { env: { LC_ALL: 'C' } });
  return /system identifier: +(\d+)/.exec(output)?.[1] ?? '';
}

test('member 0 of a new database may initialise, and asks nobody for passwords', { skip: serverMissing }, async () => {
  const { sandbox } = await gated();
  using _ = sandbox;
  assert.equal((await gate(sandbox, 'start')).status, 0);
  const { bootstrap, name, kubernetes, postgresql, restapi } = composed(sandbox);
  assert.deepEqual(bootstrap?.initdb[0], 'data-checksums');
  assert.equal(name, 'orders-0');
  assert.equal(kubernetes.namespace, 'shop');
  assert.equal(postgresql.connect_address, '127.0.0.1:5432');
  assert.equal(restapi.connect_address, '127.0.0.1:8008');
  assert.deepEqual(restapi.authentication, { username: 'plumbline', password: passwords.restapi });
});

test(
  'Patroni’s configuration holds no password of PostgreSQL; a password file does',
  { skip: serverMissing },
  async () => {
    const { sandbox } = await gated();
    using _ = sandbox;
    await gate(sandbox, 'start');
    assert.doesNotMatch(readFileSync(sandbox.path('run/patroni.yml'), 'utf8'), /pl\\\\|"s"/);
    assert.equal(
      readFileSync(sandbox.path('run/pgpass'), 'utf8'),
      "*:*:*:plumbline_replication:re'pl\\\\\\:ication\n*:*:*:plumbline_rewind:r\n",
    );
    for (const file of ['patroni.yml', 'pgpass']) {
      assert.match(sandbox.run('stat', ['-c', '%a', sandbox.path(`run/${file}`)]).output, /^600\n/);
    }
  },
);

test('an IPv6 address is put in brackets (zalando/postgres-operator#639)', { skip: serverMissing }, async () => {
  const { sandbox } = await gated({ POD_IP: 'fd00::5' });
  using _ = sandbox;
  await gate(sandbox, 'start');
  assert.equal(composed(sandbox).postgresql.connect_address, '[fd00::5]:5432');
  assert.equal(composed(sandbox).restapi.connect_address, '[fd00::5]:8008');
});

test(
  'a member without data, of a database that has some, does not initialise and says on its pod what it waits for',
  { skip: serverMissing },
  async () => {
    const { sandbox, api } = await gated();
    using _ = sandbox;
    api.put('persistentvolumeclaims/data-orders-2', { 'plumbline.dev/system-identifier': '77' });
    assert.equal((await gate(sandbox, 'start')).status, 0);
    assert.equal(composed(sandbox).bootstrap, undefined);
    // The identity is back where Patroni looks for it, before any member starts.
    assert.equal(api.annotations('configmaps/orders-patroni-config')['initialize'], '77');
    assert.match(api.annotations('pods/orders-0')['plumbline.dev/start'] ?? '', /WaitingForLeader.*database 77/);
  },
);

test('data starts, and its identity is written onto the claim and to Patroni', { skip: serverMissing }, async () => {
  const { sandbox, api } = await gated();
  using _ = sandbox;
  const identity = initialise(sandbox);
  assert.equal((await gate(sandbox, 'start')).status, 0);
  assert.equal(api.annotations('persistentvolumeclaims/data-orders-0')['plumbline.dev/system-identifier'], identity);
  assert.equal(api.annotations('configmaps/orders-patroni-config')['initialize'], identity);
  assert.equal(composed(sandbox).bootstrap, undefined);
});

test(
  'a restart in place of a member that is known reads three objects, its pod twice, and writes none',
  { skip: serverMissing },
  async () => {
    const { sandbox, api } = await gated();
    using _ = sandbox;
    initialise(sandbox);
    await gate(sandbox, 'start');
    api.requests.length = 0;
    await gate(sandbox, 'start');
    assert.deepEqual(api.requests, [
      'GET pods/orders-0',
      'GET configmaps/orders-patroni-config',
      'GET persistentvolumeclaims/data-orders-0',
      'GET pods/orders-0',
    ]);
  },
);

test('in a pod that is deleted nothing starts, and nothing is written', { skip: serverMissing }, async () => {
  const { sandbox, api } = await gated();
  using _ = sandbox;
  initialise(sandbox);
  api.markDeleted('pods/orders-0');
  assert.equal((await gate(sandbox, 'start')).status, 3);
  assert.deepEqual(api.requests, ['GET pods/orders-0']);
});

test('what an initdb or a clone left half-made is removed', { skip: serverMissing }, async () => {
  const { sandbox } = await gated();
  using _ = sandbox;
  sandbox.write('volume/pgdata.initialising/PG_VERSION', '17');
  sandbox.write('volume/pgdata.clone/PG_VERSION', '17');
  assert.equal((await gate(sandbox, 'start')).status, 0);
  assert.ok(!existsSync(sandbox.path('volume/pgdata.initialising')));
  assert.ok(!existsSync(sandbox.path('volume/pgdata.clone')));
});

/** Starts the gate, waits until it says why it holds, and gives that. */
async function held(sandbox: Sandbox): Promise<string> {
  const running = sandbox.start('python3', ['-B', sandbox.path('scripts/start_gate.py'), 'start']);
  for (let tries = 0; tries < 100 && running.output() === ''; tries += 1) await sleep(50);
  assert.equal(running.process.exitCode, null, running.output());
  return running.output();
}

test('a data directory that cannot be read is left as it is', { skip: serverMissing }, async () => {
  const { sandbox } = await gated();
  using _ = sandbox;
  initialise(sandbox);
  sandbox.write('volume/pgdata/global/pg_control', 'broken');
  assert.match(await held(sandbox), /DataUnreadable: .*nothing is removed/);
  assert.ok(existsSync(sandbox.path('volume/pgdata/PG_VERSION')));
});

test('a control file of which one bit is wrong is no identity', { skip: serverMissing }, async () => {
  const { sandbox, api } = await gated();
  using _ = sandbox;
  initialise(sandbox);
  const path = sandbox.path('volume/pgdata/global/pg_control');
  const bytes = readFileSync(path);
  bytes[0] = (bytes[0] ?? 0) ^ 1;
  writeFileSync(path, bytes);
  assert.match(await held(sandbox), /DataUnreadable/);
  assert.deepEqual(api.annotations('persistentvolumeclaims/data-orders-0'), {});
});

test(
  'data of another major is told as that, whatever its control file looks like here',
  { skip: serverMissing },
  async () => {
    const { sandbox } = await gated();
    using _ = sandbox;
    sandbox.write('volume/pgdata/PG_VERSION', '9\n');
    sandbox.write('volume/pgdata/global/pg_control', 'of another layout');
    assert.match(await held(sandbox), /WrongMajor: the data is of PostgreSQL 9/);
  },
);

test('another major than that of the spec is told before anything starts', { skip: serverMissing }, async () => {
  const { sandbox } = await gated();
  using _ = sandbox;
  sandbox.member(orders({ version: '12' }), { postgresql: 5432, rest: 8008 });
  assert.match(await held(sandbox), /WrongMajor: the image holds PostgreSQL \d+, the spec says 12/);
});

test(
  'a Patroni before 4.0 is told before anything starts, and a later one starts',
  { skip: serverMissing },
  async () => {
    const { sandbox, api } = await gated();
    using _ = sandbox;
    sandbox.write('bin/patroni', '#!/usr/bin/env bash\necho "patroni 3.3.2"', 0o755);
    assert.match(
      await held(sandbox),
      /WrongPatroni: the image holds Patroni 3\.3\.2, and 4\.0 or later is needed: .*spec\.image/,
    );
    const told = () => api.annotations('pods/orders-0')['plumbline.dev/start'];
    await until(() => told() !== undefined, 'it says so on its pod');
    assert.match(told() ?? '', /"WrongPatroni"/);
    sandbox.write('bin/patroni', '#!/usr/bin/env bash\necho "patroni 4.0.6"', 0o755);
    assert.equal((await gate(sandbox, 'start')).status, 0);
  },
);

test('a volume that this user cannot write to is named, with the uid', { skip: serverMissing }, async () => {
  const { sandbox } = await gated();
  using _ = sandbox;
  sandbox.run('chmod', ['0555', sandbox.path('volume')]);
  assert.match(await held(sandbox), /VolumeNotWritable: uid \d+ cannot write/);
});

for (const [what, value] of [
  ['is empty', ''],
  ['is no text', Buffer.from([0x70, 0xff, 0xfe])],
] as const) {
  test(`a key of the Secret of the system that ${what} is named`, { skip: serverMissing }, async () => {
    const { sandbox } = await gated();
    using _ = sandbox;
    sandbox.secret('system', { ...passwords, rewind: value });
    assert.match(await held(sandbox), /^start gate: SystemSecretIncomplete: .* under rewind: [^\n]*\n$/);
  });
}

for (const [what, values] of [
  ['lacks a key', { superuser: 'new', replication: 'new', rewind: 'new' }],
  ['has two lines under one', { ...passwords, replication: 'new', restapi: 'one\ntwo' }],
] as const) {
  test(
    `while the Secret of the system ${what}, a member that runs keeps what it has`,
    { skip: serverMissing },
    async () => {
      // GIVEN a member that was started
      const { sandbox } = await gated();
      using _ = sandbox;
      await gate(sandbox, 'start');
      const files = () => ['patroni.yml', 'pgpass'].map((name) => readFileSync(sandbox.path(`run/${name}`), 'utf8'));
      const before = files();
      // WHEN the Secret changes
      sandbox.run('rm', ['-r', sandbox.path('secrets/system')]);
      sandbox.secret('system', values);
      const { status, output } = await gate(sandbox, 'compose');
      // THEN it is not tried again before the next change
      assert.equal(status, 0);
      assert.match(output, /the passwords stay as they were: .* under restapi: /);
      assert.deepEqual(files(), before);
      // AND a whole Secret is taken
      sandbox.secret('system', { ...passwords, restapi: 'new' });
      await gate(sandbox, 'compose');
      assert.deepEqual(composed(sandbox).restapi.authentication, { username: 'plumbline', password: 'new' });
    },
  );
}

test(
  'the end of a line of Windows is no part of a password of the system, as libpq has it',
  { skip: serverMissing },
  async () => {
    const { sandbox } = await gated();
    using _ = sandbox;
    sandbox.secret('system', { ...passwords, replication: 'r\r\n' });
    await gate(sandbox, 'start');
    assert.match(readFileSync(sandbox.path('run/pgpass'), 'utf8'), /^[^\r]*:plumbline_replication:r\n/);
  },
);

test('while the API is away it waits, and goes on when it is back', { skip: serverMissing }, async () => {
  const { sandbox, api } = await gated();
  using _ = sandbox;
  api.failWith = 503;
  const running = sandbox.start('python3', ['-B', sandbox.path('scripts/start_gate.py'), 'start']);
  for (let tries = 0; tries < 100 && running.output() === ''; tries += 1) await sleep(50);
  assert.match(running.output(), /ApiUnavailable/);
  api.failWith = undefined;
  const { promise, resolve } = Promise.withResolvers<void>();
  running.process.once('close', () => resolve());
  await promise;
  assert.equal(running.process.exitCode, 0);
});

test('just before initdb the gate is asked once more', { skip: serverMissing }, async () => {
  const { sandbox, api } = await gated();
  using _ = sandbox;
  assert.equal((await gate(sandbox, 'may-initialise')).status, 0);
  api.put('persistentvolumeclaims/data-orders-1', { 'plumbline.dev/system-identifier': '77' });
  assert.equal((await gate(sandbox, 'may-initialise')).status, 1);
});

test('initdb gives a whole data directory with the roles of the system, or none', { skip: serverMissing }, async () => {
  const { sandbox, api } = await gated();
  using _ = sandbox;
  const initdb = () =>
    sandbox.runAsync('bash', [
      sandbox.path('scripts/initdb.sh'),
      '--data-checksums',
      '--encoding=UTF8',
      '--locale=C.UTF-8',
      '--username=postgres',
      sandbox.path('volume/pgdata'),
    ]);
  // WHEN the gate says no
  api.put('persistentvolumeclaims/data-orders-1', { 'plumbline.dev/system-identifier': '77' });
  assert.notEqual((await initdb()).status, 0);
  assert.ok(!existsSync(sandbox.path('volume/pgdata')));
  // WHEN it says yes
  api.put('persistentvolumeclaims/data-orders-1');
  const { status, output } = await initdb();
  assert.equal(status, 0, output);
  const roles = sandbox.run('postgres', ['--single', '-D', sandbox.path('volume/pgdata'), 'postgres'], {
    input: 'select rolname, left(rolpassword, 13) from pg_authid where rolpassword is not null order by 1;\n',
  });
  for (const role of ['plumbline_replication', 'plumbline_rewind', 'postgres'])
    assert.match(roles.output, new RegExp(role));
  assert.equal(roles.output.match(/SCRAM-SHA-256/g)?.length, 3);
  assert.ok(!existsSync(sandbox.path('volume/pgdata.initialising')));
});

test('why initdb failed stands on the pod until it has succeeded', { skip: serverMissing }, async () => {
  // GIVEN an initdb that cannot succeed
  const { sandbox, api } = await gated();
  using _ = sandbox;
  const initdb = (locale: string) => {
    const options = [`--locale=${locale}`, '--username=postgres', sandbox.path('volume/pgdata')];
    return sandbox.runAsync('bash', [sandbox.path('scripts/initdb.sh'), ...options]);
  };
  const told = () => api.annotations('pods/orders-0')['plumbline.dev/start'];
  const { status, output } = await initdb('nowhere');
  assert.notEqual(status, 0);
  assert.match(output, /invalid locale name/);
  assert.match(told() ?? '', /"InitialisationFailed".*invalid locale name .*nowhere/);

  // WHEN it is tried again, THEN it is still told, until there is a data directory
  assert.equal((await gate(sandbox, 'start')).status, 0);
  assert.match(told() ?? '', /InitialisationFailed/);
  const again = await initdb('C.UTF-8');
  assert.equal(again.status, 0, again.output);
  assert.equal(told(), undefined);
});

// mariadb-operator/mariadb-operator#1399
test('initdb that is killed half way is told, and repeated from nothing', { skip: serverMissing }, async () => {
  // GIVEN an initdb that has written a control file
  const { sandbox, api } = await gated();
  using _ = sandbox;
  const data = sandbox.path('volume/pgdata');
  const script = [sandbox.path('scripts/initdb.sh'), '--locale=C.UTF-8', '--username=postgres', data];
  const running = sandbox.start('bash', script);
  const control = sandbox.path('volume/pgdata.initialising/global/pg_control');
  for (let tries = 0; tries < 600 && !existsSync(control); tries += 1) await sleep(20);

  // WHEN it is killed
  process.kill(childOf(running.process.pid ?? 0, 'initdb'), 'SIGKILL');
  const { promise, resolve } = Promise.withResolvers<void>();
  running.process.once('close', () => resolve());
  await promise;

  // THEN nothing looks like data, and the pod says what happened
  assert.ok(!existsSync(data));
  assert.match(
    api.annotations('pods/orders-0')['plumbline.dev/start'] ?? '',
    /InitialisationFailed.*ended by signal 9/,
  );

  // WHEN it is tried again, THEN it starts from nothing
  assert.equal((await gate(sandbox, 'start')).status, 0);
  assert.ok(!existsSync(sandbox.path('volume/pgdata.initialising')));
  const again = await sandbox.runAsync('bash', script);
  assert.equal(again.status, 0, again.output);
  assert.match(sandbox.run('pg_controldata', ['-D', data]).output, /system identifier/);
});

function childOf(pid: number, name: string): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
  const found = children.find((child) => readFileSync(`/proc/${child}/comm`, 'utf8').trim() === name);
  return found ?? assert.fail(`${name} does not run`);
}

test('whole data is never removed, whatever lies beside it', { skip: serverMissing }, async () => {
  // GIVEN data that no claim and no configuration knows, with what was cut off beside it
  const { sandbox } = await gated();
  using _ = sandbox;
  const identity = initialise(sandbox);
  const data = sandbox.path('volume/pgdata');
  for (const leftover of ['initialising', 'clone', 'failed'])
    sandbox.write(`volume/pgdata.${leftover}/PG_VERSION`, '17');

  // WHEN the gate and then initdb are run over it
  assert.equal((await gate(sandbox, 'start')).status, 0);
  const initdb = await sandbox.runAsync('bash', [sandbox.path('scripts/initdb.sh'), '--username=postgres', data]);

  // THEN initdb refuses, and it is the same
  assert.notEqual(initdb.status, 0);
  assert.match(initdb.output, /no initdb: the data directory is not empty/);
  const { output } = sandbox.run('pg_controldata', ['-D', data], { env: { LC_ALL: 'C' } });
  assert.match(output, new RegExp(`system identifier: +${identity}`));
});

test('a volume that another container uses is waited for, and then held', { skip: serverMissing }, async () => {
  // GIVEN a container that has locked the volume, as every supervisor does
  const { sandbox, api } = await gated();
  using _ = sandbox;
  sandbox.write(
    'bin/patroni',
    '#!/usr/bin/env bash\n[[ $1 == --version ]] && exit\necho Patroni starts\nexec sleep 60',
    0o755,
  );
  const lock = sandbox.path('volume/.plumbline-lock');
  const other = sandbox.start('bash', ['-c', `exec 9>>"$0"; flock 9; echo locked; exec sleep 60`, lock]);
  await until(() => other.output().includes('locked'), 'it is locked');

  // WHEN another one starts, THEN it says on its pod what it waits for, and goes on when the first has ended
  const running = sandbox.start('bash', [sandbox.path('scripts/supervisor.sh')]);
  const told = () => api.annotations('pods/orders-0')['plumbline.dev/start'];
  await until(() => told() !== undefined, 'it says something');
  assert.match(told() ?? '', /VolumeInUse.*data-orders-0/);
  other.process.kill('SIGKILL');
  await until(() => running.output().includes('Patroni starts'), running.output());
  assert.equal(told(), undefined);
  assert.equal(sandbox.run('flock', ['--nonblock', lock, 'true']).status, 1);
});

test('a volume that could not be written to is locked once it can', { skip: serverMissing }, async () => {
  const { sandbox } = await gated({ PLUMBLINE_LOCK: '' });
  using _ = sandbox;
  const { status, output } = await gate(sandbox, 'start');
  assert.equal(status, 1);
  assert.match(output, /can be written to now; it is locked first/);
});
