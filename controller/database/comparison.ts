import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import {
  covers,
  deletion,
  deviations,
  drifts,
  fieldsOf,
  isForeign,
  isWithin,
  leaves,
  readable,
  statedTree,
  type Deviation,
  type Drift,
  type Foreign,
} from '../drift/index.ts';
import type { KubeObject } from '../kube/index.ts';
import { isAllowed } from './additions.ts';
import { fieldManager, watchedHash, type Child } from './child.ts';
import { withoutOwner, type Stated } from './stated.ts';

/** How an object that a GitOps tool applies compares with what is rendered. */
export interface Compared {
  /** Of what it was compared with. */
  readonly hash: string;
  readonly isSame: boolean;
  /** What others than the tool changed since it was the same. */
  readonly drifts: readonly Drift[];
}

/** By the keys of the objects. */
export type Comparison = ReadonlyMap<string, Compared>;

/** What there is to compare. */
export interface Watched {
  readonly resource: StoredDatabaseService;
  /** What is rendered, for the tool to apply. */
  readonly stated: readonly Stated[];
  readonly find: (key: string) => Child | undefined;
  /** What was found last. */
  readonly before: Comparison;
}

/**
 * Compares what a GitOps tool applies with what is rendered, by value: whose fields they are is the tool's business. Pure; an object that was not
 * written since it was compared last is not compared again. What differs before the tool has applied it is no drift, nor is what the tool itself
 * writes: it may be ahead of us.
 */
export function comparisonOf({ resource, stated, find, before }: Watched): Comparison {
  return new Map(stated.map((one) => [one.key, compare(resource, one, find(one.key), before.get(one.key))] as const));
}

/** Names of the objects that are not as they are rendered, such as `StatefulSet orders`. */
export function behind(comparison: Comparison): readonly string[] {
  return [...comparison].flatMap(([key, { isSame }]) => (isSame ? [] : [key.replace(/\/.*\//, ' ')]));
}

/** What others changed, by the keys of the objects. */
export function driftsIn(comparison: Comparison): ReadonlyMap<string, readonly Drift[]> {
  return new Map([...comparison].flatMap(([key, { drifts }]) => (drifts.length === 0 ? [] : [[key, drifts] as const])));
}

/** After a restart the status alone says that everything was the same; it may be forged, and then a change is told that was none. */
function wasSynced({ status, metadata }: StoredDatabaseService): boolean {
  const synced = status?.conditions?.find(({ type }) => type === 'Synced');
  return synced?.status === 'True' && synced.observedGeneration === metadata.generation;
}

function compare(
  resource: StoredDatabaseService,
  stated: Stated,
  child: Child | undefined,
  last: Compared | undefined,
): Compared {
  const { hash } = stated;
  const isSameWish = last?.hash === hash;
  const wasSame = last === undefined ? wasSynced(resource) : isSameWish && last.isSame;
  if (child === undefined || child.isDeleting) {
    const { kind, metadata } = stated.object;
    const gone = wasSame && child === undefined ? [deletion(kind, metadata.name)] : [];
    return { hash, isSame: false, drifts: isSameWish && !wasSame ? last.drifts : gone };
  }
  if (child.suspect !== undefined) {
    const isDrifted = wasSame || (isSameWish && last.drifts.length > 0);
    return { hash, ...difference(resource, stated.object, child.suspect, isDrifted) };
  }
  // Until now we have applied it.
  if (child.accepted?.statedHash !== watchedHash) {
    const isSame = child.accepted?.statedHash === hash && !child.accepted.isDrifted;
    return { hash, isSame, drifts: [] };
  }
  return isSameWish ? last : { hash, isSame: false, drifts: [] };
}

/** @param isDrifted it was the same once, so that what differs is somebody's change */
function difference(
  resource: StoredDatabaseService,
  object: KubeObject,
  live: KubeObject,
  isDrifted: boolean,
): Pick<Compared, 'isSame' | 'drifts'> {
  const rendered = withoutOwner(object);
  const tool = toolOf(rendered, live);
  const found = deviations(rendered, live, tool).filter(counts);
  const foreign = found
    .filter(isForeign)
    .map((deviation) => ({ deviation, drifts: drifts([deviation], live, tool) }))
    .filter(({ deviation: { path }, drifts }) => !drifts.some(({ editor }) => mayHave(resource, { editor, path })));
  const isSame = foreign.length === 0 && found.every((one) => isForeign(one) || one.kind === 'unowned');
  const told = foreign.flatMap(({ drifts }) => drifts).filter(({ editor }) => editor.manager !== tool);
  return { isSame, drifts: isDrifted ? told : [] };
}

function mayHave(resource: StoredDatabaseService, one: Pick<Foreign, 'editor' | 'path'>): boolean {
  return isWithin(readable(one.path), 'spec') && isAllowed({ resource, isHeld: false }, one);
}

/** Who applies an object: of all that have something of what is rendered, the one that has the most, and we only where nobody else does. */
function toolOf(rendered: KubeObject, live: KubeObject): string {
  const wanted = [...leaves(statedTree(rendered))];
  const holders = (live.metadata.managedFields ?? [])
    .filter(({ subresource = '' }) => subresource === '')
    .map((entry) => ({
      manager: entry.manager ?? '',
      count: wanted.filter((path) => covers(fieldsOf(entry), path)).length,
    }))
    .toSorted((a, b) => b.count - a.count || Number(a.manager === fieldManager) - Number(b.manager === fieldManager));
  return holders[0]?.manager ?? '';
}

/** Tools of delivery mark what they apply in its metadata; Argo CD, where it tracks by label, with this one. */
function counts({ kind, path }: Deviation): boolean {
  if (path[0] !== 'f:metadata') return true;
  return kind !== 'extra' && readable(path) !== 'metadata.labels[app.kubernetes.io/instance]';
}
