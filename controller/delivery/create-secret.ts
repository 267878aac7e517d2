import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import type { Manifest } from '../../constructs/manifest.ts';
import { certificateSecrets } from '../database/certificates.ts';
import { credentialsManager } from '../database/child.ts';
import { newSecrets } from '../database/credentials.ts';
import { typeOf } from '../database/kinds.ts';
import type { Stated } from '../database/stated.ts';
import type { Kube, KubeObject } from '../kube/index.ts';
import { newAuthoritySecret, newCertificate } from './new-certificate.ts';

/**
 * Creates a Secret with new passwords or a new certificate by POST, which overwrites nothing. Its owner is not created with it but has to be applied, so that a later
 * apply can take it away again.
 *
 * @param now milliseconds of the wall clock
 * @throws KubeError, of kind `already-exists` if the name is taken
 */
export async function createSecret(
  kube: Kube,
  { object }: Stated,
  resource: StoredDatabaseService,
  now: number,
  signal: AbortSignal,
): Promise<KubeObject> {
  const fresh = await newSecret(kube, object.metadata.name, resource, now, signal);
  const { ownerReferences: _, ...rest } = object.metadata;
  const { annotations } = fresh?.metadata ?? {};
  const metadata = { ...rest, ...(annotations === undefined ? {} : { annotations }) };
  const body = { ...object, metadata, type: fresh?.['type'], data: fresh?.['data'] };
  return kube.create(body, { type: typeOf(object), fieldManager: credentialsManager, signal });
}

async function newSecret(
  kube: Kube,
  name: string,
  resource: StoredDatabaseService,
  now: number,
  signal: AbortSignal,
): Promise<Manifest | undefined> {
  const { certificate, authority } = certificateSecrets(resource);
  if (name === authority) return newAuthoritySecret(resource, now);
  if (name === certificate) return (await newCertificate(kube, resource, now, signal)).secret;
  return newSecrets(resource).find(({ metadata }) => metadata.name === name);
}
