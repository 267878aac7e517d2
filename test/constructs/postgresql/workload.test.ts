import type { V1StatefulSet } from '@kubernetes/client-node';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DatabaseServiceSpec } from '../../../constructs/api/spec.ts';
import { everything, orders, podTemplates, rendered } from './orders.ts';

function statefulSet(spec: Partial<DatabaseServiceSpec> = {}, name = 'orders') {
  const { spec: found } = rendered<V1StatefulSet>(orders(spec, name), 'StatefulSet', name);
  assert.ok(found);
  return found;
}

test('members start in parallel, are replaced by Plumbline alone, and neither deletion nor scaling takes a volume', () => {
  // WHEN
  const { volumeClaimTemplates: _, template: __, ...rest } = statefulSet({ replicas: 3 });
  // THEN
  assert.deepEqual(rest, {
    minReadySeconds: 0,
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    podManagementPolicy: 'Parallel',
    replicas: 3,
    revisionHistoryLimit: 10,
    selector: { matchLabels: { 'plumbline.dev/database': 'orders' } },
    serviceName: 'orders-members',
    updateStrategy: { type: 'OnDelete' },
  });
});

test('rollout StatefulSet leaves the roll to Kubernetes', () => {
  assert.deepEqual(statefulSet({ upgrade: { rollout: 'StatefulSet' } }).updateStrategy, {
    type: 'RollingUpdate',
    rollingUpdate: { partition: 0 },
  });
});

test('volumes are retained also where the spec says Delete: it is the controller that deletes', () => {
  const { persistentVolumeClaimRetentionPolicy } = statefulSet({ storage: { size: '1Gi', onDelete: 'Delete' } });
  assert.deepEqual(persistentVolumeClaimRetentionPolicy, { whenDeleted: 'Retain', whenScaled: 'Retain' });
});

test('the claim template holds nothing that could change', () => {
  assert.deepEqual(statefulSet({ storage: { size: '10Gi', storageClass: 'fast' } }).volumeClaimTemplates, [
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data', labels: { 'plumbline.dev/database': 'orders' } },
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '10Gi' } },
        storageClassName: 'fast',
        volumeMode: 'Filesystem',
      },
    },
  ]);
});

test('without a class the claim names none: the default of the cluster', () => {
  assert.equal(statefulSet().volumeClaimTemplates?.[0]?.spec?.storageClassName, undefined);
});

test('members are spread, but one node is enough', () => {
  const spread = (spec: Partial<DatabaseServiceSpec>) =>
    (statefulSet(spec).template.spec?.topologySpreadConstraints ?? []).map((rule) => [
      rule.topologyKey,
      rule.whenUnsatisfiable,
      rule.maxSkew,
    ]);
  assert.deepEqual(spread({}), [['kubernetes.io/hostname', 'ScheduleAnyway', 1]]);
  assert.deepEqual(spread({ scheduling: { spreadBy: 'kubernetes.io/hostname' } }), [
    ['kubernetes.io/hostname', 'ScheduleAnyway', 1],
  ]);
  assert.deepEqual(spread({ scheduling: { spreadBy: 'topology.kubernetes.io/zone' } }), [
    ['topology.kubernetes.io/zone', 'ScheduleAnyway', 1],
    ['kubernetes.io/hostname', 'ScheduleAnyway', 1],
  ]);
});

test('backups go where members go: node selector and tolerations are the same (zalando/postgres-operator#1288)', () => {
  for (const { owner, spec } of podTemplates(orders(everything))) {
    assert.deepEqual(spec.nodeSelector, { pool: 'db' }, owner);
    assert.deepEqual(spec.tolerations, [{ key: 'pool', operator: 'Equal', value: 'db', effect: 'NoSchedule' }], owner);
    assert.equal(spec.priorityClassName, owner === 'StatefulSet/orders' ? 'databases' : undefined);
  }
});

test('a member gets minutes to stop, and is ended when it stands still for about ttl', () => {
  const { spec } = statefulSet().template;
  const probes = spec?.containers[0];
  assert.ok((spec?.terminationGracePeriodSeconds ?? 0) >= 120);
  assert.equal(probes?.livenessProbe?.httpGet?.path, '/liveness');
  assert.equal((probes.livenessProbe.periodSeconds ?? 0) * (probes.livenessProbe.failureThreshold ?? 0), 20);
  assert.equal(probes.readinessProbe?.httpGet?.path, '/readiness');
  assert.equal(probes.startupProbe?.httpGet?.path, '/liveness');
});

test('the image is that of the spec for members and backups alike', () => {
  for (const { spec } of podTemplates(orders({ ...everything, image: 'registry.example/pg:17' }))) {
    for (const { image } of spec.containers) assert.equal(image, 'registry.example/pg:17');
  }
});

test('the password of the owner comes from the Secret that the spec names', () => {
  const secretOf = (spec: Partial<DatabaseServiceSpec>) =>
    statefulSet(spec).template.spec?.volumes?.find(({ name }) => name === 'credentials')?.secret;
  assert.equal(secretOf({})?.secretName, 'orders-credentials');
  const existing = secretOf({ credentials: { source: 'Existing', secretName: 'login' } });
  assert.equal(existing?.secretName, 'login');
  assert.deepEqual(existing?.items, [{ key: 'password', path: 'password' }]);
});

test('a change of the version alone, with an image of one’s own, leaves the pod template as it is', () => {
  const image = 'registry.example/pg:17';
  assert.deepEqual(statefulSet({ image, version: '17' }).template, statefulSet({ image, version: '17.9' }).template);
});

test('names, labels and selectors of a name at the limit fit', () => {
  // GIVEN the longest name
  const name = `${'a'.repeat(44)}b`;
  // THEN every label value and name is short enough, also that of `controller-revision-hash` and of a CronJob
  const found = statefulSet(everything, name);
  const values = [...Object.values(found.template.metadata?.labels ?? {}), `${name}-5d4f8b9c7d`];
  for (const value of values) assert.ok(value.length <= 63, value);
  assert.ok(`${name}-backup`.length <= 52);
  assert.ok(`${name}-patroni-failover`.length <= 253);
});

test('a request to make the members again is on the template, and no part of what tells templates apart', () => {
  const annotationsOf = (annotations: Readonly<Record<string, string>> = {}) => {
    const { metadata, ...rest } = orders();
    const resource = { ...rest, metadata: { ...metadata, annotations } };
    return rendered<V1StatefulSet>(resource, 'StatefulSet', 'orders').spec?.template.metadata?.annotations ?? {};
  };
  const before = annotationsOf();
  assert.deepEqual(Object.keys(before), ['plumbline.dev/template']);
  const asked = { 'plumbline.dev/restarted-at': 'noon' };
  assert.deepEqual(annotationsOf({ ...asked, team: 'shop' }), { ...asked, ...before });
});
