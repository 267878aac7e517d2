import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { phases, type Phase } from '../../../constructs/api/status.ts';
import type { KubeObject } from '../../../controller/kube/index.ts';
import { applicationHealthOf, builtInHealthOf, healthOf, type ArgoHealth } from '../../argocd/health.ts';
import { PlayedMembers, ready } from '../../controller/database/played-members.ts';
import { Shop } from '../../controller/database/shop.ts';
import { eventually } from '../../controller/running-plumbline.ts';

const backup = { schedule: '30 2 * * *', volume: { size: '1Gi' } } as const;
const seen = new Set<Phase | undefined>();

let shop: Shop;
let members: PlayedMembers;
before(async () => {
  shop = await Shop.open();
  members = new PlayedMembers(shop, 'orders');
  await shop.create('orders', { replicas: 2, backup });
});
after(async () => {
  await shop[Symbol.asyncDispose]();
});

async function live(kind: string, name: string): Promise<KubeObject> {
  const object = await shop.get(kind, name);
  assert(object, `${kind} ${name}`);
  return object;
}

/** The health of a DatabaseService, as soon as the controller has said what a test waits for. */
async function health(name: string, status: ArgoHealth['status'], message: RegExp): Promise<ArgoHealth> {
  let last: ArgoHealth | undefined;
  return eventually(`${name} is ${status}, ${message}`, async () => {
    const object = await live('DatabaseService', name);
    last = await healthOf(object);
    if (last.status !== status || !message.test(last.message ?? '')) return undefined;
    seen.add((object['status'] as { readonly phase?: Phase } | undefined)?.phase);
    return last;
  }).catch((cause: unknown) => {
    throw new Error(`the health of ${name} is: ${JSON.stringify(last)}`, { cause });
  });
}

/** The object with one condition more. */
function withCondition(object: KubeObject, condition: object): KubeObject {
  const status = object['status'] as { readonly conditions: readonly object[] };
  return { ...object, status: { ...status, conditions: [...status.conditions, condition] } };
}

async function run(): Promise<void> {
  await Promise.all([0, 1].map((ordinal) => members.say(ordinal, ready)));
  await members.role(0, 'primary');
  await members.role(1, 'replica');
}

test('a database that no controller has looked at is Progressing', async () => {
  const { status: _, ...object } = await live('DatabaseService', 'orders');
  const before = await healthOf(object);
  assert.deepEqual(before, { status: 'Progressing', message: 'Plumbline has not looked at generation 1 yet.' });
});

test('members that find no node are Progressing, for one may come, in the words of Kubernetes', async () => {
  await health('orders', 'Progressing', /^Unschedulable: 0 of 2 .* finds no node/);
});

test('members that start are Progressing', async () => {
  await eventually('no member waits for a node', async () => {
    for (const ordinal of [0, 1])
      await members.say(ordinal, { conditions: [{ type: 'PodScheduled', status: 'True' }] });
    const { status } = await healthOf(await live('DatabaseService', 'orders'));
    return status === 'Progressing' || undefined;
  });
  await health('orders', 'Progressing', /^MembersStarting: 0 of 2 members are ready\.$/);
});

test('a database that runs is Healthy', async () => {
  await run();
  await health('orders', 'Healthy', /^2 of 2 members are ready\.$/);
});

test('https://github.com/argoproj/argo-cd/issues/24428: a backup that failed is told in the message, and holds up nothing', async () => {
  // GIVEN a backup that Kubernetes ended, and a CronJob that says of its last run that it did not succeed
  const made = await shop.cluster.kubectlRun([
    'create',
    'job',
    'orders-backup-1',
    '--from=cronjob/orders-backup',
    `--namespace=${shop.namespace}`,
    '--dry-run=client',
    '--output=json',
  ]);
  const job = JSON.parse(made.stdout) as { readonly spec: object };
  const created = await shop.cluster.kubectlRun(
    ['create', '--filename=-'],
    JSON.stringify({ ...job, spec: { ...job.spec, activeDeadlineSeconds: 1 } }),
  );
  assert.equal(created.code, 0, created.stderr);
  await shop.patch('CronJob', 'orders-backup', {
    body: { status: { lastScheduleTime: '2026-01-02T02:30:00Z', lastSuccessfulTime: '2026-01-01T02:30:00Z' } },
    subresource: 'status',
    fieldManager: 'kube-controller-manager',
  });

  // THEN the database is Healthy and says so
  await health('orders', 'Healthy', /^2 of 2 members are ready\. BackupFailed: Job orders-backup-1 failed: /);

  // AND what Argo CD thinks of the CronJob and its claim does not count
  const cronJob = await live('CronJob', 'orders-backup');
  assert.equal((await builtInHealthOf(cronJob)).status, 'Degraded');
  const statefulSet = await live('StatefulSet', 'orders');
  const running = { ...statefulSet, status: { ...(statefulSet['status'] as object), readyReplicas: 2 } };
  const objects = [cronJob, await live('PersistentVolumeClaim', 'orders-backup'), running];
  assert.equal(await applicationHealthOf([...objects, await live('DatabaseService', 'orders')]), 'Healthy');
});

test('backups that are suspended leave it Healthy, and it says so', async () => {
  await shop.edit('orders', { backup: { ...backup, suspend: true } });
  await health('orders', 'Healthy', /BackupSuspended: spec\.backup\.suspend is true: backups are suspended/);
  await shop.edit('orders', { backup: { ...backup, suspend: false } });
});

test('drift that is left, and a pause, stand in the message', async () => {
  await shop.edit('orders', { drift: { policy: 'Report', pause: { until: '2090-01-01T00:00:00Z' } } });
  await shop.untilCondition('orders', 'Paused', /^True/);
  await shop.patch('PodDisruptionBudget', 'orders', { body: { spec: { maxUnavailable: 2 } } });
  await health('orders', 'Healthy', /DriftReported: kubectl-edit changed spec\.maxUnavailable .* DriftPaused: /);
  await shop.edit('orders', { drift: null });
  await health('orders', 'Healthy', /^2 of 2 members are ready\. BackupFailed/);
});

test('a lost member is Degraded, with its name', async () => {
  await members.say(1, { conditions: [{ type: 'Ready', status: 'False' }] });
  await health('orders', 'Degraded', /1 of 2 members are ready/);
  await members.say(1, ready);
  await health('orders', 'Healthy', /^2 of 2/);
});

test('what somebody has to decide is Degraded though every member runs', async () => {
  const annotate = (value: string | null) =>
    shop.patch('DatabaseService', 'orders', {
      body: { metadata: { annotations: { 'plumbline.dev/rollback-to': value } } },
    });
  await annotate('99');
  await health('orders', 'Degraded', /^RevisionUnknown: .*revision 99/);
  await annotate(null);
  await health('orders', 'Healthy', /^2 of 2/);
});

test('more members are Progressing until they are there', async () => {
  await shop.edit('orders', { replicas: 3 });
  await health('orders', 'Progressing', /^[A-Z]\w+: 2 of 3 members are ready/);
  await eventually('the third is there', () => shop.get('Pod', 'orders-2'));
  await eventually('it is under way', async () => {
    await members.say(2, { conditions: [{ type: 'PodScheduled', status: 'True' }] });
    return (await shop.status('orders'))?.phase === 'Updating' || undefined;
  });
  await health('orders', 'Progressing', /^MembersUpdating: 2 of 3/);
  await members.role(2, 'replica');
  await members.say(2, ready);
  await health('orders', 'Healthy', /^3 of 3/);
});

test('a name that somebody else has is Degraded, and says whose it is', async () => {
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'taken', namespace: shop.namespace },
    spec: { ports: [{ port: 80 }], selector: { app: 'web' } },
  };
  await shop.kube.create(service, { type: shop.typeOf('Service'), fieldManager: 'kubectl-create' });
  await shop.submit('taken');
  await health('taken', 'Degraded', /^NameTaken: Service taken is needed and belongs to somebody/);
});

test('what Argo CD has yet to apply is Progressing', async () => {
  await shop.submit('by-argo', { delivery: { apply: false } });
  await health('by-argo', 'Progressing', /^NotApplied: A GitOps tool is to apply the manifests\.$/);
});

for (const [type, reason, status] of [
  ['Committed', 'CommitPending', 'Progressing'],
  ['Committed', 'ChangeHeld', 'Progressing'],
  ['Committed', 'OldFilesRemain', 'Healthy'],
  ['Committed', 'Pushed', 'Healthy'],
  ['Committed', 'EditedInGit', 'Healthy'],
  ['Merged', 'ReviewPending', 'Progressing'],
  ['Merged', 'ReviewBlocked', 'Progressing'],
  ['Merged', 'ReviewDeclined', 'Healthy'],
  ['Merged', 'Merged', 'Healthy'],
  ['Synced', 'MergePending', 'Progressing'],
  ['Synced', 'SyncPending', 'Progressing'],
  ['Synced', 'LiveWasChanged', 'Healthy'],
  ['Synced', 'LiveIsCurrent', 'Healthy'],
] as const) {
  test(`a database that runs, with ${type} ${reason}, is ${status}`, async () => {
    const holds = ['Pushed', 'Merged', 'LiveIsCurrent'].includes(reason);
    const condition = { type, status: holds ? 'True' : 'False', reason, message: 'As it is.' };
    const judged = await healthOf(withCondition(await live('DatabaseService', 'orders'), condition));
    assert.equal(judged.status, status);
    if (status === 'Progressing') assert.equal(judged.message, `${reason}: As it is.`);
    if (reason === 'EditedInGit') assert.match(judged.message ?? '', /EditedInGit: As it is\./);
  });
}

test('what waits for its files in Git says so while it is being deleted', async () => {
  const condition = { type: 'Committed', status: 'False', reason: 'RemovalPending', message: 'As it is.' };
  const object = withCondition(await live('DatabaseService', 'orders'), condition);
  const leaving = { ...object, metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  assert.deepEqual(await healthOf(leaving), { status: 'Progressing', message: 'RemovalPending: As it is.' });
});

test('what is being deleted is Progressing', async () => {
  await shop.submit('leaving');
  const held = (finalizers: readonly string[] | null) =>
    shop.patch('DatabaseService', 'leaving', { body: { metadata: { finalizers } } });
  await held(['plumbline.dev/test']);
  await shop.delete('DatabaseService', 'leaving');
  await eventually('it is leaving', async () => (await shop.status('leaving'))?.phase === 'Deleting' || undefined);
  await health('leaving', 'Progressing', /^The object is being deleted\.$/);
  await held(null);
});

test('a change that the controller has not looked at is Progressing, whatever the conditions say', async () => {
  await shop.restart(async () => {
    await shop.edit('orders', { parameters: { max_connections: '50' } });
    await health('orders', 'Progressing', /^Plumbline has not looked at generation \d+ yet\.$/);
  });
});

test('every phase there is was judged', () => {
  assert.deepEqual([...seen].filter((phase) => phase !== undefined).sort(), phases.toSorted());
});
