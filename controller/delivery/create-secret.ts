import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { credentialsManager } from '../database/child.ts';
import { newSecrets } from '../database/credentials.ts';
import { typeOf } from '../database/kinds.ts';
import type { Stated } from '../database/stated.ts';
import type { Kube, KubeObject } from '../kube/index.ts';

/**
 * Creates a Secret with new passwords by POST, which overwrites nothing. Its owner is not created with it but has to be applied, so that a later
 * apply can take it away again.
 *
 * @throws KubeError, of kind `already-exists` if the name is taken
 */
export async function createSecret(
  kube: Kube,
  { object }: Stated,
  resource: StoredDatabaseService,
  signal: AbortSignal,
): Promise<KubeObject> {
  const fresh = newSecrets(resource).find(({ metadata }) => metadata.name === object.metadata.name);
  const { ownerReferences: _, ...metadata } = object.metadata;
  const body = { ...object, metadata, type: fresh?.['type'], data: fresh?.['data'] };
  return kube.create(body, { type: typeOf(object), fieldManager: credentialsManager, signal });
}
