import { loseSlotsAnnotation } from '../../constructs/labels.ts';
import { slotsInWords, type LogicalSlot } from '../health/logical-slots.ts';
import type { Member } from './member.ts';
import type { Step } from './step.ts';

/** How a primary is to hand over. */
export interface HandOver {
  readonly from: Member;
  /** All may lead; there is at least one. */
  readonly candidates: readonly Member[];
  /** Names of logical slots that may be lost. */
  readonly mayLose: readonly string[];
  /** Whoever is in step may take over, should that be quicker. */
  readonly isOpen: boolean;
  /** A sentence: who hands over, and why. */
  readonly message: string;
}

/**
 * A switchover to a member that goes on with every logical slot of the primary, but for those that may be lost; where there is none, it waits for
 * somebody to say so. A slot that only the old primary has is lost to its consumer, without an error. Pure.
 */
export function handOver({ from, candidates, mayLose, isOpen, message }: HandOver): Step {
  const losses = candidates
    .map((candidate) => ({ candidate, lost: lostWith(from, candidate) }))
    .toSorted((a, b) => a.lost.length - b.lost.length);
  const heirs = losses.filter(({ lost }) => lost.every(({ name }) => mayLose.includes(name)));
  const [first] = heirs;
  if (first === undefined) {
    const kept = losses.map(({ lost }) => lost.filter(({ name }) => !mayLose.includes(name)));
    const [fewest = []] = kept.toSorted((a, b) => a.length - b.length);
    return { kind: 'wait', why: 'SlotAtRisk', message: atRisk(from.name, fewest) };
  }
  const given = first.lost.length === 0 ? '' : ` It loses ${slotsInWords(first.lost)}, as ${loseSlotsAnnotation} says.`;
  return {
    kind: 'switchover',
    from: from.name,
    candidates: heirs.map(({ candidate }) => candidate.name),
    isOpen:
      isOpen && heirs.length === candidates.length && losses.every(({ lost }) => lost.length === first.lost.length),
    message: `${message}${given}`,
  };
}

/** The slots that a member has made and another one could not go on with. */
function lostWith({ slots }: Member, { synced }: Member): readonly LogicalSlot[] {
  return slots.filter(({ name }) => !synced.includes(name));
}

function atRisk(primary: string, slots: readonly LogicalSlot[]): string {
  const names = slots.map(({ name }) => name).join(',');
  const way = slots.every(({ isFailover }) => isFailover)
    ? 'The replicas do not have it in step yet: let its consumer go on'
    : 'From PostgreSQL 17 on a slot that is made with failover => true is carried over: make it anew so';
  return `A switchover would lose ${slotsInWords(slots)} of ${primary}, so it waits. ${way}, or drop it, or give it up by the annotation ${loseSlotsAnnotation}: "${names}".`;
}
