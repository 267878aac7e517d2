import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFileSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { createAuthority, type KeyPair } from '../../cluster/certificates.ts';
import { eventually } from '../../controller/running-plumbline.ts';
import { FakeApi } from './fake-api.ts';
import { orders } from './orders.ts';
import { freePort, RunningPostgres } from './running-postgres.ts';
import { Sandbox, serverMissing } from './sandbox.ts';

const passwords = { superuser: 'a', replication: 'b', rewind: 'c', restapi: 'd' };
const authority = createAuthority('test');
const newPair = (): KeyPair => authority.issueServer({ commonName: 'orders' }, ['localhost'], []);
const serialOf = ({ certificate }: KeyPair): string => new X509Certificate(certificate).serialNumber;
const secretOf = ({ certificate, key }: KeyPair) => ({ 'tls.crt': certificate, 'tls.key': key });

interface Stage {
  readonly sandbox: Sandbox;
  readonly api: FakeApi;
  readonly rest: number;
}

/** What a member finds in its pod, without a certificate yet; with or without the volume of one. */
async function stage(hasVolume = true): Promise<Stage> {
  const sandbox = new Sandbox();
  const api = await FakeApi.start(sandbox);
  sandbox.onDispose(() => api[Symbol.dispose]());
  const major = /\d+/.exec(sandbox.run('postgres', ['--version']).output)?.[0] ?? '17';
  const rest = await freePort();
  sandbox.member(orders({ version: major }), { postgresql: 5432, rest });
  sandbox.secret('system', passwords);
  sandbox.secret('credentials', { password: 'e' });
  if (hasVolume) sandbox.mkdir('secrets/tls');
  api.put('configmaps/orders-patroni-config', { config: '{}' });
  api.put('pods/orders-0');
  for (const ordinal of [0, 1, 2]) api.put(`persistentvolumeclaims/data-orders-${ordinal}`);
  return { sandbox, api, rest };
}

const gate = (sandbox: Sandbox, ...args: readonly string[]) =>
  sandbox.runAsync('python3', ['-B', sandbox.path('scripts/start_gate.py'), ...args]);

const composed = (sandbox: Sandbox) => readFileSync(sandbox.path('run/patroni.yml'), 'utf8');
const served = (sandbox: Sandbox) => new X509Certificate(readFileSync(sandbox.path('run/tls/tls.crt'))).serialNumber;
const stated = (api: FakeApi) =>
  JSON.parse(api.annotations('pods/orders-0')['plumbline.dev/tls'] ?? '{}') as { serial?: string; problem?: string };

test(
  'a member starts with the mounted pair, which nobody else in the container can read',
  { skip: serverMissing },
  async () => {
    const { sandbox } = await stage();
    using _ = sandbox;
    const pair = newPair();
    sandbox.secret('tls', { ...secretOf(pair), 'ca.crt': authority.certificate });
    // WHEN
    const { status, output } = await gate(sandbox, 'start');
    // THEN
    assert.equal(status, 0, output);
    assert.equal(served(sandbox), serialOf(pair));
    const folder = sandbox.path('run/tls');
    assert.equal(statSync(folder).mode & 0o777, 0o700);
    for (const name of readdirSync(folder)) assert.equal(statSync(`${folder}/${name}`).mode & 0o777, 0o600, name);
    assert.match(composed(sandbox), /"hostssl all all all scram-sha-256"/);
    assert.match(composed(sandbox), /"ssl": "on"/);
  },
);

test('a member whose pod was made before the spec asked for TLS goes on without', { skip: serverMissing }, async () => {
  const { sandbox } = await stage(false);
  using _ = sandbox;
  assert.equal((await gate(sandbox, 'start')).status, 0);
  assert.doesNotMatch(composed(sandbox), /hostssl|"ssl"/);
});

test(
  'without a pair that can be served a member waits, says why with the name of the Secret, and then starts',
  { skip: serverMissing },
  async () => {
    const { sandbox, api } = await stage();
    using _ = sandbox;
    const pair = newPair();
    const { output } = sandbox.start('python3', ['-B', sandbox.path('scripts/start_gate.py'), 'start']);
    const reason = () => api.annotations('pods/orders-0')['plumbline.dev/start'] ?? '';
    // GIVEN nothing, THEN half of it, THEN another's key
    await eventually('it says what is missing', () => /has no tls\.crt and no tls\.key/.test(reason()) || undefined);
    assert.match(reason(), /"TlsSecretUnusable".*Secret orders-tls:/);
    sandbox.secret('tls', { 'tls.crt': pair.certificate });
    await eventually('it says that the key is missing', () => /it has no tls\.key/.test(reason()) || undefined);
    sandbox.secret('tls', { ...secretOf(pair), 'tls.key': newPair().key });
    await eventually('it says that they do not match', () => /does not match/.test(reason()) || undefined);
    // WHEN it is mended
    sandbox.secret('tls', secretOf(pair));
    // THEN
    await eventually('it starts', () => /FirstStart/.test(output()) || undefined);
    await eventually('it takes back what it said', () => reason() === '' || undefined);
    assert.equal(served(sandbox), serialOf(pair));
  },
);

const encrypted = (sandbox: Sandbox, { key }: KeyPair): string =>
  sandbox.run('openssl', ['pkcs8', '-topk8', '-passout', 'pass:secret'], { input: key }).output;

for (const [what, make, problem] of [
  [
    'of two pairs',
    () => ({ ...secretOf(newPair()), 'tls.key': newPair().key }),
    /the key in tls\.key does not match the certificate in tls\.crt/,
  ],
  [
    'with text for a certificate',
    () => ({ ...secretOf(newPair()), 'tls.crt': 'hello' }),
    /tls\.crt is no certificate in PEM/,
  ],
  ['with an empty certificate', () => ({ ...secretOf(newPair()), 'tls.crt': '' }), /tls\.crt is no certificate in PEM/],
  [
    'with text for a key',
    () => ({ ...secretOf(newPair()), 'tls.key': 'hello' }),
    /tls\.key is no key that can be used/,
  ],
  [
    'whose key has a passphrase',
    (sandbox: Sandbox) => {
      const pair = newPair();
      return { ...secretOf(pair), 'tls.key': encrypted(sandbox, pair) };
    },
    /tls\.key is no key that can be used/,
  ],
  ['without a key', () => ({ 'tls.crt': newPair().certificate }), /it has no tls\.key/],
] as const) {
  test(`a new pair ${what} leaves the old one in service, and is not quoted`, { skip: serverMissing }, async () => {
    const { sandbox } = await stage();
    using _ = sandbox;
    const pair = newPair();
    sandbox.secret('tls', secretOf(pair));
    await gate(sandbox, 'start');
    // WHEN
    const bad = make(sandbox);
    for (const name of ['tls.crt', 'tls.key']) sandbox.run('rm', ['-f', sandbox.path(`secrets/tls/${name}`)]);
    sandbox.secret('tls', bad);
    const { status, output } = await gate(sandbox, 'compose');
    // THEN
    assert.equal(status, 0);
    assert.match(output, problem);
    assert.doesNotMatch(output, /PRIVATE KEY|hello/);
    assert.equal(served(sandbox), serialOf(pair));
    assert.deepEqual(leftOvers(sandbox), []);
  });
}

/** Folders of pairs that nobody serves. */
function leftOvers(sandbox: Sandbox): readonly string[] {
  const kept = readlinkSync(sandbox.path('run/tls'));
  return readdirSync(sandbox.path('run')).filter((name) => name.startsWith('tls-') && name !== kept);
}

test(
  'a renewed pair is served by the running server, a session goes on, and the pod says which',
  { skip: serverMissing },
  async () => {
    // GIVEN a server with a pair, and its steward
    const { sandbox, api, rest } = await stage();
    using _ = sandbox;
    const [first, second, third] = [newPair(), newPair(), newPair()];
    sandbox.secret('tls', secretOf(first));
    await gate(sandbox, 'start');
    const postgres = await RunningPostgres.start(sandbox, encryption(sandbox));
    sandbox.member(orders(), { postgresql: postgres.port, rest });
    postgres.sql("create role app login password 'e'");
    const url = `host=127.0.0.1 port=${postgres.port} user=app password=e dbname=postgres`;
    const encrypts = () =>
      sandbox.run('psql', [
        '-XAtc',
        'select ssl from pg_stat_ssl where pid = pg_backend_pid()',
        `${url} sslmode=require`,
      ]);
    assert.match(encrypts().output, /^t\n/);
    const session = sandbox.start('psql', [
      '-XAt',
      `${url} sslmode=require`,
      '-c',
      'select pg_sleep(20)',
      '-c',
      "select 'still here'",
    ]);
    sandbox.start('python3', ['-B', sandbox.path('scripts/steward.py')]);
    await eventually('the first is stated', () => stated(api).serial === serialOf(first) || undefined);
    assert.deepEqual(Object.keys(stated(api)), ['serial', 'notBefore', 'notAfter']);

    // WHEN the Secret has another pair, THEN the server serves that
    sandbox.secret('tls', secretOf(second));
    assert.equal((await gate(sandbox, 'compose')).status, 0);
    await eventually('the second is stated', () => stated(api).serial === serialOf(second) || undefined);
    assert.match(encrypts().output, /^t\n/);

    // WHEN it has one that does not match, THEN the second stays, and the pod says why
    sandbox.secret('tls', { ...secretOf(third), 'tls.key': first.key });
    await gate(sandbox, 'compose');
    await eventually('the problem is stated', () => stated(api).problem !== undefined || undefined);
    assert.equal(stated(api).problem, 'the key in tls.key does not match the certificate in tls.crt');
    assert.equal(stated(api).serial, serialOf(second));
    assert.match(encrypts().output, /^t\n/);

    // WHEN it is mended, THEN the third is served, and the problem is gone
    sandbox.secret('tls', secretOf(third));
    await gate(sandbox, 'compose');
    await eventually('the third is stated', () => stated(api).serial === serialOf(third) || undefined);
    assert.equal(stated(api).problem, undefined);

    // AND the session that began with the first has seen nothing of it
    await eventually('the session ends well', () => /still here/.test(session.output()) || undefined);
  },
);

/** An hour of the steward's looks, on a clock that a loop moves. */
const hour = `import sys; sys.path.insert(0, 'scripts')
from kube import KubeError
from member import Member
from tls import TlsStatement
now = 0
statement = TlsStatement(Member(), lambda: now)
for now in range(3600):
    try:
        statement.look(('1', '2'))
    except KubeError:
        pass`;

interface Hour {
  readonly isPending?: boolean;
  readonly isApiAway?: boolean;
  readonly looks: number;
  readonly requests: number;
  readonly problem?: string;
}

const hours: readonly (readonly [what: string, hour: Hour])[] = [
  ['at rest it looks once in an hour', { looks: 1, requests: 1 }],
  [
    'while the server does not serve the mounted pair it looks once a minute, and says so once',
    { isPending: true, looks: 60, requests: 2, problem: 'the server does not serve its certificate' },
  ],
  ['while the API is away it tries once a minute', { isApiAway: true, looks: 60, requests: 60 }],
];
for (const [what, { isPending, isApiAway, looks, requests, problem }] of hours) {
  test(`the steward states the certificate: ${what}`, { skip: serverMissing }, async () => {
    // GIVEN a server that serves a pair, and the same pair mounted, or another
    const { sandbox, api, rest } = await stage();
    using _ = sandbox;
    sandbox.secret('tls', secretOf(newPair()));
    await gate(sandbox, 'start');
    const postgres = await RunningPostgres.start(sandbox, [...encryption(sandbox), 'log_connections=on']);
    sandbox.member(orders(), { postgresql: postgres.port, rest });
    if (isPending) sandbox.secret('tls', secretOf(newPair()));
    if (isApiAway) api.failWith = 503;
    const before = { requests: api.requests.length, looks: handshakes(postgres) };
    // WHEN
    const { status, output } = await sandbox.runAsync('python3', ['-B', '-c', hour]);
    // THEN
    assert.equal(status, 0, output);
    assert.equal(handshakes(postgres) - before.looks, looks);
    assert.equal(api.requests.length - before.requests, requests);
    assert.equal(stated(api).serial, isApiAway ? undefined : served(sandbox));
    assert.equal(stated(api).problem, problem);
  });
}

function handshakes(postgres: RunningPostgres): number {
  return postgres.log().match(/connection received: host=(127\.0\.0\.1|::1)/g)?.length ?? 0;
}

/** Settings of a server that serves what the start gate has put into service. */
function encryption(sandbox: Sandbox): readonly string[] {
  const folder = sandbox.path('run/tls');
  return ['ssl=on', `ssl_cert_file=${folder}/tls.crt`, `ssl_key_file=${folder}/tls.key`];
}
