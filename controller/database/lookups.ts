import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import {
  classify,
  isObjectMissing,
  type Kube,
  type KubeObject,
  type ObjectMeta,
  type ObjectRef,
  type ResourceType,
} from '../kube/index.ts';
import { blockerOf, secretNotFound, type Blocker } from './blocker.ts';
import { observedChild, watchedHash, type Child } from './child.ts';
import type { Children } from './children.ts';
import { databaseServices, secrets, typeOf } from './kinds.ts';
import type { Memory } from './memory.ts';
import type { Stated } from './stated.ts';

/** Whether this very database still exists, and is not being deleted. @throws KubeError */
export async function exists(kube: Kube, { metadata }: StoredDatabaseService, signal: AbortSignal): Promise<boolean> {
  const found = await metadataOf(kube, databaseServices, metadata, signal);
  return found?.uid === metadata.uid && found.deletionTimestamp === undefined;
}

/**
 * What is to be said of the Secrets that the user is to make. They bear no label of ours, so no watch shows them: each is asked for until it was
 * seen once. That somebody deletes it later is not noticed.
 */
export async function missingSecret(
  kube: Kube,
  resource: StoredDatabaseService,
  memory: Memory,
  signal: AbortSignal,
): Promise<Blocker | undefined> {
  const { metadata, spec, status } = resource;
  if (status?.phase === 'Running' && status.observedGeneration === metadata.generation) return undefined;
  const needed = [
    { name: spec.credentials?.secretName, keys: 'username and password' },
    { name: spec.tls?.secretName, keys: 'tls.crt and tls.key' },
  ];
  for (const { name, keys } of needed) {
    if (name === undefined || memory.seenSecrets.has(name)) continue;
    const missing = await lookForSecret(kube, { name, namespace: metadata.namespace }, keys, memory, signal);
    if (missing !== undefined) return missing;
  }
  return undefined;
}

async function lookForSecret(
  kube: Kube,
  ref: ObjectRef,
  keys: string,
  { seenSecrets }: Memory,
  signal: AbortSignal,
): Promise<Blocker | undefined> {
  try {
    const found = await metadataOf(kube, secrets, ref, signal);
    if (found === undefined) return secretNotFound(ref.name, keys);
    seenSecrets.add(ref.name);
    return undefined;
  } catch (error) {
    if (classify(error).class === 'retry-now') throw error;
    signal.throwIfAborted();
    return blockerOf(error, `Secret ${ref.name}`);
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

/**
 * Of what a GitOps tool applies, the objects that are to be compared: those that were written since, and those that we applied until now, which
 * alone are asked for.
 *
 * @throws KubeError
 */
export async function liveObjects(
  kube: Kube,
  stated: readonly Stated[],
  children: Children,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, KubeObject>> {
  const found = new Map<string, KubeObject>();
  for (const { key, object } of stated) {
    const child = children.get(key);
    if (child === undefined || child.isDeleting) continue;
    const isWatched = child.accepted?.statedHash === watchedHash;
    const live = child.suspect ?? (isWatched ? undefined : await read(kube, object, signal));
    if (live !== undefined) found.set(key, live);
  }
  return found;
}

async function read(kube: Kube, object: KubeObject, signal: AbortSignal): Promise<KubeObject | undefined> {
  try {
    return await kube.get(typeOf(object), object.metadata, { signal });
  } catch (error) {
    if (!isObjectMissing(error)) throw error;
    return undefined;
  }
}

async function metadataOf(
  kube: Kube,
  type: ResourceType,
  ref: ObjectRef,
  signal: AbortSignal,
): Promise<ObjectMeta | undefined> {
  try {
    return (await kube.get(type, ref, { metadataOnly: true, signal })).metadata;
  } catch (error) {
    if (!isObjectMissing(error)) throw error;
    return undefined;
  }
}
