import { randomBytes } from 'node:crypto';
import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import type { Manifest } from '../../constructs/manifest.ts';
import { credentialsSecret, systemSecret } from '../../constructs/postgresql/credentials.ts';
import { namesOf } from '../../constructs/names.ts';
import { document } from './stated.ts';

/** A password of 192 bits that needs no quoting anywhere. */
function newPassword(): string {
  return randomBytes(24).toString('base64url');
}

/** The Secrets that the controller makes for a database, with new passwords in them: to be created, never applied and never logged. */
export function newSecrets(resource: StoredDatabaseService): readonly Manifest[] {
  const [superuser, replication, rewind, restapi] = [newPassword(), newPassword(), newPassword(), newPassword()];
  const system = systemSecret(document(resource), { superuser, replication, rewind, restapi });
  const isGenerated = (resource.spec.credentials?.source ?? 'Generated') === 'Generated';
  return isGenerated ? [credentialsSecret(document(resource), newPassword()), system] : [system];
}

/** Name of the Secret that applications mount. */
export function credentialsName({ metadata, spec }: StoredDatabaseService): string {
  return spec.credentials?.secretName ?? namesOf(metadata.name).credentials;
}
