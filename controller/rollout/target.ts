import { lastStable, type History } from './history.ts';
import { revisionDigest, type Revision } from './revision.ts';

/** What the members are to run on, and whose wish that is. */
export type Target =
  | { readonly kind: 'spec'; readonly revision: Revision }
  /** The spec was tried and taken back. */
  | { readonly kind: 'taken-back'; readonly revision: Revision }
  /** The annotation asks for an entry of the history. */
  | { readonly kind: 'asked'; readonly revision: Revision; readonly number: number }
  /** The annotation asks for an entry that is not there: nothing changes until it is corrected. */
  | { readonly kind: 'unknown'; readonly revision: Revision; readonly asked: string };

/**
 * Chooses between the spec, an older entry that an annotation asks for, and the last stable entry after the spec was refused. Pure.
 *
 * @param asked the value of the annotation: the number of an entry
 */
export function targetOf(own: Revision, history: History, asked: string | undefined): Target {
  const stable = lastStable(history)?.revision;
  if (asked !== undefined) {
    const found = history.stable.find(({ number }) => String(number) === asked.trim());
    if (found !== undefined) return { kind: 'asked', revision: found.revision, number: found.number };
    return { kind: 'unknown', revision: stable ?? own, asked };
  }
  const isRefused = history.refused?.digest === revisionDigest(own);
  return isRefused && stable !== undefined ? { kind: 'taken-back', revision: stable } : { kind: 'spec', revision: own };
}
