import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import type { DatabaseServiceStatus } from '../../constructs/api/status.ts';
import { judge, type Health, type Hindrance, type Seen } from '../health/judge.ts';
import type { Child } from './child.ts';
import { wantedReplicas } from './status.ts';

/** The health of a database by its objects. Pure. @param before what the last status said */
export function observedHealth(
  resource: StoredDatabaseService,
  children: readonly Child[],
  before: DatabaseServiceStatus | undefined,
  hindrance: Hindrance | undefined,
): { readonly health: Health; readonly replicas: number } {
  const { name } = resource.metadata;
  // What somebody else gives our label is none of it.
  const statefulSet = children
    .filter((child) => child.name === name)
    .map(({ facts }) => facts)
    .find((facts) => facts.kind === 'StatefulSet');
  const pods = children.flatMap(({ name: pod, facts }) =>
    facts.kind === 'Pod' && isMember(pod, name) ? [{ name: pod, facts }] : [],
  );
  const seen: Seen = {
    wanted: wantedReplicas(resource),
    statefulSet,
    // The store gives them in the order of their last events; the first in trouble must not change with each.
    pods: pods.sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true })),
    before: { phase: before?.phase, readyReplicas: before?.readyReplicas ?? 0 },
    isSpecNew: before?.observedGeneration !== resource.metadata.generation,
    isDeleting: resource.metadata.deletionTimestamp !== undefined,
    isApplied: resource.spec?.delivery?.apply !== false,
    hindrance,
  };
  return { health: judge(seen), replicas: statefulSet?.replicas ?? 0 };
}

function isMember(pod: string, database: string): boolean {
  return pod.startsWith(`${database}-`) && /^\d+$/.test(pod.slice(database.length + 1));
}
