import type { Absence } from '../health/judge.ts';
import type { Action, Observation } from '../rollout/index.ts';

/** An absence that a step of a rollout has caused, and how its end is told. */
export interface PlannedAbsence extends Absence {
  readonly kind: Action['kind'];
  /** Of the pod then. */
  readonly uid: string;
}

/** What a step does to the members that were seen before it. Pure. @param uid of the step's pod */
export function absenceBy(step: Action, { members }: Observation, uid: string): PlannedAbsence {
  const { kind } = step;
  const member = kind === 'switchover' ? step.from : step.member;
  const others = members.filter(({ name, health }) => name !== member && health === 'healthy').length;
  return { kind, member, uid, others, isPrimary: kind === 'switchover' || !step.isReplica };
}

/** Whether the member is back, as it was to be, or did not go at all. Pure. @param now uid of its pod */
export function isOver({ kind, member, uid }: PlannedAbsence, seen: Observation, now: string | undefined): boolean {
  const found = seen.members.find(({ name }) => name === member);
  if (found === undefined) return true;
  const isBack = found.health === 'healthy';
  switch (kind) {
    case 'replace':
      // The watch may still show the one that was taken down.
      return isBack && now !== uid;
    case 'restart':
      return isBack && found.need !== 'restart';
    case 'switchover': {
      const leader = seen.members.find(({ isLeader }) => isLeader) ?? found;
      return leader === found ? !seen.isSwitching : isBack;
    }
  }
}
