import type { Phase } from '../../constructs/api/status.ts';
import type { Blocker } from '../database/blocker.ts';
import type { Reason } from '../database/reasons.ts';
import type { Facts } from './facts.ts';

/** What health is judged by. */
export interface Seen {
  readonly wanted: number;
  readonly statefulSet: Extract<Facts, { kind: 'StatefulSet' }> | undefined;
  readonly pods: readonly { readonly name: string; readonly facts: Extract<Facts, { kind: 'Pod' }> }[];
  readonly phaseBefore: Phase | undefined;
  readonly isDeleting: boolean;
  readonly isApplied: boolean;
  readonly blocker: Blocker | undefined;
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
  /** Name of the pod that is the ready primary. */
  readonly primary: string | undefined;
}

/** Judges a database by what is seen of it. Pure; each verdict has exactly one reason. */
export function judge(seen: Seen): Health {
  const primary = seen.pods.find(({ facts }) => facts.isPrimary && facts.isReady)?.name;
  const members = membersVerdict(seen);
  const phase = phaseOf(seen, members.holds && primary !== undefined);
  const isReady = phase === 'Running';
  return {
    phase,
    primary,
    ready: isReady ? members : { ...(members.holds ? noPrimary : members), holds: false },
    available:
      primary === undefined
        ? { ...noPrimary, holds: false }
        : { holds: true, reason: 'PrimaryReady', message: `${primary} is the primary.` },
    progressing: progress(seen, phase),
    degraded: { ...members, holds: phase === 'Degraded' },
    stalled: seen.blocker?.isStalled
      ? { holds: true, reason: seen.blocker.reason, message: seen.blocker.message }
      : { holds: false, reason: 'NothingToDo', message: 'Nothing hinders.' },
  };
}

const noPrimary = { reason: 'NoPrimary', message: 'No ready member is the primary.' } as const;

function membersVerdict(seen: Seen): Verdict {
  const { wanted, statefulSet: set, pods, blocker } = seen;
  const count = `${set?.ready ?? 0} of ${wanted} members are ready`;
  if (seen.isDeleting) return { holds: false, reason: 'Deleting', message: 'The object is being deleted.' };
  if (blocker !== undefined && set === undefined)
    return { holds: false, reason: blocker.reason, message: blocker.message };
  const trouble = pods.find(({ facts }) => facts.trouble !== undefined);
  if (trouble !== undefined) {
    return { holds: false, reason: 'PodTrouble', message: `${count}; ${trouble.name}: ${trouble.facts.trouble}` };
  }
  if (set === undefined || set.ready < wanted) {
    const reason = wasUp(seen.phaseBefore) ? 'MembersMissing' : 'MembersStarting';
    return { holds: false, reason, message: `${count}.` };
  }
  return { holds: true, reason: 'AllMembersReady', message: `${count}.` };
}

function phaseOf(seen: Seen, isUp: boolean): Phase {
  const { statefulSet: set, phaseBefore, blocker } = seen;
  if (seen.isDeleting) return 'Deleting';
  if (set === undefined) return blocker?.isStalled ? 'Failed' : seen.isApplied ? 'Provisioning' : 'Pending';
  if (isUp) return !set.isObserved || set.replicas > seen.wanted || !set.isRolledOut ? 'Updating' : 'Running';
  return wasUp(phaseBefore) ? 'Degraded' : 'Provisioning';
}

const wasUp = (phase: Phase | undefined): boolean =>
  phase === 'Running' || phase === 'Updating' || phase === 'Degraded';

function progress(seen: Seen, phase: Phase): Verdict {
  if (seen.blocker !== undefined) return { holds: false, reason: seen.blocker.reason, message: seen.blocker.message };
  switch (phase) {
    case 'Provisioning':
      return { holds: true, reason: 'MembersStarting', message: 'Members are starting for the first time.' };
    case 'Updating':
      return { holds: true, reason: 'MembersUpdating', message: 'Members are being brought to a new template.' };
    case 'Pending':
      return { holds: false, reason: 'NotApplied', message: 'A GitOps tool is to apply the manifests.' };
    case 'Running':
    case 'Degraded':
    case 'Failed':
    case 'Deleting':
      return { holds: false, reason: 'Settled', message: 'What is stated has been applied.' };
  }
}
