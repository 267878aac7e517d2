import assert from 'node:assert/strict';
import test from 'node:test';
import { phases, type Phase } from '../../../constructs/api/status.ts';
import { judge, type Health, type Hindrance, type Seen } from '../../../controller/health/judge.ts';
import { memberState } from '../../../controller/health/member-state.ts';
import { podFacts, setFacts } from './given.ts';

const set = setFacts(3);
type Pod = Seen['pods'][number];
const pod = (name: string, facts: Partial<Pod['facts']> = {}): Pod => ({
  name,
  facts: podFacts(facts),
});
const primary = pod('orders-0', { isPrimary: true });
const members = [primary, pod('orders-1'), pod('orders-2')];
const lost = pod('orders-2', { isReady: false });
const idle = pod('orders-1', { member: memberState({ status: '{"state":"running"}' }) });
const rollout = 'orders-2 is made again.';
const absence = { member: 'orders-2', others: 2, isPrimary: false };
const base: Seen = {
  wanted: 3,
  statefulSet: set,
  pods: members,
  before: { phase: 'Running', readyReplicas: 3 },
  isSpecNew: false,
  isDeleting: false,
  isApplied: true,
  hindrance: undefined,
};
const first = { phase: undefined, readyReplicas: 0 };
const quota: Hindrance = { reason: 'QuotaExceeded', message: 'Service orders: exceeded quota', isStalled: true };
const lostNode: Hindrance = { reason: 'NodeLost', message: 'orders-2 has ended.', isStalled: false };
const noNode: Hindrance = { reason: 'Unschedulable', message: 'orders-2 finds no node.', isStalled: true };
const outage: Hindrance = { reason: 'ApiUnreachable', message: 'Service orders: no answer', isStalled: false };

interface Row {
  readonly what: string;
  readonly seen: Partial<Seen>;
  readonly phase: Phase;
  /** Ready, Progressing, Degraded and Stalled: `+` holds, `-` does not, then the reason. */
  readonly conditions: string;
}

const rows: readonly Row[] = [
  {
    what: 'all members ready, one of them the primary',
    seen: {},
    phase: 'Running',
    conditions: '+AllMembersReady -Settled -NoMemberLost -NothingToDo',
  },
  {
    what: 'nothing exists yet',
    seen: { statefulSet: undefined, pods: [], before: first },
    phase: 'Provisioning',
    conditions: '-MembersStarting +MembersStarting -NoMemberLost -NothingToDo',
  },
  {
    what: 'all are ready at their first start, and the primary has yet to make roles and database',
    seen: {
      pods: [pod('orders-0', { isPrimary: true, member: memberState({}) }), pod('orders-1'), pod('orders-2')],
      before: { ...first, phase: 'Provisioning' },
    },
    phase: 'Provisioning',
    conditions: '-RolesMissing +MembersStarting -NoMemberLost -NothingToDo',
  },
  {
    what: 'members start for the first time',
    seen: { pods: [primary], before: first },
    phase: 'Provisioning',
    conditions: '-MembersStarting +MembersStarting -NoMemberLost -NothingToDo',
  },
  {
    what: 'all are ready at their first start, and none is the primary yet',
    seen: { pods: [pod('orders-0'), pod('orders-1'), pod('orders-2')], before: { ...first, phase: 'Provisioning' } },
    phase: 'Provisioning',
    conditions: '-NoPrimary +MembersStarting -NoMemberLost -NothingToDo',
  },
  {
    what: 'a member that was ready is not',
    seen: { pods: [primary, pod('orders-1'), lost] },
    phase: 'Degraded',
    conditions: '-MembersMissing -Settled +MembersMissing -NothingToDo',
  },
  {
    what: 'it stays so until all are back',
    seen: { pods: [primary, pod('orders-1'), lost], before: { phase: 'Degraded', readyReplicas: 1 } },
    phase: 'Degraded',
    conditions: '-MembersMissing -Settled +MembersMissing -NothingToDo',
  },
  {
    what: 'the primary is gone and the replicas are ready',
    seen: { wanted: 2, pods: [pod('orders-1'), pod('orders-2')], before: { phase: 'Running', readyReplicas: 2 } },
    phase: 'Degraded',
    conditions: '-NoPrimary -Settled +NoPrimary -NothingToDo',
  },
  {
    what: 'replicas that are ready and do not stream',
    seen: { pods: [primary, idle, pod('orders-2')] },
    phase: 'Degraded',
    conditions: '-ReplicaNotStreaming -Settled +ReplicaNotStreaming -NothingToDo',
  },
  {
    what: 'replicas that do not stream yet at their first start',
    seen: { pods: [primary, idle, pod('orders-2')], before: { ...first, phase: 'Provisioning' } },
    phase: 'Provisioning',
    conditions: '-ReplicaNotStreaming +MembersStarting -NoMemberLost -NothingToDo',
  },
  {
    what: 'a replica that the spec has added and that does not stream yet',
    seen: { pods: [primary, pod('orders-1'), idle], before: { phase: 'Updating', readyReplicas: 2 } },
    phase: 'Updating',
    conditions: '-ReplicaNotStreaming +MembersUpdating -NoMemberLost -NothingToDo',
  },
  {
    what: 'the member that a rollout has taken down',
    seen: { pods: [primary, pod('orders-1'), lost], rollout, absence },
    phase: 'Updating',
    conditions: '-MembersUpdating +MembersUpdating -NoMemberLost -NothingToDo',
  },
  {
    what: 'another one beside it',
    seen: { pods: [primary, pod('orders-1', { isReady: false }), lost], rollout, absence },
    phase: 'Degraded',
    conditions: '-MembersMissing +MembersUpdating +MembersMissing -NothingToDo',
  },
  {
    what: 'another one beside it, told after the first',
    seen: {
      pods: [primary, pod('orders-1', { isReady: false }), lost],
      before: { phase: 'Updating', readyReplicas: 2 },
      rollout,
      absence,
    },
    phase: 'Degraded',
    conditions: '-MembersMissing +MembersUpdating +MembersMissing -NothingToDo',
  },
  {
    what: 'the member that a rollout took down before is back, and another one is lost',
    seen: { pods: [primary, pod('orders-1'), lost], rollout },
    phase: 'Degraded',
    conditions: '-MembersMissing +MembersUpdating +MembersMissing -NothingToDo',
  },
  {
    what: 'the primary hands over for a rollout',
    seen: {
      pods: [pod('orders-0', { isReady: false }), pod('orders-1'), pod('orders-2')],
      rollout,
      absence: { member: 'orders-0', others: 2, isPrimary: true },
    },
    phase: 'Updating',
    conditions: '-MembersUpdating +MembersUpdating -NoMemberLost -NothingToDo',
  },
  {
    what: 'the primary is lost while a rollout has a replica down',
    seen: { pods: [pod('orders-0', { isReady: false }), pod('orders-1'), lost], rollout, absence },
    phase: 'Degraded',
    conditions: '-MembersMissing +MembersUpdating +MembersMissing -NothingToDo',
  },
  {
    what: 'a pod that was ended by a node shutdown',
    seen: {
      pods: [primary, pod('orders-1'), lost],
      trouble: lostNode,
    },
    phase: 'Degraded',
    conditions: '-NodeLost -Settled +NodeLost -NothingToDo',
  },
  {
    what: 'a member that cannot be scheduled at the first start',
    seen: { pods: [pod('orders-0', { isReady: false })], before: first, trouble: noNode },
    phase: 'Provisioning',
    conditions: '-Unschedulable -Settled -NoMemberLost +Unschedulable',
  },
  {
    what: 'a member that cannot be scheduled while a rollout may be taken back',
    seen: { pods: [primary, pod('orders-1'), lost], trouble: noNode, rollout: 'orders-2 is made again.' },
    phase: 'Degraded',
    conditions: '-Unschedulable +MembersUpdating +Unschedulable -NothingToDo',
  },
  {
    what: 'all members are ready whatever else is there',
    seen: { trouble: noNode },
    phase: 'Running',
    conditions: '+AllMembersReady -Settled -NoMemberLost -NothingToDo',
  },
  {
    what: 'members that the spec adds are no loss',
    seen: { wanted: 5, isSpecNew: true },
    phase: 'Updating',
    conditions: '-MembersUpdating +MembersUpdating -NoMemberLost -NothingToDo',
  },
  {
    what: 'members that the spec takes away are still there',
    seen: { wanted: 2 },
    phase: 'Updating',
    conditions: '-MembersUpdating +MembersUpdating -NoMemberLost -NothingToDo',
  },
  {
    what: 'members of an older template',
    seen: { rollout: 'orders-2 is made again.' },
    phase: 'Updating',
    conditions: '-MembersUpdating +MembersUpdating -NoMemberLost -NothingToDo',
  },
  {
    what: 'a new spec that the StatefulSet controller has not seen',
    seen: { statefulSet: { ...set, isObserved: false }, isSpecNew: true },
    phase: 'Updating',
    conditions: '-MembersUpdating +MembersUpdating -NoMemberLost -NothingToDo',
  },
  {
    what: 'a repair that the StatefulSet controller has not seen',
    seen: { statefulSet: { ...set, isObserved: false } },
    phase: 'Running',
    conditions: '+AllMembersReady -Settled -NoMemberLost -NothingToDo',
  },
  {
    what: 'the StatefulSet was deleted under running members',
    seen: { statefulSet: undefined },
    phase: 'Degraded',
    conditions: '-MembersMissing -Settled +MembersMissing -NothingToDo',
  },
  {
    what: 'a quota stops the first creation',
    seen: { statefulSet: undefined, pods: [], before: first, hindrance: quota },
    phase: 'Failed',
    conditions: '-QuotaExceeded -QuotaExceeded -NoMemberLost +QuotaExceeded',
  },
  {
    what: 'a quota stops a change of a running database',
    seen: { hindrance: quota },
    phase: 'Running',
    conditions: '+AllMembersReady -QuotaExceeded -NoMemberLost +QuotaExceeded',
  },
  {
    what: 'the API server does not answer during the first creation',
    seen: { statefulSet: undefined, pods: [], before: first, hindrance: outage },
    phase: 'Provisioning',
    conditions: '-ApiUnreachable -ApiUnreachable -NoMemberLost -NothingToDo',
  },
  {
    what: 'after a failure, members start',
    seen: { pods: [], before: { phase: 'Failed', readyReplicas: 0 } },
    phase: 'Provisioning',
    conditions: '-MembersStarting +MembersStarting -NoMemberLost -NothingToDo',
  },
  {
    what: 'a GitOps tool has applied nothing yet',
    seen: { isApplied: false, statefulSet: undefined, pods: [], before: first },
    phase: 'Pending',
    conditions: '-NotApplied -NotApplied -NoMemberLost -NothingToDo',
  },
  {
    what: 'what a GitOps tool applied runs',
    seen: { isApplied: false, before: { phase: 'Provisioning', readyReplicas: 2 } },
    phase: 'Running',
    conditions: '+AllMembersReady -Settled -NoMemberLost -NothingToDo',
  },
  {
    what: 'the object is being deleted',
    seen: { isDeleting: true },
    phase: 'Deleting',
    conditions: '-Deleting -Deleting -NoMemberLost -NothingToDo',
  },
];

for (const { what, seen, phase, conditions } of rows) {
  test(`${phase}: ${what}`, () => {
    const health = judge({ ...base, ...seen });
    const { ready, progressing, degraded, stalled } = health;
    const text = [ready, progressing, degraded, stalled].map(({ holds, reason }) => `${holds ? '+' : '-'}${reason}`);
    assert.deepEqual([health.phase, text.join(' ')], [phase, conditions]);
  });
}

test('each phase of the API occurs', () => {
  assert.deepEqual(new Set(rows.map(({ phase }) => phase)), new Set(phases));
});

test('the primary is the ready pod with the role; a label on a pod that is not ready counts for nothing', () => {
  const dead = pod('orders-0', { isPrimary: true, isReady: false });
  assert.equal(judge(base).primary, 'orders-0');
  const health = judge({ ...base, pods: [dead, pod('orders-1', { isPrimary: true }), pod('orders-2')] });
  assert.deepEqual([health.primary, health.readyReplicas], ['orders-1', 2]);
});

test('messages count members, name the pod in trouble, and keep a long error in one place', () => {
  const stuck = judge({ ...base, pods: [primary, pod('orders-1'), lost], trouble: noNode });
  assert.equal(stuck.ready.message, '2 of 3 members are ready. orders-2 finds no node.');
  const texts = (health: Health): readonly string[] =>
    [health.ready, health.available, health.progressing, health.degraded, health.stalled].map(({ message }) => message);
  const stalled = texts(judge({ ...base, hindrance: quota }));
  assert.equal(stalled.filter((text) => text.includes(quota.message)).length, 1, stalled.join('\n'));
});
