import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import {
  contestsOver,
  isWithin,
  managedFields,
  unknownManager,
  type Contest,
  type Contests,
  type Drift,
} from '../drift/index.ts';
import { timestamp } from '../kube/index.ts';
import { replicas } from './additions.ts';
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

/** What others fight about; empty where it is not that. */
export function contestsIn(restraint: Restraint | undefined): readonly Contest[] {
  return restraint?.kind === 'contested' ? restraint.contests : [];
}

/** Whether a field is one that others fight about, in one, or around one. */
export function isFoughtOver(contests: readonly Contest[], field: string): boolean {
  return contests.some(({ drift }) => isWithin(field, drift.field) || isWithin(drift.field, field));
}

/** Whether others fight about whether the object is there, or is ours at all. */
export function isFightForAll(contests: readonly Contest[]): boolean {
  return contests.some(({ drift }) => drift.field === '' || drift.field === managedFields);
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
export function contestInWords(contest: Contest, resource: StoredDatabaseService): string {
  const { drift, rivals: managers, until = 0 } = contest;
  const { object, field, was, now } = drift;
  const what = field === '' ? object : `${field} of ${object}`;
  const values = now === undefined || was === undefined ? '' : ` (${now} and ${was})`;
  const give = lineToGive(drift, managers, resource);
  const isWipe = field === managedFields;
  const keep = managers.every((manager) => manager.startsWith('argocd'))
    ? `ignoreDifferences: [{group: "*", kind: ${object.split('/')[0]}, managedFieldsManagers: [${fieldManager}]}] in its Application`
    : managers[0] === fieldManager
      ? 'stop the other one'
      : 'take it out of what it writes';
  // Nothing gives away what is lost to all.
  const toGive = isWipe ? '' : ` To let it be so: ${give}.`;
  return `${inList(managers.map(nameOf))} and Plumbline keep changing ${what}${values}; it is left until ${timestamp(until)}.${toGive} To have it as the spec says: ${isWipe ? 'find out who wipes it' : keep}.`;
}

/** The line of YAML that leaves a field to those who want it. Whatever names they gave themselves, it says that and no more. */
function lineToGive({ field }: Drift, managers: readonly string[], { spec }: StoredDatabaseService): string {
  const isNamed = managers.every((manager) => manager !== unknownManager && manager !== fieldManager);
  const areVolumesAtStake = field === replicas && spec.storage.onDelete === 'Delete';
  if (!isNamed || managers.length > mostNamed || !field.startsWith('spec.') || areVolumesAtStake) {
    return 'drift: {policy: Report}';
  }
  const allowed = [...new Set([...(spec.drift?.allowManagers ?? []), ...managers])];
  return `drift: {allowManagers: [${allowed.map(scalar).join(', ')}]}`;
}

/** A text in a list of YAML: plain where nothing in it could be taken for anything else, otherwise as JSON, which YAML includes. */
function scalar(text: string): string {
  const isPlain = /^[A-Za-z][\w./-]*$/.test(text) && !/^(true|false|yes|no|on|off|null|y|n)$/i.test(text);
  return isPlain ? text : JSON.stringify(text);
}

const mostNamed = 3;

function inList(names: readonly string[]): string {
  const shown = names.length > mostNamed ? [...names.slice(0, mostNamed), `${names.length - mostNamed} more`] : names;
  return shown.join(', ');
}

function nameOf(manager: string): string {
  if (manager === fieldManager) return 'Somebody under the name of Plumbline';
  return manager === unknownManager ? 'Somebody' : manager;
}
