import type { Member, Observation } from '../../../controller/rollout/index.ts';

/** A member that is as the spec says. */
export function member(ordinal: number, more: Partial<Member> = {}): Member {
  return {
    name: `orders-${ordinal}`,
    ordinal,
    health: 'healthy',
    serves: (more.health ?? 'healthy') === 'healthy',
    isLeader: false,
    isPrimary: more.isLeader ?? false,
    need: 'nothing',
    isOfEdit: false,
    isRenewal: false,
    isLowered: false,
    hasRead: true,
    isCaughtUp: true,
    restart: undefined,
    isAsked: false,
    idleSince: undefined,
    isOverdue: false,
    hasFailedToStart: false,
    trouble: undefined,
    refused: {},
    slots: [],
    synced: [],
    ...more,
  };
}

/** Members by their differences from one that is as the spec says. */
export function members(...differences: readonly Partial<Member>[]): Observation {
  return {
    wanted: differences.length,
    isObserved: true,
    hasTemplate: true,
    isPaused: false,
    isSwitching: false,
    mayLose: [],
    members: differences.map((more, ordinal) => member(ordinal, more)),
  };
}
