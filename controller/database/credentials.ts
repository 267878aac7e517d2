import { randomBytes } from 'node:crypto';
import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import type { Manifest } from '../../constructs/manifest.ts';
import { namesOf } from '../../constructs/names.ts';
import { credentialsSecret, systemSecret } from '../../constructs/postgresql/credentials.ts';
import { document } from './document.ts';

/** What every generated password begins with, so that whoever looks for one where none belongs, in logs or in Git, knows it when he sees it. */
export const passwordPrefix = 'plbpw_';

/** The Secrets that the controller makes for a database, with new passwords in them: to be created, never applied and never logged. */
export function newSecrets(resource: StoredDatabaseService): readonly Manifest[] {
  return secrets(resource, newPassword);
}

/** What of those Secrets is judged and repaired: their labels and their owner, never their data. */
export function statedSecrets(resource: StoredDatabaseService): readonly Manifest[] {
  return secrets(resource, () => '').map(({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata }));
}

/** Name of the Secret that applications mount. */
export function credentialsName({ metadata, spec }: StoredDatabaseService): string {
  return spec.credentials?.secretName ?? namesOf(metadata.name).credentials;
}

function secrets(resource: StoredDatabaseService, password: () => string): readonly Manifest[] {
  const system = systemSecret(document(resource), {
    superuser: password(),
    replication: password(),
    rewind: password(),
    restapi: password(),
  });
  const isGenerated = (resource.spec.credentials?.source ?? 'Generated') === 'Generated';
  return isGenerated ? [credentialsSecret(document(resource), password()), system] : [system];
}

/** A password of 192 bits that needs no quoting anywhere. */
function newPassword(): string {
  return `${passwordPrefix}${randomBytes(24).toString('base64url')}`;
}
