import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import type { DatabaseServiceStatus } from '../../constructs/api/status.ts';
import { issueServer, newAuthority, type Pair } from '../../controller/certificates/issue.ts';
import { databaseServices, pods, secrets } from '../../controller/database/kinds.ts';
import { systemClock, type KubeObject } from '../../controller/kube/index.ts';
import { newNamespace, sharedPodCluster, withoutPods } from '../cluster/index.ts';
import { eventually, RunningPlumbline } from '../controller/running-plumbline.ts';
import { psql, secretOf } from './login.ts';
import { NodeDatabase } from './node-database.ts';
import { servedSerials, Session } from './tls-client.ts';

const skip = withoutPods();

const day = 86_400_000;
/** A renewed certificate is served by every member after this time at most: the kubelet looks at a mounted Secret once in one to one and a half minutes. */
const servedWithinMs = 120_000;
const mounted = '/etc/plumbline-secrets/tls';

test(
  'a certificate that the controller makes is what clients verify, and is renewed without a restart',
  { skip },
  async (t) => {
    // GIVEN three members, whose certificate was made 61 days ago
    const cluster = await sharedPodCluster();
    const namespace = await newNamespace(cluster);
    await using database = await NodeDatabase.of(cluster, { namespace, replicas: 3 });
    const clock = { ...systemClock, now: () => Date.now() - 61 * day };
    await using before = await RunningPlumbline.start(cluster, { namespace, clock });
    await database.create();
    await isRunning(before, database);
    await before.stop();
    await database.allStream();
    const old = serialIn(await secretNamed(database, 'orders-tls'));
    const { password = '' } = await secretOf(database, 'credentials');
    const connect = (host: string, tls: string) =>
      psql(
        database,
        { host, user: 'app', password, database: `dbname=app ${tls}` },
        'select ssl from pg_stat_ssl where pid = pg_backend_pid()',
      );
    const verifies = `sslmode=verify-full sslrootcert=${mounted}/ca.crt`;
    const members = database.members.map((member) => `${member}.orders-members.${namespace}.svc`);

    await t.test('the password works over TLS under each name, for a client that trusts ca.crt alone', async () => {
      for (const host of ['orders', `orders.${namespace}.svc`, 'orders-ro', ...members]) {
        // The steward makes the role once the primary runs, and it has to reach the replicas.
        await eventually(`${host} lets the owner in`, async () => {
          const { code, stdout, stderr } = await connect(host, verifies);
          assert.ok(code === 0 || /password authentication failed/.test(stderr), stderr);
          return stdout === 't\n' || undefined;
        });
      }
    });

    await t.test('without encryption nobody gets in, and replicas stream with it', async () => {
      const { code, stderr } = await connect('orders', 'sslmode=disable');
      assert.notEqual(code, 0);
      assert.match(stderr, /no encryption/);
      const leader = (await database.leader()) ?? '';
      const streams = 'select ssl, count(*) from pg_stat_replication join pg_stat_ssl using (pid) group by ssl';
      assert.equal(await database.sql(leader, streams), 't|2');
    });

    await t.test('no key can be read by others', async () => {
      for (const member of database.members) {
        const read = (container: string, ...files: readonly string[]) =>
          database.run(member, ['stat', '-Lc', '%a', ...files], { container });
        assert.equal(await read('postgres', `${mounted}/tls.key`, '/run/plumbline/tls/tls.key'), '440\n600\n');
        assert.equal(await read('steward', `${mounted}/tls.key`), '440\n');
      }
    });

    await t.test('the renewed one is served by every member; pods stay, and so does a session', async () => {
      assert.deepEqual(await servedSerials(database), [old, old, old]);
      const uids = await uidsOf(database);
      const authority = (await secretNamed(database, 'orders-tls'))['ca.crt'];
      await using session = new Session(database, `host=orders user=app dbname=app ${verifies}`, password);
      const backend = await session.ask('select pg_backend_pid()');

      // WHEN the controller comes back, today
      await using now = await RunningPlumbline.start(cluster, { namespace });
      const renewed = await eventually('the certificate is renewed', async () => {
        const serial = serialIn(await secretNamed(database, 'orders-tls'));
        return serial === old ? undefined : serial;
      });
      const renewedAt = Date.now();

      // THEN
      await serves(database, renewed);
      t.diagnostic(
        `three members serve the renewed certificate after ${Math.round((Date.now() - renewedAt) / 1000)} s`,
      );
      assert.deepEqual(await uidsOf(database), uids);
      assert.equal(await session.ask('select pg_backend_pid()'), backend);
      assert.equal((await secretNamed(database, 'orders-tls'))['ca.crt'], authority, 'what clients trust stays');
      const { code, stderr } = await connect('orders', verifies);
      assert.equal(code, 0, stderr);
      const { validTo } = new X509Certificate((await secretNamed(database, 'orders-tls'))['tls.crt'] ?? '');
      const end = new Date(validTo).toISOString().replace('.000Z', 'Z');
      await saysOfTls(now, database, /^True CertificateServed: .* first to end does so at /, end);

      // AND it is at rest
      await now.settled(2_000);
    });

    await t.test('a Secret that is deleted is made anew, and that is served as well', async () => {
      const lost = serialIn(await secretNamed(database, 'orders-tls'));
      await using _ = await RunningPlumbline.start(cluster, { namespace });
      await database.kube.delete(secrets, { namespace, name: 'orders-tls' });
      const made = await eventually('there is another', async () => {
        const serial = await secretNamed(database, 'orders-tls').then(serialIn, () => lost);
        return serial === lost ? undefined : serial;
      });
      await refresh(database);
      await serves(database, made);
    });
  },
);

test('a renewed certificate that nobody serves (CrunchyData/postgres-operator#2353)', { skip }, async (t) => {
  // GIVEN a database whose certificate is somebody else's to make, and is not there yet
  const cluster = await sharedPodCluster();
  const namespace = await newNamespace(cluster);
  const spec = { tls: { mode: 'Existing', secretName: 't' } };
  await using database = await NodeDatabase.of(cluster, { namespace, replicas: 2, spec });
  await using running = await RunningPlumbline.start(cluster, { namespace, lookAgainMs: 1_000 });
  const authority = await newAuthority('team', namespace, Date.now());
  const issue = (now = Date.now()) => issueServer(authority, 'orders', ['orders'], now);
  await database.create();
  const first = await issue();

  await t.test('a Secret that is not there is named, with its keys', async () => {
    await eventually('it is said', async () => {
      const stalled = conditionOf(await statusOf(running, database), 'Stalled');
      return /SecretNotFound: Secret t .*tls\.crt and tls\.key/.test(stalled) || undefined;
    });
    // WHEN it is made, without the ca.crt that no server needs
    await database.kube.create(secretWith(namespace, first), { type: secrets, fieldManager: 'cert-manager' });
    await refresh(database);
    await isRunning(running, database);
    assert.deepEqual(await servedSerials(database), [serialOf(first), serialOf(first)]);
    await saysOfTls(running, database, /^True CertificateServed: .*Secret t/);
  });

  const { password = '' } = await secretOf(database, 'credentials');
  const uids = await uidsOf(database);
  await using session = new Session(database, 'host=orders user=app dbname=app sslmode=require', password);
  const backend = await session.ask('select pg_backend_pid()');
  const second = await issue();

  await t.test('a new pair is served by every member', async () => {
    await replace(database, second);
    const replacedAt = Date.now();
    await serves(database, serialOf(second));
    t.diagnostic(`two members serve the new pair after ${Math.round((Date.now() - replacedAt) / 1000)} s`);
  });

  await t.test('a key that does not match leaves the old pair in service, and is said', async () => {
    await replace(database, { ...(await issue()), key: first.key });
    await refresh(database);
    await saysOfTls(running, database, /^False CertificateUnusable: Secret t, .* does not match /);
    assert.deepEqual(await servedSerials(database), [serialOf(second), serialOf(second)]);
    assert.equal(
      conditionOf(await statusOf(running, database), 'Ready').split(' ')[0],
      'True',
      'it serves all the same',
    );
  });

  await t.test('one that soon ends is told by what is served', async () => {
    const late = await issue(Date.now() - 88 * day);
    await replace(database, late);
    await refresh(database);
    await serves(database, serialOf(late));
    await saysOfTls(running, database, /^False CertificateExpiring: /);
  });

  await t.test('the next good one is served, and no pod or session has seen any of it', async () => {
    const good = await issue();
    await replace(database, good);
    await refresh(database);
    await serves(database, serialOf(good));
    await saysOfTls(running, database, /^True CertificateServed: /);
    assert.deepEqual(await uidsOf(database), uids);
    assert.equal(await session.ask('select pg_backend_pid()'), backend);
  });

  await t.test('no key was said anywhere', async () => {
    const key = first.key.split('\n')[1] ?? '';
    assert.ok(key.length > 20);
    for (const member of database.members) {
      for (const container of ['postgres', 'steward']) {
        const log = await cluster.kubectlRun(['-n', namespace, 'logs', member, '-c', container]);
        assert.ok(!log.stdout.includes(key));
      }
    }
    assert.ok(!running.logLines.join('').includes(key));
    assert.ok(!JSON.stringify(await running.database(namespace, 'orders')).includes(key));
  });
});

test('TLS is turned on and off while the database has members of both kinds', { skip }, async (t) => {
  // GIVEN a database without TLS, whose members Kubernetes restarts one by one when their template changes
  const cluster = await sharedPodCluster();
  const namespace = await newNamespace(cluster);
  const spec = { tls: { mode: 'Off' }, upgrade: { rollout: 'StatefulSet' } };
  await using database = await NodeDatabase.of(cluster, { namespace, replicas: 2, spec });
  await using running = await RunningPlumbline.start(cluster, { namespace });
  await database.create();
  await isRunning(running, database);
  await saysOfTls(running, database, /^False TlsOff: /);
  const { password = '' } = await secretOf(database, 'credentials');
  const isLetIn = async (sslmode: string) => {
    const login = { host: 'orders', user: 'app', password, database: `dbname=app sslmode=${sslmode}` };
    const { code, stderr } = await psql(database, login, 'select 1');
    return code === 0 ? 'yes' : stderr;
  };
  await eventually('plain text is let in', async () => (await isLetIn('disable')) === 'yes' || undefined);
  assert.match(await isLetIn('require'), /does not support SSL/);

  for (const { mode, lets, refuses, why, reason } of [
    {
      mode: 'Generated',
      lets: 'require',
      refuses: 'disable',
      why: /no encryption/,
      reason: /^True CertificateServed: /,
    },
    { mode: 'Off', lets: 'disable', refuses: 'require', why: /does not support SSL/, reason: /^False TlsOff: / },
  ]) {
    await t.test(`mode ${mode}`, async () => {
      // WHEN
      const before = await uidsOf(database);
      const patch = { kind: 'merge', body: { spec: { tls: { mode } } }, fieldManager: 'kubectl-edit' } as const;
      await database.kube.patch(databaseServices, { namespace, name: 'orders' }, patch);
      // THEN each member is made anew, and from then on all is as the spec says
      await eventually(
        'both members are new',
        async () => {
          const now = await uidsOf(database).catch(() => before);
          return now.every((uid) => !before.includes(uid)) || undefined;
        },
        180_000,
      );
      await database.allStream();
      // The Service finds the new primary a moment later.
      await eventually('who does as the mode says is let in', async () => (await isLetIn(lets)) === 'yes' || undefined);
      assert.match(await isLetIn(refuses), why);
      await saysOfTls(running, database, reason);
    });
  }
});

const serialOf = ({ certificate }: Pick<Pair, 'certificate'>): string => new X509Certificate(certificate).serialNumber;

function serialIn(values: Readonly<Record<string, string>>): string {
  return serialOf({ certificate: values['tls.crt'] ?? '' });
}

/** The values of a Secret, decoded. */
async function secretNamed({ kube, namespace }: NodeDatabase, name: string): Promise<Readonly<Record<string, string>>> {
  const { data } = await kube.get(secrets, { namespace, name });
  const entries = Object.entries((data ?? {}) as Record<string, string>);
  return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
}

function secretWith(namespace: string, { certificate, key }: Pick<Pair, 'certificate' | 'key'>): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 't', namespace },
    type: 'kubernetes.io/tls',
    data: { 'tls.crt': base64(certificate), 'tls.key': base64(key) },
  };
}

async function replace({ kube, namespace }: NodeDatabase, pair: Pick<Pair, 'certificate' | 'key'>): Promise<void> {
  const { data } = secretWith(namespace, pair);
  const patch = { kind: 'merge', body: { data }, fieldManager: 'cert-manager' } as const;
  await kube.patch(secrets, { namespace, name: 't' }, patch);
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** Has the kubelet look at what the members mount, which it does by itself once in a minute or so. */
async function refresh({ kube, namespace, members }: NodeDatabase): Promise<void> {
  const touch = { metadata: { annotations: { 'example.com/touched': String(Date.now()) } } };
  const patch = { kind: 'merge', body: touch, fieldManager: 'test' } as const;
  for (const name of members) await kube.patch(pods, { namespace, name }, patch);
}

async function serves(database: NodeDatabase, serial: string): Promise<void> {
  await eventually(
    `every member serves ${serial}`,
    async () => (await servedSerials(database)).every((one) => one === serial) || undefined,
    servedWithinMs,
  );
}

async function uidsOf(database: NodeDatabase): Promise<readonly (string | undefined)[]> {
  const found = await Promise.all(database.members.map((member) => database.pod(member)));
  return found.map(({ metadata }) => metadata.uid);
}

async function statusOf(running: RunningPlumbline, { namespace, name }: NodeDatabase) {
  return (await running.database(namespace, name))['status'] as DatabaseServiceStatus | undefined;
}

/** Such as `True Ready: …`; empty where it is not there. */
function conditionOf(status: DatabaseServiceStatus | undefined, type: string): string {
  const found = status?.conditions?.find((condition) => condition.type === type);
  return found === undefined ? '' : `${found.status} ${found.reason}: ${found.message}`;
}

async function isRunning(running: RunningPlumbline, database: NodeDatabase): Promise<void> {
  await eventually(
    'it is running',
    async () => (await statusOf(running, database))?.phase === 'Running' || undefined,
    180_000,
  );
}

async function saysOfTls(running: RunningPlumbline, database: NodeDatabase, says: RegExp, text = ''): Promise<void> {
  let last = '';
  await eventually(
    `TlsReady says ${says}`,
    async () => {
      last = conditionOf(await statusOf(running, database), 'TlsReady');
      return (says.test(last) && last.includes(text)) || undefined;
    },
    180_000,
  ).catch((cause: unknown) => {
    throw new Error(`TlsReady says: ${last}`, { cause });
  });
}
