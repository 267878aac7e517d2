import type { V1ConfigMap, V1Container } from '@kubernetes/client-node';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DatabaseServiceSpec } from '../../../constructs/api/spec.ts';
import type { Json } from '../../../constructs/emit.ts';
import { templateDigest } from '../../../constructs/postgresql/workload.ts';
import { settle } from '../../../constructs/postgresql/defaults.ts';
import { render } from '../../../constructs/render.ts';
import { controllerOnly } from '../../../constructs/standalone.ts';
import { everything, orders, podTemplates, rendered } from './orders.ts';

type Spec = Partial<DatabaseServiceSpec>;

const on: Spec = { monitoring: { enabled: true } };
const prometheus = { namespaceSelector: { matchLabels: { team: 'monitoring' } } };

function containersOf(spec: Spec): readonly Json<V1Container>[] {
  return podTemplates(orders(spec))[0]?.spec.containers ?? [];
}

function exporterOf(spec: Spec): Json<V1Container> {
  const found = containersOf(spec).find(({ name }) => name === 'exporter');
  assert.ok(found);
  return found;
}

function environmentOf({ env = [] }: Json<V1Container>): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(env.map(({ name, value }) => [name, value]));
}

test('a database that is not monitored is rendered as if there was no monitoring, also where it is said to be off', () => {
  for (const spec of [{}, everything]) {
    const monitoring = { enabled: false, from: [prometheus], image: 'registry.example/exporter:1' };
    assert.deepEqual(render(orders({ ...spec, monitoring })), render(orders(spec)));
  }
  const text = JSON.stringify(render(orders(everything)));
  for (const word of ['exporter', 'monitor', '9187']) assert.ok(!text.includes(word), word);
});

test('an exporter runs in each member, of the image that is named or else of one that is pinned', () => {
  assert.deepEqual(
    containersOf(on).map(({ name }) => name),
    ['postgres', 'steward', 'exporter'],
  );
  assert.match(exporterOf(on).image ?? '', /^quay\.io\/prometheuscommunity\/postgres-exporter:v\d+\.\d+\.\d+$/);
  const image = 'registry.example/exporter:1';
  assert.equal(exporterOf({ monitoring: { enabled: true, image } }).image, image);
});

test('the exporter has no password, no token of the API, no way to the socket and to the data, and nothing of a Secret', () => {
  const { env = [], volumeMounts = [] } = exporterOf(on);
  const { volumes = [] } = podTemplates(orders(on))[0]?.spec ?? {};
  for (const { valueFrom } of env) assert.equal(valueFrom, undefined);
  const mounted = volumeMounts.map(({ name, mountPath }) => [name, mountPath]);
  assert.deepEqual(mounted, [
    ['scripts', '/etc/plumbline'],
    ['monitoring', '/run/plumbline-monitoring'],
    ['no-token', '/var/run/secrets/kubernetes.io/serviceaccount'],
  ]);
  for (const { name, readOnly } of volumeMounts) {
    assert.equal(readOnly, true);
    assert.equal(volumes.find((volume) => volume.name === name)?.secret, undefined);
  }
  const { DATA_SOURCE_NAME: source = '' } = environmentOf(exporterOf(on));
  const { username, password, hostname, port, pathname } = new URL(source);
  assert.deepEqual([username, password], ['plumbline_monitoring', '']);
  assert.deepEqual([hostname, port, pathname], ['localhost', '5432', '/postgres']);
});

test('the exporter logs in encrypted where PostgreSQL takes nothing else', () => {
  const mode = (spec: Spec) =>
    new URL(environmentOf(exporterOf(spec))['DATA_SOURCE_NAME'] ?? '').searchParams.get('sslmode');
  assert.equal(mode(on), 'require');
  assert.equal(mode({ ...on, tls: { mode: 'Existing', secretName: 'orders-certificate' } }), 'require');
  assert.equal(mode({ ...on, tls: { mode: 'Off' } }), 'disable');
});

test('the steward that knows the exporter’s role runs where there is an exporter, and its script is there', () => {
  const run = (spec: Spec) =>
    containersOf(spec)
      .find(({ name }) => name === 'steward')
      ?.command?.at(-1);
  assert.equal(run({}), '/etc/plumbline/steward.py');
  assert.equal(run(on), '/etc/plumbline/monitoring.py');
  const scripts = (spec: Spec) =>
    Object.keys(rendered<V1ConfigMap>(orders(spec), 'ConfigMap', 'orders-patroni').data ?? {});
  const more = scripts(on).filter((name) => !scripts({}).includes(name));
  assert.deepEqual(more, ['exporter.sh', 'monitoring.py']);
});

test('turning it on or off, and another image, reach the members as any other change of their pods; who may scrape does not', () => {
  const digest = (monitoring?: DatabaseServiceSpec['monitoring']) =>
    templateDigest(settle(orders(monitoring ? { monitoring } : {})));
  const [off, enabled] = [digest(), digest({ enabled: true })];
  assert.notEqual(enabled, off);
  assert.notEqual(digest({ enabled: true, image: 'registry.example/exporter:1' }), enabled);
  assert.equal(digest({ enabled: true, from: [prometheus] }), enabled);
  assert.equal(digest({ enabled: false }), off);
});

test('nothing of it needs the controller', () => {
  assert.deepEqual(controllerOnly(orders(on)), controllerOnly(orders()));
});
