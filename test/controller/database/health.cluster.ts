import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually } from '../running-plumbline.ts';
import { PlayedMembers, ready } from './played-members.ts';
import { Shop } from './shop.ts';

let shop: Shop;
let members: PlayedMembers;
before(async () => {
  shop = await Shop.open();
  members = new PlayedMembers(shop, 'orders');
  await shop.create('orders', { replicas: 3 });
});
after(async () => {
  await shop[Symbol.asyncDispose]();
});

const say: PlayedMembers['say'] = (ordinal, status) => members.say(ordinal, status);
const role: PlayedMembers['role'] = (ordinal, role, more) => members.role(ordinal, role, more);

async function isPrimary(member: string): Promise<void> {
  await eventually(
    `${member} is known as the primary`,
    async () => (await shop.status('orders'))?.primary === member || undefined,
  );
}

async function untilPhase(phase: string): Promise<void> {
  await eventually(`the phase is ${phase}`, async () => (await shop.status('orders'))?.phase === phase || undefined);
  await shop.running.settled();
}

test('it runs when all members are ready and one is the primary; a burst of pod events is few statuses', async () => {
  await eventually('the pods are there', () => shop.get('Pod', 'orders-2'));
  const lock = { name: 'orders-patroni-leader', labels: { 'plumbline.dev/patroni': 'orders-patroni' } };
  await shop.kube.create(
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...lock, namespace: shop.namespace } },
    { type: shop.typeOf('ConfigMap'), fieldManager: 'Patroni' },
  );
  await shop.running.settled();
  const made = await shop.requestsFor(async () => {
    await Promise.all([0, 1, 2].map((n) => say(n, ready)));
    await Promise.all([role(0, 'primary'), role(1, 'replica'), role(2, 'replica')]);
    await untilPhase('Running');
  });
  const statuses = made.filter((request) => request === 'apply DatabaseService');
  const others = made.filter((request) => request !== 'apply DatabaseService');
  assert(statuses.length <= 3, made.join(', '));
  assert.deepEqual(others, ['list ConfigMap', 'apply ConfigMap'], 'the lock of the leader is made to go with it');
  const status = await shop.status('orders');
  assert.deepEqual([status?.ready, status?.readyReplicas, status?.primary], ['3/3', 3, 'orders-0']);
  assert.match(await shop.condition('orders', 'Ready'), /^True AllMembersReady: 3 of 3/);
  assert.match(await shop.condition('orders', 'Degraded'), /^False NoMemberLost/);
});

test('an edit of the image of a running database is put back before anything restarts, and it stays Running', async () => {
  const members = async () =>
    Promise.all([0, 1, 2].map(async (n) => (await shop.get('Pod', `orders-${n}`))?.metadata.uid));
  const before = await members();
  const body = { spec: { template: { spec: { containers: [{ name: 'postgres', image: 'evil:1' }] } } } };
  const made = await shop.requestsFor(async () => {
    await shop.patch('StatefulSet', 'orders', { kind: 'strategic', body });
    await eventually('it is told', async () => (await shop.receipts('orders')).length === 1 || undefined);
  });
  assert.deepEqual([...made].sort(), ['apply DatabaseService', 'apply StatefulSet', 'create Event']);
  assert.deepEqual(await members(), before);
  assert.equal((await shop.status('orders'))?.phase, 'Running');
});

for (const { told, ...status } of [
  {
    phase: 'Failed',
    reason: 'Terminated',
    message: 'Pod was terminated in response to imminent node shutdown.',
    told: 'NodeLost',
  },
  { phase: 'Failed', reason: 'Evicted', message: 'Usage of EmptyDir volume "tmp" exceeds the limit.', told: 'Evicted' },
  { phase: 'Succeeded', told: 'MemberEnded' },
] as const) {
  test(`https://github.com/cloudnative-pg/cloudnative-pg/issues/1593: a member that says ${status.phase}, ${told}, is lost at once`, async () => {
    const held = (finalizers: readonly string[] | null) =>
      shop.patch('Pod', 'orders-2', { body: { metadata: { finalizers } } });
    await held(['plumbline.dev/test']);
    await say(2, status);
    await untilPhase('Degraded');
    const words = 'message' in status ? status.message : 'Succeeded';
    assert.match(
      await shop.condition('orders', 'Degraded'),
      new RegExp(`^True ${told}: 2 of 3 .*orders-2 has ended .*${words}`),
    );
    assert.deepEqual((await shop.status('orders'))?.readyReplicas, 2);
    await held(null);
    // The StatefulSet controller makes it anew; we delete nothing.
    await eventually('the member is there again', async () => {
      const phase = ((await shop.get('Pod', 'orders-2'))?.['status'] as { phase?: string } | undefined)?.phase;
      return phase === 'Pending' || undefined;
    });
    await role(2, 'replica');
    await say(2, ready);
    await untilPhase('Running');
    assert(!shop.running.requests.some(({ verb }) => verb === 'delete'));
  });
}

test('without a ready primary nothing is available, whatever label the dead one bears', async () => {
  await say(0, { conditions: [{ type: 'Ready', status: 'False' }] });
  await untilPhase('Degraded');
  assert.equal((await shop.status('orders'))?.primary, undefined);
  assert.match(await shop.condition('orders', 'Available'), /^False NoPrimary/);
  await role(1, 'primary');
  await isPrimary('orders-1');
  assert.equal((await shop.status('orders'))?.phase, 'Degraded');
  await role(0, 'replica');
  await say(0, ready);
  await untilPhase('Running');
});

for (const status of [
  { phase: 'Failed', reason: 'Terminated', message: 'Pod was terminated in response to imminent node shutdown.' },
  { phase: 'Succeeded' },
]) {
  test(`https://github.com/cloudnative-pg/cloudnative-pg/issues/1593: the primary says ${status.phase} and keeps its label`, async () => {
    // GIVEN a primary that has ended and is not made anew
    await role(1, 'replica');
    await role(0, 'primary');
    await isPrimary('orders-0');
    const held = (finalizers: readonly string[] | null) =>
      shop.patch('Pod', 'orders-0', { body: { metadata: { finalizers } } });
    await held(['plumbline.dev/test']);
    await say(0, { ...ready, ...status });
    await untilPhase('Degraded');
    assert.deepEqual(
      [(await shop.status('orders'))?.primary, (await shop.status('orders'))?.readyReplicas],
      [undefined, 2],
    );
    assert.match(await shop.condition('orders', 'Available'), /^False NoPrimary/);

    // WHEN another is promoted, THEN that is the primary
    await role(1, 'primary');
    await isPrimary('orders-1');
    await held(null);
    await eventually('the member is there again', async () => {
      const phase = ((await shop.get('Pod', 'orders-0'))?.['status'] as { phase?: string } | undefined)?.phase;
      return phase === 'Pending' || undefined;
    });
    await role(1, 'replica');
    await role(0, 'primary');
    await say(0, ready);
    await untilPhase('Running');
  });
}

test('of two that say so, the primary is the one that was promoted last', async () => {
  // GIVEN a primary that cannot take its label off, for it is cut off from the API server
  await role(0, 'primary', { timeline: 7 });

  // WHEN another is promoted
  await role(2, 'primary', { timeline: 8 });
  await isPrimary('orders-2');
  await role(2, 'replica');
  await isPrimary('orders-0');
});

test('why a member ended is told until it is ready again, though its pod is made anew within a moment', async () => {
  // GIVEN a member that the kubelet evicts, and that Kubernetes makes anew at once
  const before = (await shop.get('Pod', 'orders-2'))?.metadata.uid;
  const message = 'Usage of EmptyDir volume "tmp" exceeds the limit "128Mi".';
  await say(2, { ...ready, phase: 'Failed', reason: 'Evicted', message });
  await eventually('the member is made anew', async () => {
    const uid = (await shop.get('Pod', 'orders-2'))?.metadata.uid;
    return uid !== undefined && uid !== before ? true : undefined;
  });

  // WHEN it starts, THEN it is still told
  await say(2, { conditions: [{ type: 'PodScheduled', status: 'True' }] });
  await shop.untilCondition('orders', 'Ready', /^False Evicted: 2 of 3 .*orders-2 has ended .*"tmp".*"128Mi"/);

  // WHEN it is ready, THEN no more
  await role(2, 'replica');
  await say(2, ready);
  await untilPhase('Running');
});

for (const { reason, component, words } of [
  {
    reason: 'FailedAttachVolume',
    component: 'attachdetach-controller',
    words:
      'Multi-Attach error for volume "pvc-1" Volume is already exclusively attached to one node and can\'t be attached to another',
  },
  {
    reason: 'FailedMount',
    component: 'kubelet',
    words: 'MountVolume.SetUp failed for volume "system" : secret "orders-system" not found',
  },
]) {
  test(`a member whose volumes do not come is told with the words of the ${component}`, async () => {
    // GIVEN a member on its node whose containers are not created
    const waiting = { waiting: { reason: 'ContainerCreating' } };
    const containerStatuses = ['postgres', 'steward'].map((name) => ({ name, state: waiting, image: '', imageID: '' }));
    const creating = {
      phase: 'Pending',
      containerStatuses: containerStatuses.map((one) => ({ ...one, ready: false, restartCount: 0 })),
      conditions: [
        { type: 'Ready', status: 'False' },
        { type: 'PodScheduled', status: 'True' },
      ],
    };
    await say(2, creating);
    await untilPhase('Degraded');

    // WHEN Kubernetes says why
    const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
    const uid = (await shop.get('Pod', 'orders-2'))?.metadata.uid;
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `orders-2.${reason.toLowerCase()}`, namespace: shop.namespace },
      involvedObject: { apiVersion: 'v1', kind: 'Pod', name: 'orders-2', namespace: shop.namespace, uid },
      type: 'Warning',
      reason,
      message: words,
      source: { component },
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
    };
    await shop.kube.create(event, { type: shop.typeOf('Event'), fieldManager: component });

    // THEN the condition has it, with the claim
    const told = await eventually(`it is told: ${words}`, async () => {
      // The scheduler, which finds no node here, contradicts.
      await say(2, creating);
      const found = await shop.condition('orders', 'Ready');
      return found.startsWith('False VolumeNotMounted: 2 of 3') && found.includes(reason) ? found : undefined;
    });
    assert.ok(told.includes(`that of PersistentVolumeClaim data-orders-2 among them: ${reason}: ${words}`), told);
    assert.match(await shop.condition('orders', 'Stalled'), /^False/);

    // AND it runs when they are there
    await shop.delete('Event', event.metadata.name);
    await say(2, { ...ready, containerStatuses: [] });
    await untilPhase('Running');
  });
}

test('a replica that runs and does not stream is no whole member', async () => {
  await role(2, 'replica', { replication_state: undefined });
  await untilPhase('Degraded');
  assert.match(
    await shop.condition('orders', 'Ready'),
    /^False ReplicaNotStreaming: 3 of 3 .*orders-2 does not stream/,
  );
  await role(2, 'replica');
  await untilPhase('Running');
});

test('members that somebody adds while nobody leads stay until there is a primary, and then it is told who added them', async () => {
  const setOf = async () => (await shop.get('StatefulSet', 'orders'))?.['spec'] as { replicas: number };
  await say(0, { conditions: [{ type: 'Ready', status: 'False' }] });
  await untilPhase('Degraded');
  await shop.patch('StatefulSet', 'orders', {
    body: { spec: { replicas: 5 } },
    subresource: 'scale',
    fieldManager: 'kubectl',
  });
  await eventually('the fifth is there', () => shop.get('Pod', 'orders-4'));
  await shop.running.settled();
  assert.equal((await setOf()).replicas, 5);
  const before = (await shop.receipts('orders')).length;
  await role(0, 'primary');
  await say(0, ready);
  await eventually('the two go', async () => (await setOf()).replicas === 3 || undefined);
  await shop.running.settled();
  const told = (await shop.receipts('orders')).map(({ field, was, now, manager }) => [field, was, now, manager]);
  assert.equal(told.length, before + 1);
  assert.deepEqual(told[0], ['spec.replicas', '3', '5', 'kubectl']);
  await eventually('the fifth is gone', async () =>
    (await shop.get('Pod', 'orders-4')) === undefined ? true : undefined,
  );
  await untilPhase('Running');
});

test('more members are an update, no loss', async () => {
  await shop.edit('orders', { replicas: 4 });
  await untilPhase('Updating');
  assert.match(await shop.condition('orders', 'Degraded'), /^False/);
  assert.match(await shop.condition('orders', 'Progressing'), /^True MembersUpdating/);
  await eventually('the fourth is there', () => shop.get('Pod', 'orders-3'));
  await role(3, 'replica');
  await say(3, ready);
  await untilPhase('Running');
  assert.equal((await shop.status('orders'))?.ready, '4/4');
});

test('a pod that cannot be scheduled is told in the words of Kubernetes', async () => {
  await shop.create('lonely');
  await shop.untilCondition(
    'lonely',
    'Ready',
    /^False Unschedulable: 0 of 1 .*lonely-0 finds no node: Unschedulable: no nodes available/,
  );
});
