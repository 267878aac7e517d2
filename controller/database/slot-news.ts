import { memberNames } from '../../constructs/names.ts';
import { slotInWords, type LogicalSlot, type MemberSlots } from '../health/logical-slots.ts';
import { primaryOf } from '../health/primary.ts';
import type { Child } from './child.ts';
import { wantedMembers } from './observed-members.ts';

/** What is known of the logical slots of a database. */
export interface KnownSlots {
  /** The member that was the ready primary last. */
  readonly leader: string | undefined;
  /** By member; one that is being made anew keeps what it stated last. */
  readonly members: ReadonlyMap<string, MemberSlots>;
}

export type SlotReason = 'SlotLost' | 'SlotGone' | 'SlotCopyDropped' | 'SlotOnReplica';

export interface SlotNews {
  readonly type: 'Normal' | 'Warning';
  readonly reason: SlotReason;
  readonly message: string;
}

/**
 * What has become of logical slots since the last look: those that a failover lost, those that a member has no more though nobody can have dropped
 * them on the primary, and those that are on a replica. Pure.
 */
export function slotNews(
  database: string,
  before: KnownSlots | undefined,
  children: readonly Child[],
): { readonly known: KnownSlots; readonly news: readonly SlotNews[] } {
  const there = memberNames(database);
  const pods = children.flatMap(({ name, facts }) =>
    facts.kind === 'Pod' && there.includes(name) ? [{ name, facts }] : [],
  );
  const stated = new Map(pods.map(({ name, facts }) => [name, facts.member.slots]));
  const leader = primaryOf(pods)?.name ?? before?.leader;
  // Without a StatefulSet no member is known to be one too many.
  const wanted = wantedMembers(children, database) || there.length;
  const members = new Map(
    there.flatMap((name, ordinal) => {
      const last = ordinal < wanted ? before?.members.get(name) : undefined;
      const slots = stated.get(name) ?? last;
      return slots === undefined ? [] : [[name, slots] as const];
    }),
  );
  const known = { leader, members };
  return { known, news: [...lost(before, known), ...there.flatMap((name) => newsOf(name, before, known))] };
}

function lost(before: KnownSlots | undefined, { leader, members }: KnownSlots): readonly SlotNews[] {
  if (before?.leader === undefined || leader === undefined || leader === before.leader) return [];
  const { leader: last } = before;
  return (before.members.get(last)?.own ?? [])
    .filter(({ name }) => !has(before.members.get(leader), name) && !has(members.get(leader), name))
    .map((slot) => ({
      type: 'Warning',
      reason: 'SlotLost',
      message: `${leader} is the primary now and does not have ${slotInWords(slot)} of ${last}: its consumer has to begin anew with a slot there. The old one keeps WAL on ${last} until it is dropped there.`,
    }));
}

/** Of a member that is no primary. */
function newsOf(member: string, before: KnownSlots | undefined, { leader, members }: KnownSlots): readonly SlotNews[] {
  if (leader === undefined || member === leader) return [];
  const [was, is] = [before?.members.get(member), members.get(member)];
  const onPrimary = members.get(leader);
  const gone = missing(was, is).map((slot) => goneFrom(member, slot, owns(onPrimary, slot.name) ? leader : undefined));
  const found = missing(is, was).filter(({ name }) => !owns(onPrimary, name));
  return [...gone, ...found.map((slot) => foundOn(member, slot))];
}

/** The own slots of one that are none of the other. */
function missing(slots: MemberSlots | undefined, elsewhere: MemberSlots | undefined): readonly LogicalSlot[] {
  return (slots?.own ?? []).filter(({ name }) => !owns(elsewhere, name));
}

function goneFrom(member: string, slot: LogicalSlot, primary: string | undefined): SlotNews {
  if (primary === undefined) {
    return { type: 'Warning', reason: 'SlotGone', message: `${member} does not have ${slotInWords(slot)} any more.` };
  }
  const message = `The outdated copy of ${slotInWords(slot)} on ${member} is gone; ${primary} has the slot.`;
  return { type: 'Normal', reason: 'SlotCopyDropped', message };
}

function foundOn(member: string, slot: LogicalSlot): SlotNews {
  const message = `${member} is no primary and has ${slotInWords(slot)}: no failover carries it over, and it keeps WAL there. Drop it there if nobody reads it.`;
  return { type: 'Warning', reason: 'SlotOnReplica', message };
}

function owns(slots: MemberSlots | undefined, name: string): boolean {
  return slots?.own.some((slot) => slot.name === name) === true;
}

function has(slots: MemberSlots | undefined, name: string): boolean {
  return owns(slots, name) || slots?.synced.includes(name) === true;
}
