import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { memberNames, namesOf } from '../../constructs/names.ts';
import { servedSecret } from './certificates.ts';
import type { Child } from './child.ts';
import { credentialsName } from './credentials.ts';

/** Members whose kubelet may not have read the newest Secrets. */
export interface StaleMounts {
  readonly pods: readonly Child[];
  /** The versions of the Secrets that a member mounts, by their names. */
  readonly versions: Readonly<Record<string, string>>;
}

/**
 * Which members mount a Secret that was changed since they were made and since the kubelet was asked to look. A pod that is made after a change
 * mounts what is there then. Pure; Secrets that bear no label of the database are in no watch, and count as unchanged.
 */
export function staleMounts(resource: StoredDatabaseService, children: readonly Child[]): StaleMounts {
  const { name } = resource.metadata;
  const mounted = new Set([credentialsName(resource), namesOf(name).system, servedSecret(resource)]);
  const secrets = [...mounted].flatMap((wanted) =>
    children.flatMap(({ name, facts }) => (facts.kind === 'Secret' && name === wanted ? [{ name, ...facts }] : [])),
  );
  const members = new Set(memberNames(name));
  const pods = children.filter(({ name, isDeleting, facts }) => {
    if (facts.kind !== 'Pod' || !members.has(name) || isDeleting || facts.isEnded) return false;
    const { refreshed, createdAt } = facts;
    return secrets.some(({ name, version, changedAt }) =>
      refreshed[name] === undefined ? changedAt > createdAt : refreshed[name] !== version,
    );
  });
  return { pods, versions: Object.fromEntries(secrets.map(({ name, version }) => [name, version])) };
}
