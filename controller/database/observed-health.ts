import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import type { DatabaseServiceStatus } from '../../constructs/api/status.ts';
import { judgeStorage } from '../health/judge-storage.ts';
import { judgeTls, type TlsVerdict } from '../health/judge-tls.ts';
import { judge, type Absence, type Health, type Hindrance, type Seen, type Verdict } from '../health/judge.ts';
import { troubleOf, type Complaint, type Plight, type PodSeen } from '../health/trouble.ts';
import { servedSecret } from './certificates.ts';
import { askedOf } from './asked.ts';
import type { Child } from './child.ts';
import { wantedReplicas } from './status.ts';

/** The health of a database by its objects. Pure. */
export function observedHealth(
  resource: StoredDatabaseService,
  children: readonly Child[],
  before: DatabaseServiceStatus | undefined,
  hindrance: Hindrance | undefined,
  { rollout, absence, complaints }: Told = {},
): { readonly health: Health; readonly replicas: number } {
  const plight = observedPlight(resource, children, complaints);
  const { wanted, statefulSet, pods } = plight;
  const seen: Seen = {
    wanted,
    statefulSet,
    pods,
    before: { phase: before?.phase, readyReplicas: before?.readyReplicas ?? 0 },
    isSpecNew: before?.observedGeneration !== resource.metadata.generation,
    isDeleting: resource.metadata.deletionTimestamp !== undefined,
    isApplied: resource.spec?.delivery?.apply !== false,
    hindrance,
    trouble: troubleOf(plight),
    rollout,
    absence,
  };
  return { health: judge(seen), replicas: statefulSet?.replicas ?? 0 };
}

/** What is known beside the objects. */
export interface Told {
  /** What a rollout is about, in a sentence. */
  readonly rollout?: string | undefined;
  /** Who is missing because the rollout has it so. */
  readonly absence?: Absence | undefined;
  /** What Kubernetes says of an object that gets nowhere. */
  readonly complaints?: readonly Complaint[] | undefined;
}

/** What there is to tell trouble from. Pure. */
export function observedPlight(
  resource: StoredDatabaseService,
  children: readonly Child[],
  complaints: readonly Complaint[] = [],
): Plight {
  const { name } = resource.metadata;
  // What somebody else gives our label is none of it.
  const statefulSet = children
    .filter((child) => child.name === name)
    .map(({ facts }) => facts)
    .find((facts) => facts.kind === 'StatefulSet');
  const claims = children.flatMap(({ name, facts }) =>
    facts.kind === 'PersistentVolumeClaim' ? [[name, facts] as const] : [],
  );
  return {
    database: name,
    wanted: wantedReplicas(resource),
    statefulSet,
    pods: podsOf(name, children),
    claims: new Map(claims),
    complaints,
    asked: askedOf(resource.spec),
  };
}

/** Whether the members serve a certificate, by what they say. Pure. @param now milliseconds of the wall clock */
export function observedTls(resource: StoredDatabaseService, children: readonly Child[], now: number): TlsVerdict {
  const members = podsOf(resource.metadata.name, children).map(({ name, facts: { served } }) => ({ name, served }));
  return judgeTls({ secret: servedSecret(resource), members, now });
}

/** Whether a volume is nearly full, by what the members say. Pure. */
export function observedStorage(resource: StoredDatabaseService, children: readonly Child[]): Verdict {
  return judgeStorage(podsOf(resource.metadata.name, children).map(({ name, facts: { usage } }) => ({ name, usage })));
}

/** In the order of their names: the store gives them in that of their last events, and the first in trouble must not change with each. */
function podsOf(database: string, children: readonly Child[]): readonly PodSeen[] {
  return children
    .flatMap(({ name, facts, predecessor }) =>
      facts.kind === 'Pod' && isMember(name, database) ? [{ name, facts, predecessor }] : [],
    )
    .sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
}

function isMember(pod: string, database: string): boolean {
  return pod.startsWith(`${database}-`) && /^\d+$/.test(pod.slice(database.length + 1));
}
