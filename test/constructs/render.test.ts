import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import type { DatabaseServiceDocument } from '../../constructs/api/resource.ts';
import { applyOrder, fileName, render } from '../../constructs/render.ts';
import { serialize } from '../../constructs/serialize.ts';
import { everything, orders } from './postgresql/orders.ts';

const bytes = (resource: DatabaseServiceDocument): string => render(resource).map(serialize).join('---\n');

test('the same resource gives the same bytes', () => {
  assert.equal(bytes(orders(everything)), bytes(orders(everything)));
});

test('the order of keys in the resource changes nothing', () => {
  assert.equal(bytes(reversed(orders(everything))), bytes(orders(everything)));
});

function reversed<T>(value: T): T {
  if (Array.isArray(value)) return value.map(reversed) as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, member]) => [key, reversed(member)] as const);
  return Object.fromEntries(entries.toReversed()) as T;
}

test('an absent renderer is the first', () => {
  assert.equal(bytes(orders({ renderer: 1 })), bytes(orders()));
});

test('a renderer that this release does not know is refused, naming those that it knows', () => {
  assert.throws(() => render(orders({ renderer: 7 })), /spec\.renderer: 7 is not known to this release; known: 1/);
});

test('what a call returns is nobody else’s', () => {
  const resource = orders(everything);
  const [first, second] = [render(resource), render(resource)];
  const shared = new Set(first.flatMap(objects));
  assert.ok(second.flatMap(objects).every((object) => !shared.has(object)));
});

function objects(value: unknown): readonly object[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value, ...Object.values(value).flatMap(objects)];
}

test('the resource is left as it is', () => {
  const resource = orders(everything);
  const before = JSON.stringify(resource);
  render(resource);
  assert.equal(JSON.stringify(resource), before);
});

test('manifests are plain JSON without null', () => {
  for (const manifest of render(orders(everything))) {
    assert.deepEqual(JSON.parse(JSON.stringify(manifest)), manifest);
    assert.doesNotMatch(JSON.stringify(manifest), /:null/);
  }
});

test('manifests come in the order of apply: what others need is there before them', () => {
  const manifests = render(orders(everything));
  assert.deepEqual(
    manifests.map((manifest) => fileName(manifest)),
    [
      'serviceaccount.orders-members.yaml',
      'role.orders-members.yaml',
      'rolebinding.orders-members.yaml',
      'serviceaccount.orders-backup.yaml',
      'networkpolicy.orders.yaml',
      'configmap.orders-patroni.yaml',
      'configmap.orders-patroni-config.yaml',
      'service.orders.yaml',
      'service.orders-ro.yaml',
      'service.orders-members.yaml',
      'statefulset.orders.yaml',
      'poddisruptionbudget.orders.yaml',
      'persistentvolumeclaim.orders-backup.yaml',
      'cronjob.orders-backup.yaml',
    ],
  );
});

test('applyOrder puts manifests of any order right, Secrets before the workload and unknown kinds last', () => {
  const named = (kind: string) => ({ apiVersion: 'v1', kind, metadata: { name: 'a' } });
  const kinds = ['Widget', 'CronJob', 'StatefulSet', 'Secret', 'Service', 'ServiceAccount', 'ConfigMap'];
  assert.deepEqual(
    applyOrder(kinds.map(named)).map(({ kind }) => kind),
    ['ServiceAccount', 'ConfigMap', 'Secret', 'Service', 'StatefulSet', 'CronJob', 'Widget'],
  );
});

test('no two manifests share a file', () => {
  const files = render(orders(everything)).map(fileName);
  assert.equal(new Set(files).size, files.length);
});

test('every manifest names its namespace; without one it is default', () => {
  for (const { metadata } of render(orders(everything))) assert.equal(metadata.namespace, 'shop');
  const { metadata: _, ...rest } = orders(everything);
  for (const { metadata } of render({ ...rest, metadata: { name: 'orders' } }))
    assert.equal(metadata.namespace, 'default');
});

test('labels and annotations of the resource are not passed on (Altinity/clickhouse-operator#487)', () => {
  const resource = orders(everything);
  const marked = { ...resource, metadata: { ...resource.metadata, labels: { 'argocd.argoproj.io/instance': 'x' } } };
  assert.equal(bytes(marked), bytes(resource));
});

test('no carriage return is rendered', () => {
  assert.ok(!bytes(orders(everything)).includes('\r'));
});

test('settings of any text reach the configuration, and the YAML of it, unchanged', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (value) => {
      const config = render(orders({ parameters: { search_path: value } })).find(
        ({ metadata }) => metadata.name === 'orders-patroni-config',
      );
      const { postgresql } = JSON.parse(config?.metadata.annotations?.['config'] ?? '') as {
        postgresql: { parameters: Record<string, string> };
      };
      assert.equal(postgresql.parameters['search_path'], value);
    }),
    { numRuns: 100 },
  );
});

test('the rendering half has no clock, no randomness, no environment and no files', () => {
  const folder = new URL('../../constructs/', import.meta.url);
  const files = readdirSync(new URL('postgresql/', folder))
    .filter((name) => name.endsWith('.ts') && name !== 'scripts.ts')
    .map((name) => `postgresql/${name}`);
  for (const name of [
    ...files,
    ...['emit', 'engine', 'labels', 'names', 'render', 'serialize'].map((n) => `${n}.ts`),
  ]) {
    const source = readFileSync(new URL(name, folder), 'utf8');
    assert.doesNotMatch(source, /new Date|Date\.now|Math\.random|randomUUID|process\.|node:fs|performance/, name);
  }
});
