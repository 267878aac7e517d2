import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { classify, isObjectMissing, type Kube, type ObjectRef, type ResourceType } from '../kube/index.ts';
import { blockerOf, secretNotFound, type Blocker } from './blocker.ts';
import { observedChild, type Child } from './child.ts';
import type { Children } from './children.ts';
import { databaseServices, secrets, typeOf } from './kinds.ts';
import type { Memory } from './memory.ts';
import type { Stated } from './stated.ts';

/** Whether this very database still exists. @throws KubeError */
export async function exists(kube: Kube, { metadata }: StoredDatabaseService, signal: AbortSignal): Promise<boolean> {
  return (await uidOf(kube, databaseServices, metadata, signal)) === metadata.uid;
}

/**
 * What is to be said of a Secret that the user is to make. It bears no label of ours, so no watch shows it: it is asked for until it was seen
 * once. That somebody deletes it later is not noticed.
 */
export async function missingSecret(
  kube: Kube,
  { metadata, spec, status }: StoredDatabaseService,
  memory: Memory,
  signal: AbortSignal,
): Promise<Blocker | undefined> {
  const name = spec.credentials?.secretName;
  if (name === undefined || memory.seenSecret === name || status?.phase === 'Running') return undefined;
  try {
    const uid = await uidOf(kube, secrets, { name, namespace: metadata.namespace }, signal);
    if (uid === undefined) return secretNotFound(name);
    memory.seenSecret = name;
    return undefined;
  } catch (error) {
    if (classify(error).class === 'retry-now') throw error;
    signal.throwIfAborted();
    return blockerOf(error, `Secret ${name}`);
  }
}

/**
 * Asks for an object that no watch shows.
 *
 * @returns undefined when nothing has the name; of a Secret nothing but the metadata is asked for
 * @throws KubeError
 */
export async function findChild(
  kube: Kube,
  { key, object }: Stated,
  children: Children,
  signal: AbortSignal,
): Promise<Child | undefined> {
  try {
    const metadataOnly = object.kind === 'Secret';
    const live = await kube.get(typeOf(object), object.metadata, { metadataOnly, signal });
    return observedChild(live, children.get(key));
  } catch (error) {
    if (!isObjectMissing(error)) throw error;
    return undefined;
  }
}

async function uidOf(kube: Kube, type: ResourceType, ref: ObjectRef, signal: AbortSignal): Promise<string | undefined> {
  try {
    return (await kube.get(type, ref, { metadataOnly: true, signal })).metadata.uid;
  } catch (error) {
    if (!isObjectMissing(error)) throw error;
    return undefined;
  }
}
