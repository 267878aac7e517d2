import assert from 'node:assert/strict';
import test from 'node:test';
import { factsOf } from '../../../controller/health/facts.ts';
import { isFull } from '../../../controller/health/usage.ts';
import type { KubeObject, ObjectMeta } from '../../../controller/kube/index.ts';

const object = (kind: string, fields: object, metadata: Partial<ObjectMeta> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'orders-0', ...metadata },
  ...fields,
});
const ready = { conditions: [{ type: 'Ready', status: 'True' }], phase: 'Running' };
const waiting = (reason: string, message?: string): object => ({ state: { waiting: { reason, message } } });

const pods: readonly (readonly [what: string, status: object, isReady: boolean, trouble: string | undefined])[] = [
  ['a pod that runs', ready, true, undefined],
  ['a new pod without status', {}, false, undefined],
  ['a pod that is not ready', { conditions: [{ type: 'Ready', status: 'False' }] }, false, undefined],
  [
    'a pod without a node to go to',
    { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes' }] },
    false,
    'Unschedulable: 0/3 nodes',
  ],
  ['a container that is being created', { containerStatuses: [waiting('ContainerCreating')] }, false, undefined],
  [
    'an image that cannot be pulled',
    { containerStatuses: [waiting('ImagePullBackOff', 'Back-off pulling image')] },
    false,
    'ImagePullBackOff: Back-off pulling image',
  ],
  [
    'the second container in trouble while the first waits its turn',
    { containerStatuses: [waiting('PodInitializing'), waiting('CrashLoopBackOff')] },
    false,
    'CrashLoopBackOff',
  ],
  [
    'an init container that crashes',
    {
      initContainerStatuses: [waiting('CrashLoopBackOff', 'back-off')],
      containerStatuses: [waiting('PodInitializing')],
    },
    false,
    'CrashLoopBackOff: back-off',
  ],
  [
    'a pod that a node shutdown ended, with its last condition still there',
    { ...ready, phase: 'Failed', reason: 'Terminated', message: 'Pod was terminated in response to node shutdown.' },
    false,
    'Terminated: Pod was terminated in response to node shutdown.',
  ],
  ['a pod that says it has completed', { ...ready, phase: 'Succeeded' }, false, 'Succeeded'],
  [
    'an evicted pod',
    { phase: 'Failed', reason: 'Evicted', message: 'low on ephemeral-storage' },
    false,
    'Evicted: low on ephemeral-storage',
  ],
  ['a pod on a lost node', { conditions: [], phase: 'Running', reason: 'NodeLost' }, false, 'NodeLost'],
];

for (const [what, status, isReady, trouble] of pods) {
  test(`${what}: ${isReady ? 'ready' : (trouble ?? 'not ready')}`, () => {
    const facts = factsOf(object('Pod', { status }));
    assert.deepEqual(facts.kind === 'Pod' && [facts.isPrimary, facts.isReady, facts.trouble], [
      false,
      isReady,
      trouble,
    ]);
  });
}

const gateSays = (reason: string): string => JSON.stringify({ reason, message: 'so it waits' });
const loops = (exitCode: number): object => ({
  name: 'postgres',
  state: { waiting: { reason: 'CrashLoopBackOff' } },
  lastState: { terminated: { reason: exitCode === 0 ? 'Completed' : 'Error', exitCode } },
});
const holds: readonly (readonly [what: string, gate: string | undefined, container: object, trouble: string])[] = [
  [
    'a gate that the kubelet has ended and will start again',
    gateSays('ForeignData'),
    loops(0),
    'ForeignData: so it waits',
  ],
  ['a container that its gate has let start, to clone', gateSays('WaitingForLeader'), loops(0), 'CrashLoopBackOff'],
  ['a container that fails though its gate holds', gateSays('ForeignData'), loops(1), 'CrashLoopBackOff'],
  ['a container that ends with 0 and has no gate', undefined, loops(0), 'CrashLoopBackOff'],
];

for (const [what, gate, container, trouble] of holds) {
  test(`${what}: ${trouble}`, () => {
    const annotations = gate === undefined ? {} : { 'plumbline.dev/start': gate };
    const facts = factsOf(object('Pod', { status: { containerStatuses: [container] } }, { annotations }));
    assert.equal(facts.kind === 'Pod' && facts.trouble, trouble);
  });
}

test('a pod that is being deleted is not ready any more', () => {
  const facts = factsOf(object('Pod', { status: ready }, { deletionTimestamp: '2026-01-01T00:00:00Z' }));
  assert.equal(facts.kind === 'Pod' && facts.isReady, false);
});

test('the role label marks the primary', () => {
  const facts = factsOf(object('Pod', { status: ready }, { labels: { 'plumbline.dev/role': 'primary' } }));
  assert.equal(facts.kind === 'Pod' && facts.isPrimary, true);
});

test('of a StatefulSet the numbers count, and whether its controller has seen the newest change', () => {
  const status = { observedGeneration: 1, replicas: 3, updateRevision: 'orders-6c8' };
  const template = {
    metadata: { annotations: { 'plumbline.dev/template': 'new', 'plumbline.dev/restarted-at': 'noon' } },
  };
  const facts = factsOf(object('StatefulSet', { spec: { replicas: 3, template }, status }, { generation: 2 }));
  const numbers = { isObserved: false, wanted: 3, replicas: 3, revision: 'orders-6c8' };
  assert.deepEqual(facts, { kind: 'StatefulSet', ...numbers, template: 'new', restartedAt: 'noon' });
});

test('a claim has data when a member has written its identity on it', () => {
  const annotations = { 'plumbline.dev/system-identifier': '7300000000000000001' };
  const of = (metadata: Partial<ObjectMeta>) => {
    const facts = factsOf(object('PersistentVolumeClaim', {}, metadata));
    return facts.kind === 'PersistentVolumeClaim' && facts.hasData;
  };
  assert.deepEqual([of({ annotations }), of({})], [true, false]);
});

test('a claim is pending until it has a volume, of the class that it names', () => {
  const of = (phase: string, spec: object) => factsOf(object('PersistentVolumeClaim', { spec, status: { phase } }));
  const claim = { kind: 'PersistentVolumeClaim', hasData: false };
  assert.deepEqual(of('Pending', { storageClassName: 'fast' }), { ...claim, isPending: true, storageClass: 'fast' });
  assert.deepEqual(of('Bound', {}), { ...claim, isPending: false, storageClass: undefined });
});

test('a volume is full when hardly any of it is left', () => {
  const of = (usedPercent: number) => {
    const annotations = { 'plumbline.dev/usage': JSON.stringify({ usedPercent }) };
    const facts = factsOf(object('Pod', {}, { annotations }));
    return facts.kind === 'Pod' && isFull(facts.usage);
  };
  assert.deepEqual([of(90), of(95), of(100)], [false, true, true]);
});

test('a pod has what its member says of TLS, once it has said something', () => {
  const annotations = { 'plumbline.dev/tls': '{"problem":"it has no tls.key"}' };
  const of = (metadata: Partial<ObjectMeta>) => {
    const facts = factsOf(object('Pod', {}, metadata));
    return facts.kind === 'Pod' ? facts.served : undefined;
  };
  assert.deepEqual(of({ annotations }), { lifetime: undefined, problem: 'it has no tls.key' });
  assert.equal(of({}), undefined);
});

test('of a Secret counts how long the certificate in it holds', () => {
  const annotations = {
    'plumbline.dev/not-before': '2026-01-01T00:00:00Z',
    'plumbline.dev/not-after': '2026-04-01T00:00:00Z',
  };
  const lifetime = { notBefore: Date.UTC(2026, 0, 1), notAfter: Date.UTC(2026, 3, 1) };
  const facts = factsOf(object('Secret', {}, { annotations }));
  assert.deepEqual(facts.kind === 'Secret' && facts.lifetime, lifetime);
});

test('of a Secret counts which version it is, and when somebody changed it last', () => {
  const metadata = {
    resourceVersion: '12',
    creationTimestamp: '2026-01-01T12:00:00Z',
    managedFields: [{ time: '2026-01-01T12:00:00Z' }, { time: '2026-01-02T12:00:00Z' }, {}],
  };
  const changedAt = Date.parse('2026-01-02T12:00:00Z');
  assert.deepEqual(factsOf(object('Secret', {}, metadata)), {
    kind: 'Secret',
    lifetime: undefined,
    version: '12',
    changedAt,
  });
});

test('of a pod is read what the member states of itself, and what cannot be read counts as not stated', () => {
  const annotations = {
    status:
      '{"state":"running","role":"replica","xlog_location":1024,"replication_state":"streaming","pause":true,"timeline":3}',
    'plumbline.dev/start': 'no JSON',
    'plumbline.dev/settings': '{"digest":"d1","refused":{"jit":"no"},"restart":{"max_connections":["100","200"]}}',
    'plumbline.dev/restart': 'd1',
    'plumbline.dev/slots':
      '{"own":[{"name":"cdc","database":"app","plugin":"pgoutput","failover":true}],"synced":["etl"]}',
    'plumbline.dev/template': 't1',
  };
  const facts = factsOf(object('Pod', {}, { annotations }));
  assert(facts.kind === 'Pod');
  assert.deepEqual(facts.member, {
    server: 'running',
    isStreaming: true,
    isRestoring: false,
    timeline: 3,
    isPaused: true,
    settings: { digest: 'd1', refused: { jit: 'no' }, restart: { max_connections: ['100', '200'] } },
    gate: undefined,
    askedRestart: 'd1',
    slots: { own: [{ name: 'cdc', database: 'app', plugin: 'pgoutput', isFailover: true }], synced: ['etl'] },
  });
  assert.deepEqual([facts.position, facts.template], [1024, 't1']);
});

test('a pod moved last when it was made or one of its conditions turned', () => {
  const status = { conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: '2026-01-01T12:01:00Z' }] };
  const facts = factsOf(object('Pod', { status }, { creationTimestamp: '2026-01-01T12:00:00Z' }));
  assert.equal(facts.kind === 'Pod' && facts.movedAt, Date.parse('2026-01-01T12:01:00Z'));
});

test('what the start gate waits for is trouble, but for a leader that will come', () => {
  const troubleOf = (reason: string): string | undefined => {
    const annotations = { 'plumbline.dev/start': JSON.stringify({ reason, message: 'so it is' }) };
    const facts = factsOf(object('Pod', {}, { annotations }));
    return facts.kind === 'Pod' ? facts.trouble : undefined;
  };
  assert.deepEqual([troubleOf('WrongMajor'), troubleOf('WaitingForLeader')], ['WrongMajor: so it is', undefined]);
});

test('objects of which health says nothing have no facts', () => {
  assert.deepEqual(factsOf(object('Service', {})), { kind: 'none' });
});

for (const [what, conditions, facts, counts] of [
  ['waits for its pod', [], { outcome: 'waiting', endedAt: 0, why: '' }, { active: 1, ready: 0 }],
  ['runs', [], { outcome: 'running', endedAt: 0, why: '' }, { active: 1, ready: 1 }],
  ['tries again', [], { outcome: 'running', endedAt: 0, why: '' }, { active: 1, ready: 0, failed: 1 }],
  [
    'is about to be complete',
    [{ type: 'SuccessCriteriaMet', status: 'True', lastTransitionTime: '2026-01-01T12:00:00Z' }],
    { outcome: 'running', endedAt: 0, why: '' },
    {},
  ],
  [
    'succeeded',
    [{ type: 'Complete', status: 'True', lastTransitionTime: '2026-01-01T12:00:00Z' }],
    { outcome: 'succeeded', endedAt: Date.parse('2026-01-01T12:00:00Z'), why: '' },
    {},
  ],
  [
    'failed',
    [
      {
        type: 'Failed',
        status: 'True',
        reason: 'DeadlineExceeded',
        message: 'Job was active longer than specified deadline',
        lastTransitionTime: '2026-01-01T12:00:00Z',
      },
    ],
    {
      outcome: 'failed',
      endedAt: Date.parse('2026-01-01T12:00:00Z'),
      why: 'DeadlineExceeded: Job was active longer than specified deadline',
    },
    { failed: 2 },
  ],
] as const) {
  test(`of a Job that ${what} counts how it ended`, () => {
    assert.deepEqual(factsOf(object('Job', { status: { conditions, ...counts } })), {
      kind: 'Job',
      startedAt: 0,
      ...facts,
    });
  });
}

test('of a CronJob counts what tells when a backup is due, and when one succeeded last', () => {
  const at = Date.parse('2026-01-01T12:00:00Z');
  const status = { lastSuccessfulTime: '2026-01-01T12:00:00Z', lastScheduleTime: '2026-01-01T11:00:00Z' };
  const times = { lastSuccess: at, lastSchedule: at - 3_600_000, createdAt: 0, isSuspended: true };
  assert.deepEqual(factsOf(object('CronJob', { status, spec: { suspend: true } })), { kind: 'CronJob', ...times });
  const none = { lastSuccess: undefined, lastSchedule: undefined, createdAt: 0, isSuspended: false };
  assert.deepEqual(factsOf(object('CronJob', {})), { kind: 'CronJob', ...none });
});
