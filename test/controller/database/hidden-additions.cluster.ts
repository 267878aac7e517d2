import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { events } from '../../../controller/database/kinds.ts';
import type { KubeObject } from '../../../controller/kube/index.ts';
import { eventually } from '../running-plumbline.ts';
import { Shop, wholeSpec } from './shop.ts';

let shop: Shop;
before(async () => {
  shop = await Shop.open();
});
after(async () => {
  await shop[Symbol.asyncDispose]();
});

const spy = { name: 'spy', image: 'spy:1' };
const sidecar = { spec: { template: { spec: { containers: [spy] } } } };
const field = 'spec.template.spec.containers[name=spy]';
const wipe = { metadata: { managedFields: [{}] } };

const isThere = async (name: string, sign = 'spy:1'): Promise<boolean> =>
  JSON.stringify(((await shop.get('StatefulSet', name)) as KubeObject)['spec']).includes(sign);
const untilGone = (name: string) => eventually('it is removed', async () => !(await isThere(name)) || undefined);
const toldOf = async (name: string, manager: string) =>
  (await shop.receipts(name)).filter((one) => one.field === field && one.manager === manager);

test('what was added stays told when managedFields are wiped, over a restart too, and goes when it is not wanted', async () => {
  await shop.create('wiped', wholeSpec);
  await shop.patch('StatefulSet', 'wiped', { kind: 'strategic', body: sidecar });
  await shop.untilCondition('wiped', 'Drifted', /^True AdditionReported: kubectl-edit added/);
  await shop.patch('StatefulSet', 'wiped', { body: wipe });
  await shop.untilCondition('wiped', 'Drifted', /^True AdditionReported: Somebody added .*\[name=spy\]/);
  assert.equal((await toldOf('wiped', 'unknown')).length, 1);
  await shop.restart();
  assert.match(await shop.condition('wiped', 'Drifted'), /^True AdditionReported: Somebody added/);
  assert.equal((await toldOf('wiped', 'unknown')).length, 1, 'once');
  await shop.edit('wiped', { drift: { additions: 'Remove' } });
  await untilGone('wiped');
  await shop.untilCondition('wiped', 'Drifted', /^False InTrue/);
});

test('an addition that wipes managedFields in the same write is removed, while the controller runs and while it does not', async () => {
  const body = [
    { op: 'add', path: '/spec/template/spec/containers/-', value: spy },
    { op: 'replace', path: '/metadata/managedFields', value: [{}] },
  ];
  const hide = () => shop.patch('StatefulSet', 'hidden', { kind: 'json', body });
  await shop.create('hidden', { ...wholeSpec, drift: { additions: 'Remove' } });
  await hide();
  await untilGone('hidden');
  await eventually('it is told', async () => (await toldOf('hidden', 'unknown')).length === 1 || undefined);
  await shop.restart(hide);
  await untilGone('hidden');
  await shop.untilCondition('hidden', 'Drifted', /^False InTrue/);
});

test('an addition under the name of a part of Kubernetes is removed as any other', async () => {
  await shop.create('spoof', { ...wholeSpec, drift: { additions: 'Remove' } });
  await shop.patch('StatefulSet', 'spoof', { kind: 'strategic', body: sidecar, fieldManager: 'kubelet' });
  await untilGone('spoof');
  await eventually('it is told', async () => (await toldOf('spoof', 'kubelet')).length === 1 || undefined);
});

test('a zero that means something is an addition', async () => {
  await shop.create('zero', wholeSpec);
  const securityContext = { runAsUser: 0, runAsGroup: 0 };
  const containers = [{ name: 'postgres', securityContext }];
  await shop.patch('StatefulSet', 'zero', {
    kind: 'strategic',
    body: { spec: { template: { spec: { containers } } } },
  });
  await shop.patch('CronJob', 'zero-backup', {
    body: { spec: { jobTemplate: { spec: { ttlSecondsAfterFinished: 0 } } } },
  });
  await eventually('all are told', async () => (await shop.receipts('zero')).length >= 3 || undefined);
  assert.deepEqual((await shop.receipts('zero')).map((one) => `${one.field} ${one.now}`).sort(), [
    'spec.jobTemplate.spec.ttlSecondsAfterFinished 0',
    'spec.template.spec.containers[name=postgres].securityContext.runAsGroup 0',
    'spec.template.spec.containers[name=postgres].securityContext.runAsUser 0',
  ]);
  await shop.edit('zero', { drift: { additions: 'Remove' } });
  await eventually('they are removed', async () => !(await isThere('zero', '"runAsUser":0')) || undefined);
  await shop.untilCondition('zero', 'Drifted', /^False InTrue/);
});

test('finalizers, owners and what a ServiceAccount is given are told, and removed when they are not wanted', async () => {
  await shop.create('outside', wholeSpec);
  const other = await shop.kube.create(
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'other', namespace: shop.namespace } },
    { type: shop.typeOf('ConfigMap'), fieldManager: 'kubectl-create' },
  );
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid: other.metadata.uid };
  await shop.patch('StatefulSet', 'outside', { body: { metadata: { finalizers: ['example.com/kept'] } } });
  await shop.patch('StatefulSet', 'outside', {
    kind: 'json',
    body: [{ op: 'add', path: '/metadata/ownerReferences/-', value: owner }],
  });
  await shop.patch('ServiceAccount', 'outside-members', {
    body: {
      imagePullSecrets: [{ name: 'x' }],
      metadata: { annotations: { 'eks.amazonaws.com/role-arn': 'arn:hunter2' } },
    },
  });
  const fields = [
    'StatefulSet metadata.finalizers["example.com/kept"]',
    `StatefulSet metadata.ownerReferences[uid=${other.metadata.uid}]`,
    'ServiceAccount imagePullSecrets',
    'ServiceAccount metadata.annotations[eks.amazonaws.com/role-arn]',
  ].sort();
  const told = async () =>
    (await shop.receipts('outside')).map(({ object, field: one }) => `${object.split('/')[0]} ${one}`).sort();
  await eventually('all are told', async () => (await told()).length >= 4 || undefined);
  assert.deepEqual(await told(), fields);
  assert.match(await shop.condition('outside', 'Drifted'), /^True AdditionReported/);
  await shop.edit('outside', { drift: { additions: 'Remove' } });
  await shop.untilCondition('outside', 'Drifted', /^False InTrue/);
  await eventually('they are removed', async () => {
    const [set, account] = [
      await shop.get('StatefulSet', 'outside'),
      await shop.get('ServiceAccount', 'outside-members'),
    ];
    const { finalizers = [], ownerReferences = [] } = set?.metadata ?? {};
    const rest = [account?.['imagePullSecrets'] ?? [], account?.metadata.annotations ?? {}].map((one) =>
      Object.keys(one),
    );
    return (finalizers.length === 0 && ownerReferences.length === 1 && rest.flat().length === 0) || undefined;
  });
});

test('what comes with a status, an owner of the backups and rights by a name of Kubernetes are told, and removed when they are not wanted', async () => {
  await shop.create('aside', wholeSpec);
  const other = await shop.kube.create(
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'aside-other', namespace: shop.namespace } },
    { type: shop.typeOf('ConfigMap'), fieldManager: 'kubectl-create' },
  );
  const { uid } = other.metadata;
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'aside-other', uid }];
  const kept = { body: { metadata: { finalizers: ['example.com/kept'] } }, subresource: 'status' };
  assert.deepEqual((await shop.patch('StatefulSet', 'aside', kept)).metadata.finalizers, ['example.com/kept']);
  await shop.patch('CronJob', 'aside-backup', kept);
  await shop.patch('PersistentVolumeClaim', 'aside-backup', { body: { metadata: { ownerReferences } } });
  await shop.patch('ServiceAccount', 'aside-members', {
    body: { metadata: { annotations: { 'eks.amazonaws.com/role-arn': 'arn:hunter2' } } },
    fieldManager: 'kube-controller-manager',
  });
  const fields = [
    'CronJob metadata.finalizers["example.com/kept"] kubectl-edit Update of status',
    `PersistentVolumeClaim metadata.ownerReferences[uid=${uid}] kubectl-edit Update`,
    'ServiceAccount metadata.annotations[eks.amazonaws.com/role-arn] kube-controller-manager Update',
    'StatefulSet metadata.finalizers["example.com/kept"] kubectl-edit Update of status',
  ];
  const told = async () =>
    (await shop.receipts('aside'))
      .map((one) => `${one.object.split('/')[0]} ${one.field} ${one.manager} ${one.operation}`)
      .sort();
  await eventually('all are told', async () => (await told()).length >= fields.length || undefined);
  assert.deepEqual(await told(), fields);
  await shop.edit('aside', { drift: { additions: 'Remove' } });
  await shop.untilCondition('aside', 'Drifted', /^False InTrue/);
  const objects = [
    ['StatefulSet', 'aside'],
    ['CronJob', 'aside-backup'],
    ['PersistentVolumeClaim', 'aside-backup'],
    ['ServiceAccount', 'aside-members'],
  ] as const;
  const left = await Promise.all(objects.map(async ([kind, name]) => (await shop.get(kind, name))?.metadata));
  assert.deepEqual(
    left.map((metadata) => [metadata?.finalizers ?? [], metadata?.ownerReferences?.length ?? 0]),
    [
      [[], 1],
      [[], 1],
      [['kubernetes.io/pvc-protection'], 0],
      [[], 1],
    ],
  );
  assert.deepEqual(left[3]?.annotations ?? {}, {});
});

test('the free texts of probes and hooks are shown nowhere', async () => {
  await shop.create('probes', wholeSpec);
  const lifecycle = { postStart: { httpGet: { port: 1, path: '/?password=hunter2' } } };
  const containers = [{ name: 'postgres', lifecycle, livenessProbe: { httpGet: { path: '/?token=hunter2' } } }];
  await shop.patch('StatefulSet', 'probes', {
    kind: 'strategic',
    body: { spec: { template: { spec: { containers } } } },
  });
  await eventually('it is told', async () => (await shop.receipts('probes')).length >= 2 || undefined);
  const told = [
    JSON.stringify(await shop.status('probes')),
    ...shop.running.logLines,
    ...(await shop.list(events)).map((event) => JSON.stringify(event)),
  ];
  assert.deepEqual(
    told.filter((text) => text.includes('hunter2')),
    [],
  );
});
