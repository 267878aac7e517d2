import type { Facts } from './facts.ts';

/**
 * The member that is the ready primary. Two may look like it for a while: one that is frozen or cut off from the API server cannot take its label
 * off. Each promotion begins a new timeline, so the one with the higher is it. Pure.
 */
export function primaryOf<T extends { readonly facts: Extract<Facts, { kind: 'Pod' }> }>(
  pods: Iterable<T>,
): T | undefined {
  return [...pods]
    .filter(({ facts }) => facts.isPrimary && facts.isReady)
    .reduce<T | undefined>(
      (best, one) => (best === undefined || one.facts.member.timeline > best.facts.member.timeline ? one : best),
      undefined,
    );
}
