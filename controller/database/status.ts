import { isDeepStrictEqual } from 'node:util';
import { engines } from '../../constructs/engine.ts';
import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import type { DatabaseServiceStatus } from '../../constructs/api/status.ts';
import { databaseLabel } from '../../constructs/labels.ts';
import type { Drift } from '../drift/index.ts';
import type { BackupVerdict } from '../health/judge-backup.ts';
import type { Health, Verdict } from '../health/judge.ts';
import { conditionsOf, conditionTypes, type ConditionFacts } from './conditions.ts';
import { credentialsName } from './credentials.ts';
import type { Untold } from './memory.ts';
import { withReceipts } from './receipts.ts';
import { restartRemedy } from './restart-remedy.ts';

/** What a status is made of. */
export interface StatusFacts {
  /** As it was acted upon. */
  readonly resource: StoredDatabaseService;
  /** The spec follows the rules; otherwise little can be said. */
  readonly isValid: boolean;
  /** Everything that is stated has been found or made true. */
  readonly isWhole: boolean;
  /** They were before, if they are not now. */
  readonly wasWhole: boolean;
  /** The status that we wrote last. */
  readonly before: DatabaseServiceStatus | undefined;
  readonly health: Health;
  readonly tls: Verdict;
  readonly backup: Pick<BackupVerdict, 'verdict' | 'standing'>;
  readonly storage: Verdict;
  /** Members that exist. */
  readonly replicas: number;
  readonly untold: Untold;
  readonly left: readonly Drift[];
  /** What others added and is left alone. */
  readonly added: readonly Drift[];
  readonly contests: ConditionFacts['contests'];
  readonly pause: ConditionFacts['pause'];
  readonly git: DatabaseServiceStatus['git'];
  readonly chain: Omit<ConditionFacts['chain'], 'commit'>;
  /** RFC 3339. */
  readonly now: string;
}

/** The status that holds now. It equals the one before, its time included, when nothing has changed. Pure. */
export function nextStatus(facts: StatusFacts): DatabaseServiceStatus {
  const { before, now } = facts;
  const next = asStored(compose(facts));
  const isSame = isDeepStrictEqual(next, ours({ ...before, lastReconcileTime: undefined }));
  return { ...next, lastReconcileTime: isSame ? (before?.lastReconcileTime ?? now) : now };
}

/** Whether a stored status says this. */
export function isStatus(next: DatabaseServiceStatus, stored: DatabaseServiceStatus | undefined): boolean {
  return isDeepStrictEqual(next, ours(stored ?? {}));
}

/** Names of fields that somebody else has put beside ours. An apply of ours leaves them. */
export function strays(next: DatabaseServiceStatus, stored: DatabaseServiceStatus | undefined): readonly string[] {
  return Object.keys(stored ?? {}).filter((name) => !Object.hasOwn(next, name));
}

/** Conditions of other types are somebody else's, as is the custom with conditions. */
function ours(status: Draft): DatabaseServiceStatus {
  const conditions = status.conditions?.filter(({ type }) => conditionTypes.has(type));
  return asStored({ ...status, conditions });
}

/** A status of which a member may be undefined, and is then left out when it is stored. */
type Draft = { readonly [Name in keyof DatabaseServiceStatus]: DatabaseServiceStatus[Name] | undefined };

function compose(facts: StatusFacts): Draft {
  const {
    resource,
    before,
    health,
    tls,
    backup,
    storage,
    replicas,
    untold,
    left,
    added,
    contests,
    pause,
    chain,
    now,
    isValid,
    isWhole,
    wasWhole,
  } = facts;
  const { name, generation } = resource.metadata;
  const { readyReplicas, phase, primary } = health;
  const isApplied = !isValid || resource.spec.delivery?.apply !== false;
  return {
    observedGeneration: generation,
    phase,
    conditions: conditionsOf(
      {
        health,
        tls,
        backup: backup.verdict,
        storage,
        left,
        added,
        remedy: isValid ? restartRemedy(resource, added) : undefined,
        contests,
        pause,
        isApplied,
        isWhole,
        chain: { ...chain, commit: facts.git?.commit },
        wasWhole,
        generation,
        now,
      },
      before?.conditions ?? [],
    ),
    replicas,
    readyReplicas,
    ready: `${readyReplicas}/${wantedReplicas(resource)}`,
    selector: `${databaseLabel}=${name}`,
    primary,
    ...(isValid ? connections(resource) : {}),
    drift: withReceipts(untold, before?.drift, now),
    pausedUntil: pause?.until,
    backup: backup.standing,
    git: facts.git,
  };
}

/** Of a spec that may break every rule. */
export function wantedReplicas({ spec }: { readonly spec?: { readonly replicas?: unknown } }): number {
  return typeof spec?.replicas === 'number' ? spec.replicas : 1;
}

function connections(resource: StoredDatabaseService): Pick<DatabaseServiceStatus, 'endpoints' | 'credentialsSecret'> {
  const { name, namespace } = resource.metadata;
  const { port } = engines[resource.spec.engine];
  const host = (service: string): string => `${service}.${namespace}.svc:${port}`;
  return {
    endpoints: { readWrite: host(name), readOnly: host(`${name}-ro`) },
    credentialsSecret: credentialsName(resource),
  };
}

/** As the API server would give it back. */
function asStored(status: Draft): DatabaseServiceStatus {
  return JSON.parse(JSON.stringify(status)) as DatabaseServiceStatus;
}
