import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { appliedEntry, deletion, deviations, drifts, type Drift } from '../drift/index.ts';
import type { KubeObject } from '../kube/index.ts';
import { databaseKeyOf, fieldManager, type Child } from './child.ts';
import { isRemovable } from './kinds.ts';
import type { Stated } from './stated.ts';

/** What is to be done about one object, with the reason. */
export type Action =
  /** Nothing has the name, as far as is known. */
  | { readonly kind: 'create'; readonly stated: Stated; readonly drifts: readonly Drift[] }
  /** The object is ours (`uid`), and is brought to what we state. */
  | { readonly kind: 'apply'; readonly stated: Stated; readonly uid: string; readonly drifts: readonly Drift[] }
  /** The object is what we state, or is to stay as it is: remember that. */
  | { readonly kind: 'accept'; readonly stated: Stated; readonly live: KubeObject; readonly drifts: readonly Drift[] }
  /** The name belongs to something else. */
  | { readonly kind: 'refuse'; readonly stated: Stated; readonly holder: string }
  /** A Secret of a database that has data is gone: no new password is invented. */
  | { readonly kind: 'miss'; readonly stated: Stated }
  /** The object is no longer stated. */
  | { readonly kind: 'remove'; readonly child: Child };

export interface Observed {
  readonly resource: StoredDatabaseService;
  /** By key. */
  readonly children: ReadonlyMap<string, Child>;
  /** Keys of what we have found or made true before, so that their absence is a deletion. */
  readonly known: ReadonlySet<string>;
}

/** Compares what is stated with what is observed. Pure; the order is the order of application, removals last. */
export function plan(observed: Observed, stated: readonly Stated[]): readonly Action[] {
  const wanted = new Set(stated.map(({ key }) => key));
  const removals = [...observed.children.entries()]
    .filter(([key, child]) => !wanted.has(key) && isOurs(child, observed.resource))
    .map(([, child]): Action => ({ kind: 'remove', child }));
  return [...stated.flatMap((one) => planOne(observed, one, observed.children.get(one.key))), ...removals];
}

/** The action for one object, if there is anything to do. */
export function planOne(observed: Observed, stated: Stated, child: Child | undefined): readonly Action[] {
  if (child === undefined) {
    const { kind, metadata } = stated.object;
    if (kind === 'Secret' && hasData(observed)) return [{ kind: 'miss', stated }];
    return [{ kind: 'create', stated, drifts: observed.known.has(stated.key) ? [deletion(kind, metadata.name)] : [] }];
  }
  // What is being deleted is made again when it is gone.
  if (child.isDeleting) return [];
  const isUnchanged = child.accepted?.statedHash === stated.hash;
  if (isUnchanged && child.suspect === undefined) return [];
  const live = child.suspect;
  if (live === undefined) return [{ kind: 'apply', stated, uid: child.uid, drifts: [] }];
  const holder = holderOf(live, observed.resource);
  if (holder !== undefined) return [{ kind: 'refuse', stated, holder }];
  return [judge(observed, stated, child, live)];
}

/** Whether members were ever made: then the passwords are in the data, and new ones would fit nothing. */
function hasData({ children }: Observed): boolean {
  return [...children.values()].some(
    ({ facts }) => facts.kind === 'StatefulSet' || facts.kind === 'PersistentVolumeClaim',
  );
}

function judge({ resource }: Observed, stated: Stated, child: Child, live: KubeObject): Action {
  const found = differences(stated, live);
  if (found.length === 0) return { kind: 'accept', stated, live, drifts: [] };
  const foreign = drifts(isFirstSight(child, live) ? [] : found, live, fieldManager);
  const isOnlyDrift = found.every((deviation) => deviation.kind !== 'pending' && deviation.kind !== 'extra');
  const wasAccepted = child.accepted?.statedHash === stated.hash;
  if (resource.spec.drift?.policy === 'Report' && foreign.length > 0 && isOnlyDrift && wasAccepted) {
    return { kind: 'accept', stated, live, drifts: foreign };
  }
  return { kind: 'apply', stated, uid: child.uid, drifts: foreign };
}

/** An object that we never applied is taken over; what others did to it before is no drift. */
function isFirstSight(child: Child, live: KubeObject): boolean {
  return child.accepted === undefined && live.kind !== 'Secret' && appliedEntry(live, fieldManager) === undefined;
}

/** Of a Secret, values count and not who holds them, for it is not applied but created. */
function differences(stated: Stated, live: KubeObject) {
  const found = deviations(stated.object, live, fieldManager);
  return live.kind === 'Secret'
    ? found.filter(({ kind, was, now }) => kind === 'removed' || (kind === 'changed' && was !== now))
    : found;
}

/** Who holds the name, in words; undefined when it is this database, or nobody who would mind. */
export function holderOf(live: KubeObject, resource: StoredDatabaseService): string | undefined {
  const owner = live.metadata.ownerReferences?.find((reference) => reference.controller === true);
  if (owner?.uid === resource.metadata.uid) return undefined;
  const databaseKey = databaseKeyOf(live);
  const own = `${resource.metadata.namespace}/${resource.metadata.name}`;
  if (owner !== undefined && !isEarlierLife(owner, resource)) return `${owner.kind} ${owner.name}`;
  if (databaseKey === own) return undefined;
  return databaseKey === undefined ? 'somebody who is not Plumbline' : `DatabaseService ${databaseKey.split('/')[1]}`;
}

/** An owner of the same name with another uid: this database before it was deleted and created again, or restored. */
function isEarlierLife(
  owner: { readonly kind: string; readonly name: string },
  resource: StoredDatabaseService,
): boolean {
  return owner.kind === resource.kind && owner.name === resource.metadata.name;
}

function isOurs(child: Child, resource: StoredDatabaseService): boolean {
  return isRemovable(child.kind) && !child.isDeleting && child.ownerUid === resource.metadata.uid;
}
