import { restartedAtAnnotation } from '../../constructs/labels.ts';
import { handOver } from './hand-over.ts';
import type { Member, Observation } from './member.ts';

/** What a rollout does next, with the reason in words. */
export type Step =
  /** Every member is as the spec says. */
  | { readonly kind: 'done' }
  /** Nothing can be done before something happens by itself, or by somebody. */
  | { readonly kind: 'wait'; readonly why: Wait; readonly message: string }
  /** The pod is deleted; the StatefulSet makes it again from the new template. `isReplica`: not if it has become the primary. */
  | { readonly kind: 'replace'; readonly member: string; readonly isReplica: boolean; readonly message: string }
  /** The server is restarted in its pod. `isReplica`: not if it has become the primary. */
  | {
      readonly kind: 'restart';
      readonly member: string;
      readonly isReplica: boolean;
      /** What it is asked for by: another for each need. */
      readonly token: string;
      readonly message: string;
    }
  /** The primary hands over to one of these, the first that can. */
  | {
      readonly kind: 'switchover';
      readonly from: string;
      readonly candidates: readonly string[];
      /** Whoever is in step may take over, should that be quicker. */
      readonly isOpen: boolean;
      readonly message: string;
    };

/** A step that changes something. */
export type Action = Exclude<Step, { readonly kind: 'done' } | { readonly kind: 'wait' }>;

export type Wait =
  | 'NotObserved'
  | 'NotApplied'
  | 'Paused'
  | 'MemberMissing'
  | 'MemberStuck'
  | 'SettingsUnread'
  | 'SettingsRefused'
  | 'NoLeader'
  | 'CatchingUp'
  | 'Restarting'
  | 'SwitchingOver'
  | 'NoCandidate'
  | 'SlotAtRisk';

/**
 * The next step of a rollout. Pure. The rules, in this order:
 * nothing on outdated observations, before the StatefulSet has the template that members are to be made from, on settings that a member of the new template refuses, or while Patroni is paused; nothing while a member is missing, but one that
 * cannot start as it is goes first, after a switchover if its server leads all the same; a primary whose lower settings its standbys have to wait for; replicas, the last ordinal first, each only when all others have caught up;
 * a switchover to a member that is done and loses no logical slot that somebody has not given up; the old primary last.
 */
export function nextStep(seen: Observation): Step {
  const { members } = seen;
  if (!seen.isObserved) return wait('NotObserved', 'Kubernetes has not taken in the newest template yet.');
  if (members.every(isDone)) return { kind: 'done' };
  if (!seen.hasTemplate && members.some(({ need }) => need === 'replacement'))
    return wait('NotApplied', 'The StatefulSet does not have the newest template yet.');
  const refusing = members.find((member) => member.need !== 'replacement' && refuses(member));
  if (refusing !== undefined)
    return wait('SettingsRefused', `PostgreSQL refuses ${Object.keys(refusing.refused).join(', ')}.`);
  if (seen.isPaused) return wait('Paused', 'Patroni is paused; resume it to go on.');
  const unhealthy = members.filter(({ health }) => health !== 'healthy');
  if (unhealthy.length > 0) return mend(seen, unhealthy);
  if (seen.isSwitching) return wait('SwitchingOver', 'A switchover is under way.');
  const asked = members.find(({ isAsked }) => isAsked);
  if (asked !== undefined) return wait('Restarting', `${asked.name} restarts its server.`);
  const leader = members.find(({ isLeader }) => isLeader);
  if (leader === undefined) return wait('NoLeader', 'No ready member is the primary.');
  const unread = members.find(({ hasRead }) => !hasRead);
  if (unread !== undefined) return wait('SettingsUnread', `${unread.name} has yet to read the settings.`);
  if (leader.isLowered && !refuses(leader))
    return restart(leader, 'a standby needs these settings as high as those of its primary');
  return nextReplica(seen, leader) ?? lastOfAll(seen, leader);
}

/** Room for fewer members first, unless that has to wait itself: then whatever else is due may be what it waits for. */
export function stepWith(before: Step | undefined, seen: Observation): Step {
  if (before?.kind === 'switchover') return before;
  const next = nextStep(seen);
  return next.kind === 'done' ? (before ?? next) : next;
}

function isDone(member: Member): boolean {
  return member.health === 'healthy' && member.need === 'nothing' && member.hasRead && !refuses(member);
}

/** A member that refuses one of the settings is not restarted for the others. */
function refuses({ refused }: Member): boolean {
  return Object.keys(refused).length > 0;
}

/**
 * A member that cannot start as it is costs nothing to replace, and others may wait for it; nothing else is taken down meanwhile, not even one of
 * which all but the server fails.
 */
function mend(seen: Observation, unhealthy: readonly Member[]): Step {
  const leads = leadsUnready(seen);
  const isOneDown = seen.members.some(({ serves }) => !serves);
  const mayGo = (member: Member): boolean => member === leads || !(isOneDown && member.serves);
  const outdated = unhealthy.filter((member) => member.need === 'replacement' && isHopeless(member) && mayGo(member));
  const last = outdated.findLast((member) => member !== leads) ?? outdated[0];
  if (last !== undefined && last === leads) return relieve(seen, last);
  if (last !== undefined) {
    const why = last.isRenewal ? 'it does not start' : 'it cannot start from the old template';
    return replace(last, why, isFollowed(seen));
  }
  const moving = unhealthy.find(({ health }) => health !== 'stuck');
  if (moving !== undefined) return wait('MemberMissing', `${moving.name} is not there yet.`);
  return wait('MemberStuck', `${unhealthy[0]?.name} does not start.`);
}

function isHopeless({ health, isOverdue }: Member): boolean {
  return health === 'stuck' || (health === 'working' && isOverdue);
}

/** A container of the primary's pod may fail, the steward's say, while its server leads: then replicas stream, and none of the ready is the primary. */
function isFollowed({ members }: Observation): boolean {
  return members.some(({ health }) => health === 'healthy') && !members.some(({ isLeader }) => isLeader);
}

function leadsUnready(seen: Observation): Member | undefined {
  return isFollowed(seen) ? seen.members.find(({ isPrimary }) => isPrimary) : undefined;
}

function relieve({ members, isSwitching, mayLose }: Observation, leader: Member): Step {
  if (isSwitching) return wait('SwitchingOver', 'A switchover is under way.');
  const candidates = members.filter(({ health, isCaughtUp }) => health === 'healthy' && isCaughtUp);
  if (candidates.length === 0) return wait('CatchingUp', `No replica has caught up with ${leader.name}.`);
  const why = leader.isRenewal ? 'does not start' : 'cannot start from the old template';
  const message = `${leader.name} hands over, for it ${why}.`;
  return handOver({ from: leader, candidates, mayLose, isOpen: false, message });
}

function nextReplica({ members }: Observation, leader: Member): Step | undefined {
  const replicas = members.filter((member) => member !== leader);
  // A standby keeps what its primary has, so it restarts in vain for less before one that takes the new settings leads.
  const isInVain = ({ need, isLowered }: Member): boolean => need === 'restart' && isLowered && refuses(leader);
  const next = replicas.findLast((member) => member.need !== 'nothing' && !isInVain(member));
  if (next === undefined) return undefined;
  const late = replicas.find((member) => member !== next && !member.isCaughtUp);
  if (late !== undefined) return wait('CatchingUp', `${late.name} catches up with the primary.`);
  return next.need === 'replacement' ? replace(next, 'it is a replica') : restart(next, 'it is a replica');
}

function lastOfAll({ members, mayLose }: Observation, leader: Member): Step {
  if (members.length === 1) {
    return leader.need === 'replacement'
      ? replace(leader, 'it is the only member')
      : restart(leader, 'it is the only member');
  }
  const replicas = members.filter((member) => member !== leader);
  const late = replicas.find(({ isCaughtUp }) => !isCaughtUp);
  if (late !== undefined) return wait('CatchingUp', `${late.name} catches up with the primary.`);
  const message = `${leader.name} hands over, for it is the last to be renewed.`;
  return handOver({ from: leader, candidates: replicas, mayLose, isOpen: true, message });
}

function wait(why: Wait, message: string): Step {
  return { kind: 'wait', why, message };
}

/** @param isReplica not if it has become the primary. Defaults to what it was seen to be */
function replace(member: Member, because: string, isReplica = !member.isLeader): Step {
  const { name } = member;
  return { kind: 'replace', member: name, isReplica, message: `${name} is made again${reason(member)}: ${because}.` };
}

function reason({ isOfEdit, isRenewal }: Member): string {
  if (isRenewal) return `, as ${restartedAtAnnotation} asks`;
  return isOfEdit ? ' from the template, which somebody had changed when it was made' : ' from the new template';
}

function restart({ name, isLeader, restart: token = '' }: Member, because: string): Step {
  return {
    kind: 'restart',
    member: name,
    isReplica: !isLeader,
    token,
    message: `${name} restarts its server for new settings: ${because}.`,
  };
}
