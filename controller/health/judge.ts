import type { Phase } from '../../constructs/api/status.ts';
import type { Facts } from './facts.ts';
import { primaryOf } from './primary.ts';
import type { Reason } from './reasons.ts';

/** What health is judged by. */
export interface Seen {
  /** Members that the spec asks for. */
  readonly wanted: number;
  readonly statefulSet: Extract<Facts, { kind: 'StatefulSet' }> | undefined;
  /** In the order of their names. */
  readonly pods: readonly { readonly name: string; readonly facts: Extract<Facts, { kind: 'Pod' }> }[];
  /** What the last status said; it remembers what was up once. */
  readonly before: { readonly phase: Phase | undefined; readonly readyReplicas: number };
  /** The spec is newer than the last status. */
  readonly isSpecNew: boolean;
  readonly isDeleting: boolean;
  /** By Plumbline, and not by a GitOps tool. */
  readonly isApplied: boolean;
  readonly hindrance: Hindrance | undefined;
  /** Why members do not run, though what is stated was applied. */
  readonly trouble?: Hindrance | undefined;
  /** What a rollout is about, in a sentence. */
  readonly rollout?: string | undefined;
  /** Who is missing because the rollout has it so. */
  readonly absence?: Absence | undefined;
}

/** A member that a rollout has taken down, or has hand over, and that is not back yet. */
export interface Absence {
  readonly member: string;
  /** How many other members were ready then. */
  readonly others: number;
  /** It was the primary, so that for a moment there is none. */
  readonly isPrimary: boolean;
}

/** Why what is stated could not be made true. */
export interface Hindrance {
  readonly reason: Reason;
  /** A sentence: what, where, and what to do. */
  readonly message: string;
  /** Nothing changes until somebody does something. */
  readonly isStalled: boolean;
}

export interface Verdict {
  readonly holds: boolean;
  readonly reason: Reason;
  readonly message: string;
}

export interface Health {
  readonly phase: Phase;
  readonly ready: Verdict;
  readonly available: Verdict;
  readonly progressing: Verdict;
  readonly degraded: Verdict;
  readonly stalled: Verdict;
  /** Members that are ready. Counted from the pods: the StatefulSet's own count lags where its controller stands still. */
  readonly readyReplicas: number;
  /** Name of the pod that is the ready primary. */
  readonly primary: string | undefined;
}

/** Judges a database by what is seen of it. Pure; each verdict has exactly one reason. */
export function judge(seen: Seen): Health {
  const readyReplicas = seen.pods.filter(({ facts }) => facts.isReady).length;
  const primary = primaryOf(seen.pods)?.name;
  const phase = phaseOf(seen, readyReplicas, primary);
  const members = membersVerdict(seen, phase, readyReplicas, primary);
  return {
    phase,
    readyReplicas,
    primary,
    ready: members,
    available: primary === undefined ? noPrimary : verdict(true, 'PrimaryReady', `${primary} is the primary.`),
    progressing: progressVerdict(seen, phase),
    degraded:
      phase === 'Degraded'
        ? { ...members, holds: true }
        : verdict(false, 'NoMemberLost', 'No member that was ready is missing.'),
    stalled: stalledVerdict(seen, phase),
  };
}

function verdict(holds: boolean, reason: Reason, message: string): Verdict {
  return { holds, reason, message };
}

const noPrimary = verdict(false, 'NoPrimary', 'No ready member is the primary.');

function phaseOf(seen: Seen, ready: number, primary: string | undefined): Phase {
  const { statefulSet: set, before, hindrance, wanted } = seen;
  const wasUp = before.phase === 'Running' || before.phase === 'Updating' || before.phase === 'Degraded';
  if (seen.isDeleting) return 'Deleting';
  if (set === undefined && hindrance?.isStalled) return 'Failed';
  if (set === undefined && !wasUp) return seen.isApplied ? 'Provisioning' : 'Pending';
  const isWhole =
    set !== undefined && ready >= wanted && primary !== undefined && idleReplica(seen, primary) === undefined;
  if (!wasUp && (!isWhole || !isSetUp(seen, primary))) return 'Provisioning';
  if (isWhole) return isMoving(set, seen) ? 'Updating' : 'Running';
  return set === undefined || isLoss(seen, ready, primary) || before.phase === 'Degraded' ? 'Degraded' : 'Updating';
}

/** Members that the spec has added are no loss, nor is the one that a rollout has just taken down. */
function isLoss(seen: Seen, ready: number, primary: string | undefined): boolean {
  const { before, wanted, rollout, absence, pods } = seen;
  if (rollout === undefined || absence === undefined) {
    const isOutOfStep = before.phase === 'Running' && rollout === undefined && idleReplica(seen, primary) !== undefined;
    return ready < before.readyReplicas || primary === undefined || isOutOfStep;
  }
  const others = pods.filter(({ name, facts }) => facts.isReady && name !== absence.member).length;
  return others < Math.min(absence.others, wanted - 1) || (primary === undefined && !absence.isPrimary);
}

/** The first ready replica that does not stream. Patroni calls a server ready that only runs. */
function idleReplica({ pods }: Seen, primary: string | undefined): string | undefined {
  return pods.find(({ name, facts }) => facts.isReady && name !== primary && !facts.member.isStreaming)?.name;
}

/** A primary states its settings once it has made the roles and the database. */
function isSetUp({ pods }: Seen, primary: string | undefined): boolean {
  return pods.some(({ name, facts }) => name === primary && facts.member.settings !== undefined);
}

/** Until its controller has seen a change its numbers are of before; then a new spec counts as under way, a repair does not. */
function isMoving(set: NonNullable<Seen['statefulSet']>, { isSpecNew, before, wanted, rollout }: Seen): boolean {
  if (rollout !== undefined) return true;
  if (!set.isObserved) return isSpecNew || before.phase !== 'Running';
  return set.replicas > wanted;
}

function membersVerdict(seen: Seen, phase: Phase, ready: number, primary: string | undefined): Verdict {
  const { wanted, statefulSet, hindrance, trouble } = seen;
  const count = `${ready} of ${wanted} members are ready`;
  if (phase === 'Running') return verdict(true, 'AllMembersReady', `${count}.`);
  if (phase === 'Deleting') return verdict(false, 'Deleting', 'The object is being deleted.');
  if (hindrance !== undefined && statefulSet === undefined) return verdict(false, hindrance.reason, hindrance.message);
  if (phase === 'Pending') return notApplied;
  if (trouble !== undefined) return verdict(false, trouble.reason, `${count}. ${trouble.message}`);
  if (ready >= wanted && primary === undefined) return noPrimary;
  const idle = ready >= wanted ? idleReplica(seen, primary) : undefined;
  if (phase === 'Provisioning' && ready >= wanted && !isSetUp(seen, primary)) {
    return verdict(false, 'RolesMissing', `${count}; ${primary} has yet to make the roles and the database.`);
  }
  if (idle !== undefined) return verdict(false, 'ReplicaNotStreaming', `${count}; ${idle} does not stream.`);
  if (phase === 'Degraded') return verdict(false, 'MembersMissing', `${count}.`);
  return verdict(false, phase === 'Updating' ? 'MembersUpdating' : 'MembersStarting', `${count}.`);
}

const notApplied = verdict(false, 'NotApplied', 'A GitOps tool is to apply the manifests.');

/** While a rollout goes on, what it tries is taken back by itself. */
function isStuck({ trouble, rollout }: Seen, phase: Phase): boolean {
  return trouble?.isStalled === true && rollout === undefined && phase !== 'Running' && phase !== 'Deleting';
}

function stalledVerdict(seen: Seen, phase: Phase): Verdict {
  const { hindrance, trouble } = seen;
  if (hindrance?.isStalled) return verdict(true, hindrance.reason, hindrance.message);
  // The message stands in Ready.
  if (trouble !== undefined && isStuck(seen, phase)) {
    return verdict(true, trouble.reason, 'Members cannot go on; the condition Ready says why.');
  }
  return verdict(false, 'NothingToDo', 'Nothing hinders.');
}

function progressVerdict(seen: Seen, phase: Phase): Verdict {
  const { hindrance, rollout } = seen;
  if (hindrance !== undefined) {
    const message = hindrance.isStalled ? 'It cannot go on; the condition Stalled says why.' : hindrance.message;
    return verdict(false, hindrance.reason, message);
  }
  if (rollout !== undefined && phase !== 'Deleting') return verdict(true, 'MembersUpdating', rollout);
  if (isStuck(seen, phase)) {
    return verdict(false, 'Settled', 'What is stated has been applied; the condition Ready says why members wait.');
  }
  switch (phase) {
    case 'Provisioning':
      return verdict(true, 'MembersStarting', 'Members are starting for the first time.');
    case 'Updating':
      return verdict(true, 'MembersUpdating', 'Members are being added, removed or brought to a new template.');
    case 'Pending':
      return notApplied;
    case 'Deleting':
      return verdict(false, 'Deleting', 'The object is being deleted.');
    case 'Running':
    case 'Degraded':
    case 'Failed':
      return verdict(false, 'Settled', 'What is stated has been applied.');
  }
}
