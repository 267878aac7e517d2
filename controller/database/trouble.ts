import type { Logger } from '../runtime/logger.ts';
import type { Blocker } from './blocker.ts';
import type { Outcome } from './delivery.ts';
import type { Memory } from './memory.ts';

/** How long the API server may fail before it is told in the status. */
const patienceMs = 2_000;

/**
 * The error to try again after, when the next try may have overcome it: then conditions would turn twice, on a server that has trouble enough.
 *
 * @param now milliseconds
 */
export function shortTrouble(blocker: Blocker | undefined, memory: Memory, now: number): unknown {
  if (blocker?.next.kind !== 'retry') {
    memory.troubledSince = undefined;
    return undefined;
  }
  memory.troubledSince ??= now;
  return now - memory.troubledSince < patienceMs ? blocker.next.error : undefined;
}

/**
 * The outcome without the changes that the next try may put back: those are told when they are. The first answer of a server that is just up is not
 * to be taken at its word: it may not know yet who has which rights.
 *
 * @param now milliseconds
 */
export function withoutShort(outcome: Outcome, memory: Memory, now: number): Outcome {
  const { troubledSince } = memory;
  const isFailing = outcome.blocker?.next.kind === 'retry';
  const isShort = isFailing ? now - (troubledSince ?? now) < patienceMs : troubledSince !== undefined;
  if (!isShort) return outcome;
  const left = [...outcome.left].filter(([key]) => !outcome.refused.has(key));
  return { ...outcome, left: new Map(left), refused: new Set() };
}

/** Tells the log what hinders, when that has changed. */
export function logHindrance(blocker: Blocker | undefined, memory: Memory, log: Logger): void {
  const hindrance = blocker && `${blocker.reason}: ${blocker.message}`;
  if (memory.hindrance === hindrance) return;
  memory.hindrance = hindrance;
  if (blocker === undefined) log.info({}, 'nothing hinders any more');
  else log.warn({ reason: blocker.reason }, blocker.message);
}
