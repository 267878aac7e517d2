import { digestOf } from '../../constructs/digest.ts';
import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { restartedAtAnnotation } from '../../constructs/labels.ts';
import { deviations, field, isForeign } from '../drift/index.ts';
import { isObjectMissing, type Kube, type KubeObject } from '../kube/index.ts';
import { record, type Fields } from '../health/fields.ts';
import { fieldManager, type Child } from './child.ts';
import { document } from './document.ts';
import { memberDigests } from './member-digests.ts';
import { controllerRevisions } from './kinds.ts';
import { stateAll } from './stated.ts';

/** What is known of the revisions of a StatefulSet: a revision never changes, so that each is asked for once. */
export interface Revisions {
  /** Digest of what they were compared with. */
  readonly against: string;
  readonly isEdited: ReadonlyMap<string, boolean>;
}

export const noRevisions: Revisions = { against: '', isEdited: new Map() };

/** Names of those that somebody else had changed. */
export function editsOf({ isEdited }: Revisions): ReadonlySet<string> {
  return new Set([...isEdited].filter(([, is]) => is).map(([name]) => name));
}

/**
 * Looks whether members were made from a template that somebody else had changed: their pods bear our digest of it all the same, and their
 * StatefulSet is right by now. A revision that the StatefulSet had while it was right is known; others are asked for.
 *
 * @param delivered with the spec that is delivered, and has been applied
 * @throws KubeError
 */
export async function lookAtRevisions(
  kube: Kube,
  known: Revisions,
  delivered: StoredDatabaseService,
  children: readonly Child[],
  signal: AbortSignal,
): Promise<Revisions> {
  const { name, namespace } = delivered.metadata;
  const set = children.find((child) => child.kind === 'StatefulSet' && child.name === name);
  if (set?.facts.kind !== 'StatefulSet' || !set.facts.isObserved || set.suspect !== undefined) return known;
  const { revision: newest } = set.facts;
  if (newest === undefined) return known;
  // What an allowed manager added and took away again is no reason, and a revision does not say who had added what.
  const { additions, allowManagers = [] } = delivered.spec.drift ?? {};
  const isStrict = additions === 'Remove' && allowManagers.length === 0;
  const { template } = memberDigests(document(delivered));
  const against = digestOf([template, isStrict ? newest : '']);
  // One of another template of ours is made again in any case.
  const others = new Set(
    children.flatMap(({ facts }) =>
      facts.kind === 'Pod' && facts.template === template ? (facts.revision ?? []) : [],
    ),
  );
  others.delete(newest);
  const before = known.against === against ? known.isEdited : noRevisions.isEdited;
  const isEdited = new Map([...before].filter(([revision]) => others.has(revision)));
  const unknown = [...others].filter((revision) => !isEdited.has(revision));
  if (unknown.length > 0) {
    const read = (revision: string) => templateOf(kube, { name: revision, namespace }, signal);
    const stated = stateAll(delivered).find(({ object }) => object.kind === 'StatefulSet')?.object;
    const now = isStrict ? await read(newest) : undefined;
    for (const revision of unknown) {
      const made = await read(revision);
      isEdited.set(revision, made !== undefined && stated !== undefined && isAnother(made, stated, now));
    }
  }
  return { against, isEdited: isEdited.set(newest, false) };
}

/** @param now the template as it is, where nothing may be added to it either */
function isAnother(template: Fields, stated: KubeObject, now: Fields | undefined): boolean {
  const { template: ours } = record(stated['spec']);
  const found = deviations({ ...stated, spec: { template: ours } }, { ...stated, spec: { template } }, fieldManager);
  // When it was made last is no difference: whether that is long ago is judged by itself.
  const others = found.filter(({ path }) => path.at(-1) !== field(restartedAtAnnotation));
  return others.some(isForeign) || (now !== undefined && !isWithin(template['spec'], now['spec']));
}

/** Whether everything in one value is in another too, wherever in a list. */
function isWithin(one: unknown, other: unknown): boolean {
  if (Array.isArray(one)) {
    return Array.isArray(other) && one.every((item) => other.some((candidate) => isWithin(item, candidate)));
  }
  if (typeof one !== 'object' || one === null) return one === other;
  return Object.entries(one).every(([key, value]) => isWithin(value, record(other)[key]));
}

/** Undefined for a revision that is no longer kept. */
async function templateOf(
  kube: Kube,
  revision: { readonly name: string; readonly namespace: string },
  signal: AbortSignal,
): Promise<Fields | undefined> {
  try {
    const { data } = await kube.get(controllerRevisions, revision, { signal });
    return record(record(record(data)['spec'])['template']);
  } catch (error) {
    if (!isObjectMissing(error)) throw error;
    return undefined;
  }
}
