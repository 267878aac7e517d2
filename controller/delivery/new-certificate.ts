import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import type { Manifest } from '../../constructs/manifest.ts';
import { authoritySecret, certificateSecret, serverNames } from '../../constructs/postgresql/certificate.ts';
import { canSign, issueServer, newAuthority } from '../certificates/issue.ts';
import type { Lifetime } from '../certificates/lifetime.ts';
import { certificateSecrets } from '../database/certificates.ts';
import { credentialsManager } from '../database/child.ts';
import { document } from '../database/document.ts';
import { secrets } from '../database/kinds.ts';
import { timestamp, type Kube, type KubeObject } from '../kube/index.ts';

/** The Secret of the authority with a new one in it. @param now milliseconds */
export async function newAuthoritySecret(resource: StoredDatabaseService, now: number): Promise<Manifest> {
  const { name, namespace } = resource.metadata;
  return authoritySecret(document(resource), await newAuthority(name, namespace, now));
}

/** A Secret to be written, and how long what is in it holds. */
export interface NewCertificate {
  readonly secret: Manifest;
  readonly lifetime: Lifetime;
}

/**
 * The Secret of the certificate with a new one in it, signed by the authority in the cluster. One that would end before the certificate, or that
 * somebody has damaged, is renewed first.
 *
 * @param now milliseconds
 * @throws KubeError, of kind `object-missing` where there is no authority
 */
export async function newCertificate(
  kube: Kube,
  resource: StoredDatabaseService,
  now: number,
  signal: AbortSignal,
): Promise<NewCertificate> {
  const { name, namespace } = resource.metadata;
  const ref = { name: certificateSecrets(resource).authority, namespace };
  const found = await kube.get(secrets, ref, { signal });
  const signer = canSign(pairIn(found), now)
    ? found
    : await replaceValues(kube, found, await newAuthoritySecret(resource, now), signal);
  const authority = pairIn(signer);
  const pair = await issueServer(authority, name, serverNames(document(resource)), now);
  const secret = certificateSecret(document(resource), {
    ...pair,
    authority: authority.certificate,
    notBefore: timestamp(pair.notBefore),
    notAfter: timestamp(pair.notAfter),
  });
  return { secret, lifetime: pair };
}

/** Writes other values into a Secret, unless somebody has changed it since. @throws KubeError, of kind `version-conflict` then */
export async function replaceValues(
  kube: Kube,
  { metadata }: Pick<KubeObject, 'metadata'>,
  { metadata: { annotations }, data }: Manifest,
  signal: AbortSignal,
): Promise<KubeObject> {
  const { name, namespace, uid, resourceVersion } = metadata;
  const body = { metadata: { uid, resourceVersion, ...(annotations === undefined ? {} : { annotations }) }, data };
  const patch = { kind: 'merge', body, fieldManager: credentialsManager } as const;
  return kube.patch(secrets, { name, namespace }, patch, { signal });
}

function pairIn(secret: KubeObject): { readonly certificate: string; readonly key: string } {
  // The API server takes nothing else for the data of a Secret; it may be absent.
  const data = (secret['data'] ?? {}) as Readonly<Record<string, string>>;
  const text = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString();
  return { certificate: text('tls.crt'), key: text('tls.key') };
}
