import type { DatabaseServiceDocument } from './api/resource.ts';

/** What in a spec only the controller can do, one sentence each. Empty for a database whose manifests stand alone. */
export function controllerOnly({ spec }: DatabaseServiceDocument): readonly string[] {
  const notes: string[] = [];
  if ((spec.credentials?.source ?? 'Generated') === 'Generated') {
    notes.push(
      'credentials.source Generated: the controller makes the Secrets; without it use Existing, and create Secret <name>-system too',
    );
  }
  if ((spec.tls?.mode ?? 'Generated') === 'Generated') {
    notes.push(
      'tls.mode Generated: the controller makes and renews the certificate; without it use Existing with a Secret of your own, or "Off"',
    );
  }
  if ((spec.upgrade?.rollout ?? 'Managed') === 'Managed') {
    notes.push(
      'upgrade.rollout Managed: a member takes a changed template when its pod is deleted; without the controller use StatefulSet',
    );
  }
  return notes;
}
