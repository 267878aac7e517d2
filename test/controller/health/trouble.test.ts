import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { factsOf, type Facts } from '../../../controller/health/facts.ts';
import { troubleOf, unexplained, type Complaint, type Plight } from '../../../controller/health/trouble.ts';
import { podFacts, setFacts } from './given.ts';

type Claim = Extract<Facts, { kind: 'PersistentVolumeClaim' }>;

const asked = { cpu: '64', memory: '256Mi', storage: '512Mi' };
const plight = (more: Partial<Plight> = {}): Plight => ({
  database: 'orders',
  wanted: 1,
  statefulSet: setFacts(1),
  pods: [{ name: 'orders-0', facts: podFacts() }],
  claims: new Map(),
  complaints: [],
  asked,
  ...more,
});

/** A plight of one pod, as its status has it. */
function pod(status: object, annotations: Readonly<Record<string, string>> = {}): Plight {
  const facts = factsOf({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'orders-0', annotations }, status });
  assert(facts.kind === 'Pod');
  return plight({ pods: [{ name: 'orders-0', facts }] });
}

const unscheduled = (message: string) =>
  pod({ conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }] });
const waiting = (reason: string, message = '', lastState: object = {}, name = 'postgres') =>
  pod({ containerStatuses: [{ name, image: 'shop/pg:17', state: { waiting: { reason, message } }, lastState }] });
const held = (reason: string, message = 'so it is') =>
  pod({}, { 'plumbline.dev/start': JSON.stringify({ reason, message }) });
const claim = (facts: Partial<Claim>, more: Partial<Plight> = {}): Plight => {
  const whole = { kind: 'PersistentVolumeClaim', hasData: false, isPending: true, storageClass: undefined } as const;
  return plight({
    pods: [{ name: 'orders-0', facts: podFacts({ isReady: false }) }],
    claims: new Map([['data-orders-0', { ...whole, ...facts }]]),
    ...more,
  });
};
const ofClaim = (message: string): readonly Complaint[] => [
  { kind: 'PersistentVolumeClaim', name: 'data-orders-0', reason: 'ProvisioningFailed', message },
];
const refused = (words: string): Plight => {
  const message = `create Pod orders-0 in StatefulSet orders failed error: ${words}`;
  return plight({ pods: [], complaints: [{ kind: 'StatefulSet', name: 'orders', reason: 'FailedCreate', message }] });
};
const forbidden = 'pods "orders-0" is forbidden:';
/** A pod whose containers are being created, and what Kubernetes says of one. */
const creating = (of: string, ...said: readonly (readonly [reason: string, message: string])[]): Plight => ({
  ...waiting('ContainerCreating'),
  complaints: said.map(([reason, message]) => ({ kind: 'Pod', name: of, reason, message })),
});
const evicted = { kind: 'ended', reason: 'Evicted', message: 'too much in "tmp"' } as const;
const attached = 'Multi-Attach error for volume "pvc-1" Volume is already used by pod(s) orders-0';

const rows: readonly (readonly [what: string, seen: Plight, reason: string | undefined, told?: RegExp])[] = [
  ['a member that is ready', plight(), undefined],
  ['a member whose containers are being created', creating('orders-0'), undefined],
  [
    'a member whose volume is attached elsewhere',
    creating('orders-0', ['FailedAttachVolume', attached], ['Unhealthy', 'of the one before']),
    'VolumeNotMounted',
    /^orders-0 waits for its volumes, that of PersistentVolumeClaim data-orders-0 among them: FailedAttachVolume: Multi-Attach/,
  ],
  ['another pod whose volume is', creating('orders-1', ['FailedAttachVolume', attached]), undefined],
  [
    'a member without a network',
    creating('orders-0', ['FailedCreatePodSandBox', 'no network plugin']),
    'ContainerNotStarted',
    /^orders-0 cannot be started: FailedCreatePodSandBox: no network plugin$/,
  ],
  [
    'a member whose last pod was evicted',
    plight({ pods: [{ name: 'orders-0', facts: podFacts({ isReady: false }), predecessor: evicted }] }),
    'Evicted',
    /^orders-0 has ended and is made anew: Evicted: too much in "tmp"$/,
  ],
  [
    'one that is ready again',
    plight({ pods: [{ name: 'orders-0', facts: podFacts(), predecessor: evicted }] }),
    undefined,
  ],
  [
    'a member that is starting',
    plight({ pods: [{ name: 'orders-0', facts: podFacts({ isReady: false }) }] }),
    undefined,
  ],
  ['no default class', claim({}), 'NoDefaultStorageClass', /data-orders-0 .*spec\.storage\.storageClass/],
  ['a claim whose volume is being made', claim({ storageClass: 'fast' }), undefined],
  [
    'a class that is not there',
    claim({ storageClass: 'fast' }, { complaints: ofClaim('storageclass.storage.k8s.io "fast" not found') }),
    'StorageClassNotFound',
    /StorageClass fast, .*data-orders-0 .*create it/,
  ],
  [
    'a provisioner that cannot',
    claim({ storageClass: 'fast' }, { complaints: ofClaim('no room is left.') }),
    'VolumeNotProvisioned',
    /512Mi of class fast\) gets no volume: no room is left/,
  ],
  ['a claim with a volume', claim({ isPending: false }), undefined],
  ['a claim that the spec asks for no more', claim({}, { wanted: 0 }), undefined],
  [
    'a quota',
    refused(`${forbidden} exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0`),
    'QuotaExceeded',
    /^pods "orders-0" is forbidden: exceeded quota: q.*raise the quota/,
  ],
  [
    'a quota that asks for limits',
    refused(`${forbidden} failed quota: q: must specify limits.cpu for: postgres; steward`),
    'LimitsRequired',
    /limits\.cpu.*LimitRange/,
  ],
  [
    'a range of limits',
    refused(`${forbidden} maximum memory usage per Container is 256Mi, but limit is 512Mi`),
    'LimitRangeExceeded',
    /maximum .*256Mi.*512Mi.*spec\.resources/,
  ],
  [
    'CrunchyData/postgres-operator#517: a platform that assigns the user',
    refused(
      `${forbidden} .containers[0].runAsUser: Invalid value: 26: must be in the ranges: [1000680000, 1000689999]`,
    ),
    'UserNotAdmitted',
    /must be in the ranges.*containers postgres .*26/,
  ],
  ['Pod Security', refused(`${forbidden} violates PodSecurity "x"`), 'AdmissionDenied', /let the policy admit/],
  ['any other refusal', refused('serviceaccount "x" not found'), 'PodsRefused', /makes no pod: serviceaccount/],
  ['a refusal that is over, the pods being there', { ...refused('x'), pods: plight().pods }, undefined],
  [
    'a node too small',
    unscheduled('0/1 nodes are available: 1 Insufficient cpu.'),
    'InsufficientResources',
    /orders-0: lower spec\.resources\.requests \(cpu 64, memory 256Mi\).*Insufficient cpu/,
  ],
  ['a volume that is being made', unscheduled('pod has unbound immediate PersistentVolumeClaims'), 'VolumePending'],
  ['a taint', unscheduled('1 node(s) had untolerated taint'), 'Unschedulable', /orders-0 finds no node: .*taint/],
  [
    'an image that is not there',
    waiting('ErrImagePull', 'shop/pg:17: not found'),
    'ImageNotPulled',
    /^Image shop\/pg:17 of orders-0 .*spec\.image.* shop\/pg:17: not found$/,
  ],
  [
    'the same while the kubelet waits to try again',
    waiting('ImagePullBackOff', 'Back-off pulling image "shop/pg:17": ErrImagePull: shop/pg:17: not found'),
    'ImageNotPulled',
    /^Image shop\/pg:17 of orders-0 .*spec\.image.* shop\/pg:17: not found$/,
  ],
  [
    'no name of an image',
    waiting('InvalidImageName', 'couldn’t parse'),
    'ImageNotPulled',
    /InvalidImageName: couldn’t parse/,
  ],
  [
    'an image of the exporter that is not there',
    waiting('ErrImagePull', 'not found', {}, 'exporter'),
    'ImageNotPulled',
    /: correct spec\.monitoring\.image, or .* not found$/,
  ],
  [
    'an exporter that needs more memory, which nobody can give it',
    waiting('CrashLoopBackOff', '', { terminated: { reason: 'OOMKilled', exitCode: 137 } }, 'exporter'),
    'CrashLooping',
    /exporter of orders-0 ends again and again \(OOMKilled, exit code 137\)/,
  ],
  ['a crash loop', waiting('CrashLoopBackOff'), 'CrashLooping', /postgres of orders-0 ends again and again: its log/],
  [
    'a container that needs more memory',
    waiting('CrashLoopBackOff', '', { terminated: { reason: 'OOMKilled', exitCode: 137 } }),
    'OutOfMemory',
    /spec\.resources\.limits\.memory \(256Mi/,
  ],
  ['a container that cannot be made', waiting('CreateContainerError', 'x'), 'ContainerNotStarted', /Error: x/],
  ['a wrong major', held('WrongMajor'), 'WrongMajor', /^orders-0: so it is$/],
  ['a Patroni that is too old', held('WrongPatroni'), 'WrongPatroni', /^orders-0: so it is$/],
  ['a certificate', held('TlsSecretUnusable'), 'CertificateUnusable'],
  ['a volume that another container uses', held('VolumeInUse'), 'VolumeInUse', /^orders-0: so it is$/],
  ['a member that waits for its leader', held('WaitingForLeader'), undefined],
  ['a word that nobody knows', held('constructor'), 'MemberHeld', /orders-0 does not start: constructor: so it is/],
  ['a node shutdown', pod({ phase: 'Failed', reason: 'Terminated', message: 'x' }), 'NodeLost', /Terminated: x/],
  ['an eviction', pod({ phase: 'Failed', reason: 'Evicted', message: 'tmp' }), 'Evicted', /Evicted: tmp/],
  ['a pod that has completed', pod({ phase: 'Succeeded' }), 'MemberEnded', /orders-0 has ended .*Succeeded/],
  [
    'a full volume',
    pod({}, { 'plumbline.dev/usage': '{"usedPercent":95}' }),
    'VolumeFull',
    /orders-0 \(PersistentVolumeClaim data-orders-0\) is full/,
  ],
];

for (const [what, seen, reason, told] of rows) {
  test(`${what}: ${reason ?? 'no trouble'}`, () => {
    const trouble = troubleOf(seen);
    assert.equal(trouble?.reason, reason);
    if (told !== undefined) assert.match(trouble?.message ?? '', told);
  });
}

test('what may mend itself stalls nothing', () => {
  const mending = rows.flatMap(([, seen]) => troubleOf(seen) ?? []).filter(({ isStalled }) => !isStalled);
  const reasons = [
    'VolumePending',
    'VolumeNotMounted',
    'VolumeInUse',
    'ContainerNotStarted',
    'InsufficientResources',
    'Unschedulable',
    'NodeLost',
    'Evicted',
    'MemberEnded',
  ];
  assert.deepEqual(new Set(mending.map(({ reason }) => reason)), new Set(reasons));
});

test('each trouble has its row in the documentation', () => {
  const documentation = readFileSync(new URL('../../../docs/trouble.md', import.meta.url), 'utf8');
  for (const [, , reason] of rows) assert(reason === undefined || documentation.includes(`| \`${reason}\` |`), reason);
});

test('Kubernetes is asked about what no object explains, and about nothing else', () => {
  const asks = (seen: Plight) => unexplained(seen)?.kind;
  assert.equal(asks(plight()), undefined);
  assert.equal(asks(claim({ storageClass: 'fast' })), 'PersistentVolumeClaim');
  assert.equal(asks(claim({})), undefined);
  assert.equal(asks(plight({ pods: [] })), 'StatefulSet');
  assert.equal(asks(plight({ pods: [], statefulSet: undefined })), undefined);
  assert.equal(asks(creating('orders-0')), 'Pod');
  // A claim that waits for its pod to be made is not what is stuck.
  assert.equal(asks(claim({ storageClass: 'fast' }, { pods: [] })), 'StatefulSet');
  // A claim that waits for its pod to find a node is explained by the pod.
  const waits = unscheduled('0/1 nodes are available: 1 Insufficient cpu.');
  assert.equal(asks({ ...claim({ storageClass: 'fast' }), pods: waits.pods }), undefined);
});
