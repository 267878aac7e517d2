import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { contestsOver, type Contest, type Contests } from '../drift/index.ts';
import { timestamp } from '../kube/index.ts';
import { fieldManager } from './child.ts';

/** Why drift of an object is left as it is for a time, though drift.policy is Correct. */
export type Restraint =
  | { readonly kind: 'paused'; readonly until: number }
  /** Never empty. */
  | { readonly kind: 'contested'; readonly contests: readonly Contest[] };

/** Until when nothing is corrected, in milliseconds; undefined where that is over or was never asked for. */
export function pauseEnd({ spec }: StoredDatabaseService, now: number): number | undefined {
  const until = Date.parse(spec?.drift?.pause?.until ?? '');
  return until > now ? until : undefined;
}

/** @param object such as `StatefulSet/orders` */
export function restraintOf(
  resource: StoredDatabaseService,
  contests: Contests,
  object: string,
  now: number,
): Restraint | undefined {
  const until = pauseEnd(resource, now);
  if (until !== undefined) return { kind: 'paused', until };
  const over = contestsOver(contests, object, now);
  return over.length === 0 ? undefined : { kind: 'contested', contests: over };
}

/** The object of a key: `StatefulSet/orders` of `StatefulSet/shop/orders`. */
export function objectOf(key: string): string {
  const [kind, , name] = key.split('/');
  return `${kind}/${name}`;
}

/** When a restraint ends, in milliseconds. */
export function endOf(restraint: Restraint): number {
  if (restraint.kind === 'paused') return restraint.until;
  return Math.max(...restraint.contests.map(({ until = 0 }) => until));
}

/** A fight in sentences: who, what both say, and what ends it, either way. */
export function contestInWords({ drift, until = 0 }: Contest): string {
  const { object, field, was, now, editor } = drift;
  const { manager } = editor;
  const what = field === '' ? object : `${field} of ${object}`;
  const isAnother = manager === fieldManager;
  const who = isAnother ? 'Somebody under the name of Plumbline' : manager === 'unknown' ? 'Somebody' : manager;
  const values = now === undefined || was === undefined ? '' : ` (${now} and ${was})`;
  const isGivable = manager !== 'unknown' && !isAnother && field.startsWith('spec.');
  const give = isGivable ? `drift: {allowManagers: [${manager}]}` : 'drift: {policy: Report}';
  const keep = manager.startsWith('argocd')
    ? `ignoreDifferences: [{group: "*", kind: ${object.split('/')[0]}, managedFieldsManagers: [${fieldManager}]}] in its Application`
    : isAnother
      ? 'stop the other one'
      : 'take it out of what it writes';
  return `${who} and Plumbline keep changing ${what}${values}; it is left until ${timestamp(until)}. To let it be so: ${give}. To have it as the spec says: ${keep}.`;
}
