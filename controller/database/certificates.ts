import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { namesOf } from '../../constructs/names.ts';
import { authoritySecret, certificateSecret } from '../../constructs/postgresql/certificate.ts';
import type { Manifest } from '../../constructs/manifest.ts';
import { document } from './document.ts';

/** The names of the Secrets that hold what TLS needs and that the controller makes; a lost one is made anew, for a new one does as well. */
export function certificateSecrets({ metadata }: StoredDatabaseService): {
  readonly certificate: string;
  readonly authority: string;
} {
  const { tls, tlsAuthority } = namesOf(metadata.name);
  return { certificate: tls, authority: tlsAuthority };
}

/** Whether the controller makes the certificate. */
export function isGenerated({ spec }: StoredDatabaseService): boolean {
  return (spec?.tls?.mode ?? 'Generated') === 'Generated';
}

/** Name of the Secret whose certificate the members serve; undefined where TLS is off. */
export function servedSecret(resource: StoredDatabaseService): string | undefined {
  const { tls } = resource.spec ?? {};
  if (tls?.mode === 'Off') return undefined;
  return tls?.secretName ?? certificateSecrets(resource).certificate;
}

/** What of those Secrets is judged and repaired: their labels and their owner, never their data. The authority comes first: it signs. */
export function statedCertificates(resource: StoredDatabaseService): readonly Manifest[] {
  if (!isGenerated(resource)) return [];
  const nothing = { certificate: '', key: '' };
  const secrets = [
    authoritySecret(document(resource), nothing),
    certificateSecret(document(resource), { ...nothing, authority: '', notBefore: '', notAfter: '' }),
  ];
  return secrets.map(({ apiVersion, kind, metadata: { annotations: _, ...metadata } }) => ({
    apiVersion,
    kind,
    metadata,
  }));
}
