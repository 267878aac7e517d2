import type { V1ConfigMap, V1StatefulSet } from '@kubernetes/client-node';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DatabaseServiceDocument } from '../../../constructs/api/resource.ts';
import type { DatabaseServiceSpec } from '../../../constructs/api/spec.ts';
import { authoritySecret, certificateSecret, serverNames } from '../../../constructs/postgresql/certificate.ts';
import { credentialsSecret } from '../../../constructs/postgresql/credentials.ts';
import { controllerOnly } from '../../../constructs/standalone.ts';
import { everything, orders, podTemplates, rendered } from './orders.ts';

type Tls = NonNullable<DatabaseServiceSpec['tls']>;

const off: Tls = { mode: 'Off' };
const existing: Tls = { mode: 'Existing', secretName: 'orders-certificate' };

/** Where nothing is given, the spec says nothing of TLS. */
function ordersWith(tls: Tls | undefined): DatabaseServiceDocument {
  return orders(tls === undefined ? {} : { tls });
}

function podSpec(tls?: Tls) {
  const { spec } = rendered<V1StatefulSet>(ordersWith(tls), 'StatefulSet', 'orders');
  const found = spec?.template?.spec;
  assert.ok(found);
  return found;
}

/** Volumes that hold the certificate, and the containers that have them. */
function mounts(tls?: Tls) {
  const { volumes = [], containers } = podSpec(tls);
  return {
    volumes: volumes.filter(({ name }) => name === 'tls'),
    containers: containers
      .filter(({ volumeMounts = [] }) => volumeMounts.some(({ name }) => name === 'tls'))
      .map(({ name }) => name),
  };
}

interface Member {
  readonly tls: { readonly secret: string; readonly pg_hba: readonly string[]; readonly parameters: object } | null;
  readonly patroni: { readonly postgresql: { readonly pg_hba: readonly string[]; readonly parameters: object } };
}

function member(tls?: Tls): Member {
  const { data } = rendered<V1ConfigMap>(ordersWith(tls), 'ConfigMap', 'orders-patroni');
  return JSON.parse(data?.['member.json'] ?? '') as Member;
}

test('a spec that says nothing of TLS has a certificate of its own', () => {
  assert.deepEqual(mounts(), mounts({ mode: 'Generated' }));
  assert.deepEqual(member(), member({ mode: 'Generated' }));
});

for (const [tls, secretName] of [
  [{ mode: 'Generated' }, 'orders-tls'],
  [existing, 'orders-certificate'],
] as const) {
  test(`mode ${tls.mode} mounts Secret ${secretName}, which its group may read and nobody else`, () => {
    assert.deepEqual(mounts(tls), {
      volumes: [{ name: 'tls', secret: { secretName, defaultMode: 0o440, optional: true } }],
      containers: ['postgres', 'steward'],
    });
    assert.equal(member(tls).tls?.secret, secretName);
  });
}

test('with TLS every connection by the network is encrypted, also those of replicas', () => {
  // WHEN
  const { pg_hba: lines = [], parameters } = member().tls ?? {};
  // THEN nothing but a refusal speaks of connections without
  const plain = lines.filter((line) => line.startsWith('host ') && !line.endsWith(' reject'));
  assert.deepEqual(plain, []);
  assert.deepEqual(
    lines.filter((line) => line.startsWith('hostssl ')),
    ['hostssl replication plumbline_replication all scram-sha-256', 'hostssl all all all scram-sha-256'],
  );
  assert.deepEqual(parameters, {
    ssl: 'on',
    ssl_cert_file: '/run/plumbline/tls/tls.crt',
    ssl_key_file: '/run/plumbline/tls/tls.key',
  });
});

test('a member that runs before its pod has the volume goes on as it is', () => {
  const { postgresql } = member().patroni;
  assert.deepEqual(postgresql, member(off).patroni.postgresql);
  assert.ok(!('ssl' in postgresql.parameters));
});

test('mode Off mounts nothing and takes connections without encryption', () => {
  assert.deepEqual(mounts(off), { volumes: [], containers: [] });
  assert.equal(member(off).tls, null);
  assert.ok(member(off).patroni.postgresql.pg_hba.includes('host all all all scram-sha-256'));
});

test('another Secret makes another pod template, so the members are restarted for it', () => {
  assert.notDeepEqual(podSpec(existing), podSpec({ mode: 'Existing', secretName: 'another' }));
});

test('backups take what the members offer, and hold no certificate', () => {
  const backup = podTemplates(orders(everything)).find(({ owner }) => owner.startsWith('CronJob/'));
  assert.ok(backup);
  assert.doesNotMatch(JSON.stringify(backup.spec), /PGSSLMODE|orders-tls/);
});

test('applications are told to encrypt where the members ask for it', () => {
  const uri = (tls?: Tls) => {
    const data = credentialsSecret(ordersWith(tls), 'secret')['data'] as Readonly<Record<string, string>>;
    return new URL(Buffer.from(data['uri'] ?? '', 'base64').toString());
  };
  assert.equal(uri().searchParams.get('sslmode'), 'require');
  assert.equal(uri(existing).searchParams.get('sslmode'), 'require');
  assert.equal(uri(off).search, '');
});

test('the certificate names every Service in each spelling, and each member', () => {
  assert.deepEqual(serverNames(orders()), [
    'orders',
    'orders.shop',
    'orders.shop.svc',
    'orders.shop.svc.cluster.local',
    'orders-ro',
    'orders-ro.shop',
    'orders-ro.shop.svc',
    'orders-ro.shop.svc.cluster.local',
    '*.orders-members.shop',
    '*.orders-members.shop.svc',
    '*.orders-members.shop.svc.cluster.local',
  ]);
});

test('the key that signs lies in no Secret that a pod mounts', () => {
  // GIVEN
  const { metadata } = authoritySecret(orders(), { certificate: 'c', key: 'k' });
  // THEN
  assert.equal(metadata.name, 'orders-tls-ca');
  for (const { spec } of podTemplates(orders(everything))) {
    assert.ok(!JSON.stringify(spec).includes(metadata.name));
  }
});

test('when the certificate ends can be told without reading its Secret', () => {
  const secret = certificateSecret(orders(), {
    certificate: 'c',
    key: 'k',
    authority: 'a',
    notBefore: '2026-01-01T00:00:00Z',
    notAfter: '2026-04-01T00:00:00Z',
  });
  assert.equal(secret['type'], 'kubernetes.io/tls');
  assert.deepEqual(Object.keys(secret['data'] as object), ['tls.crt', 'tls.key', 'ca.crt']);
  assert.deepEqual(secret.metadata.annotations, {
    'plumbline.dev/not-before': '2026-01-01T00:00:00Z',
    'plumbline.dev/not-after': '2026-04-01T00:00:00Z',
  });
});

test('only the controller can make a certificate', () => {
  const isNoted = (tls?: Tls) => controllerOnly(ordersWith(tls)).some((note) => note.startsWith('tls.mode'));
  assert.deepEqual([undefined, { mode: 'Generated' } as const, existing, off].map(isNoted), [true, true, false, false]);
});
