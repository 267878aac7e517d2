import type { DatabaseServiceDocument } from './api/resource.ts';

/** What in a spec only the controller can do, one sentence each. Empty for a database whose manifests stand alone. */
export function controllerOnly({ metadata, spec }: DatabaseServiceDocument): readonly string[] {
  const notes: string[] = [];
  const secrets = `Secret ${metadata.name}-system`;
  if ((spec.credentials?.source ?? 'Generated') === 'Generated') {
    notes.push(
      `credentials.source Generated: the controller makes the Secrets; without it use Existing, and create ${secrets} too`,
    );
  }
  if ((spec.upgrade?.rollout ?? 'Managed') === 'Managed') {
    notes.push('upgrade.rollout Managed: the controller restarts members; without it use StatefulSet');
  }
  return notes;
}
