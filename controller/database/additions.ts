import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import type { DatabaseServiceStatus } from '../../constructs/api/status.ts';
import { additionOf, episodes, inWords, isWithin, readable, type Drift, type Foreign } from '../drift/index.ts';
import { keyOfChild, type Child } from './child.ts';
import type { Memory } from './memory.ts';

/** What others may have. */
export interface Leeway {
  readonly resource: StoredDatabaseService;
  /** There are more members than the spec asks for: fewer have to wait for a primary that stays. */
  readonly isHeld: boolean;
}

/** Whether somebody else may have a field: drift.allowManagers says so, or it holds members that must not go yet. */
export function isAllowed({ resource, isHeld }: Leeway, { editor, path }: Pick<Foreign, 'editor' | 'path'>): boolean {
  const isByManager = resource.spec.drift?.allowManagers?.includes(editor.manager) === true;
  return isByManager || (isHeld && readable(path) === replicas);
}

/** How many members there are. */
export const replicas = 'spec.replicas';

/** What others added to an object, and nothing allows. @param left what they changed of ours, and is left to them: no addition */
export function additionsTo(
  { kind, name, foreign }: Child,
  leeway: Leeway,
  left: readonly Drift[] = [],
): readonly (Foreign & { readonly drift: Drift })[] {
  if (foreign.length === 0 || leeway.resource.spec.drift?.additions === 'Allow') return [];
  // All of what stands in the place of ours is somebody's, also what says the same.
  if (left.some(({ field }) => field === '')) return [];
  return foreign
    .filter((one) => !isAllowed(leeway, one))
    .map((one) => ({ ...one, drift: additionOf(`${kind}/${name}`, one) }))
    .filter(({ drift }) => !left.some(({ field }) => isWithin(field, drift.field) || isWithin(drift.field, field)));
}

/**
 * Notes what others added and is left alone.
 *
 * @param children what is stated and was found or made true, or left as it is
 * @param isLeft whether the object of a key is left as it is for a time
 * @returns what nobody was told of yet
 */
export function noteAdditions(
  memory: Memory,
  children: readonly Child[],
  leeway: Leeway,
  isLeft: (key: string) => boolean,
): readonly Drift[] {
  const before = memory.added;
  const { resource } = leeway;
  const { policy, additions } = resource.spec?.drift ?? {};
  const added = children.map((child) => {
    const key = keyOfChild(child);
    // What is to be removed either is, or a hindrance says why not.
    if (additions === 'Remove' && policy !== 'Report' && !isLeft(key)) return [key, []] as const;
    // What has not been judged yet may be a change of ours, or what is about to go.
    if (child.suspect !== undefined) return [key, before.get(key)] as const;
    return [key, additionsTo(child, leeway, memory.left.get(key)).map(({ drift }) => drift)] as const;
  });
  // Whatever the order in which they became known, the status says the same.
  memory.added = new Map(
    added
      .flatMap(([key, drifts]) => (drifts === undefined ? [] : [[key, drifts] as const]))
      .toSorted(([a], [b]) => a.localeCompare(b)),
  );
  // What happened before this process began, only the status tells.
  const isTold = (key: string, drift: Drift): boolean =>
    before.get(key)?.some((told) => isSameAddition(told, drift)) ?? isInStatus(drift, resource.status);
  const fresh = [...memory.added].flatMap(([key, drifts]) => drifts.filter((drift) => !isTold(key, drift)));
  memory.untold = { ...memory.untold, reported: [...memory.untold.reported, ...fresh] };
  return fresh;
}

/** Another value is for whoever has added it to choose. */
function isSameAddition(a: Drift, b: Drift): boolean {
  return a.object === b.object && a.field === b.field && a.editor.manager === b.editor.manager;
}

/** Receipts make way for newer ones; the condition tells of what is there. */
function isInStatus(drift: Drift, status: DatabaseServiceStatus | undefined): boolean {
  const receipts = status?.drift?.receipts ?? [];
  const { object, field, editor } = drift;
  const isReceipt = receipts.some(
    (one) =>
      one.action === 'Reported' && one.object === object && one.field === field && one.manager === editor.manager,
  );
  const told = status?.conditions?.find(({ type }) => type === 'Drifted')?.message ?? '';
  return isReceipt || episodes([drift]).some((episode) => told.includes(inWords(episode)));
}
