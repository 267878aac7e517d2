import { handOver } from './hand-over.ts';
import type { Member, Observation } from './member.ts';
import type { Step } from './step.ts';

/** How many members there may be now, and what has to happen before there may be fewer. */
export interface Shrink {
  readonly replicas: number;
  readonly step: Step | undefined;
}

/**
 * Fewer members: those with the highest ordinals go, and the primary must not be among them. Pure.
 *
 * @param wanted what the spec asks for
 */
export function shrink(seen: Observation, wanted: number): Shrink {
  const { wanted: has, members, isSwitching, isPaused, mayLose } = seen;
  const leader = members.find(({ isLeader }) => isLeader);
  if (wanted >= has) return { replicas: wanted, step: undefined };
  const hold = (step: Step): Shrink => ({ replicas: has, step });
  if (leader === undefined) {
    // A database that never worked has nothing to hand over.
    const isDown = members.every(({ health }) => health === 'stuck' || health === 'absent');
    return isDown
      ? { replicas: wanted, step: undefined }
      : hold(wait('NoLeader', 'Fewer members have to wait for a primary.'));
  }
  if (leader.ordinal < wanted) return { replicas: wanted, step: undefined };
  if (isPaused) return hold(wait('Paused', 'Patroni is paused; resume it to go on.'));
  if (isSwitching) return hold(wait('SwitchingOver', 'A switchover is under way.'));
  const candidates = members.filter((member) => stays(member, wanted));
  if (candidates.length === 0) {
    return hold(wait('NoCandidate', `${leader.name} is to go and is the primary; no member that stays has caught up.`));
  }
  const message = `${leader.name} hands over, for it is to go.`;
  return hold(handOver({ from: leader, candidates, mayLose, isOpen: false, message }));
}

function stays({ ordinal, health, isCaughtUp }: Member, wanted: number): boolean {
  return ordinal < wanted && health === 'healthy' && isCaughtUp;
}

function wait(why: Extract<Step, { kind: 'wait' }>['why'], message: string): Step {
  return { kind: 'wait', why, message };
}
