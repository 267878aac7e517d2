import type { Facts } from '../health/facts.ts';
import type { Child } from './child.ts';

type Pod = Extract<Facts, { kind: 'Pod' }>;

/** How far a member has come. */
export interface Advance {
  /** The farthest in the WAL that it was seen, in bytes. */
  readonly position: number;
  /** Ready, and primary or streaming. */
  readonly isInOrder: boolean;
  /** When it was last seen to be in order, to have gone on, or not to be in order any more, in milliseconds. */
  readonly at: number;
}

/** By the uid of the pod. */
export type Advances = ReadonlyMap<string, Advance>;

export const noAdvances: Advances = new Map();

/**
 * Notes how far the members have come. Pure. A server that replays says that it runs as soon as its data is consistent, and only its position tells
 * that it goes on. One that ends and replays the same again gets no farther. What was before the first look nobody knows: it counts from then.
 *
 * @param now milliseconds of the wall clock
 */
export function advancesOf(before: Advances, children: readonly Child[], now: number): Advances {
  return new Map(
    children.flatMap(({ uid, facts }): [string, Advance][] =>
      facts.kind === 'Pod' ? [[uid, advance(before.get(uid), facts, now)]] : [],
    ),
  );
}

function advance(before: Advance | undefined, facts: Pod, now: number): Advance {
  const { position = 0, isInOrder: wasInOrder = false, at = facts.movedAt } = before ?? {};
  const isInOrder = isServing(facts, facts.isPrimary);
  const hasMoved = isInOrder || wasInOrder || facts.position > position;
  return { position: Math.max(position, facts.position), isInOrder, at: hasMoved ? now : at };
}

/** Whether a member does what it is there for. @param leads as the primary; a replica has to stream */
export function isServing({ isReady, member }: Pod, leads: boolean): boolean {
  return isReady && member.server === 'running' && (leads || member.isStreaming);
}
