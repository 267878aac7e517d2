import { isDeepStrictEqual } from 'node:util';
import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import type { DatabaseServiceStatus, DriftReceipt, StatusCondition } from '../../constructs/api/status.ts';
import { databaseLabel } from '../../constructs/labels.ts';
import { engines } from '../../constructs/engine.ts';
import type { Drift } from '../drift/index.ts';
import type { Health, Verdict } from '../health/judge.ts';

/** What a status is made of, beside the status before. */
export interface StatusFacts {
  readonly resource: StoredDatabaseService;
  readonly health: Health;
  readonly replicas: number;
  readonly readyReplicas: number;
  readonly credentialsSecret: string;
  readonly corrected: readonly Drift[];
  readonly reported: readonly Drift[];
  readonly git: DatabaseServiceStatus['git'];
  /** RFC 3339. */
  readonly now: string;
}

const longestList = 10;

/** The status that holds now. `undefined` when it equals the one before: then nothing is written. Pure. */
export function nextStatus(facts: StatusFacts): DatabaseServiceStatus | undefined {
  const before = facts.resource.status;
  const { lastReconcileTime: _, ...rest } = before ?? {};
  const next = compose(facts, before);
  return isDeepStrictEqual(rest, JSON.parse(JSON.stringify(next)))
    ? undefined
    : { ...next, lastReconcileTime: facts.now };
}

function compose(facts: StatusFacts, before: DatabaseServiceStatus | undefined): DatabaseServiceStatus {
  const { resource, health, replicas, readyReplicas } = facts;
  const { name, namespace, generation } = resource.metadata;
  const { port } = engines[resource.spec.engine];
  const host = (service: string): string => `${service}.${namespace}.svc:${port}`;
  return {
    observedGeneration: generation,
    phase: health.phase,
    conditions: conditions(facts, before?.conditions ?? []),
    replicas,
    readyReplicas,
    ready: `${readyReplicas}/${resource.spec.replicas}`,
    selector: `${databaseLabel}=${name}`,
    primary: health.primary,
    endpoints: { readWrite: host(name), readOnly: host(`${name}-ro`) },
    credentialsSecret: facts.credentialsSecret,
    drift: drift(facts, before?.drift),
    git: facts.git,
  };
}

function conditions(facts: StatusFacts, before: readonly StatusCondition[]): readonly StatusCondition[] {
  const { health, now, resource } = facts;
  const verdicts: readonly (readonly [string, Verdict])[] = [
    ['Ready', health.ready],
    ['Available', health.available],
    ['Progressing', health.progressing],
    ['Degraded', health.degraded],
    ['Stalled', health.stalled],
    ['Drifted', drifted(facts)],
  ];
  return verdicts.map(([type, { holds, reason, message }]) => {
    const status = holds ? 'True' : 'False';
    const old = before.find((condition) => condition.type === type);
    const lastTransitionTime = old?.status === status ? old.lastTransitionTime : now;
    return { type, status, reason, message, lastTransitionTime, observedGeneration: resource.metadata.generation };
  });
}

function drifted({ reported, resource }: StatusFacts): Verdict {
  const left = reported.length > 0 ? reported : [];
  const old = resource.status?.conditions?.find((condition) => condition.type === 'Drifted');
  if (left.length > 0) return { holds: true, reason: 'DriftReported', message: left.map(inWords).join(' ') };
  if (old?.status === 'True' && resource.spec.drift?.policy === 'Report') {
    return { holds: true, reason: 'DriftReported', message: old.message };
  }
  return { holds: false, reason: 'InTrue', message: 'Every field that Plumbline states has its value.' };
}

function drift(
  { corrected, reported, now }: StatusFacts,
  before: DatabaseServiceStatus['drift'],
): DatabaseServiceStatus['drift'] {
  if (corrected.length + reported.length === 0) return before;
  const fresh = [
    ...corrected.map((one) => receipt(one, 'Corrected', now)),
    ...reported.map((one) => receipt(one, 'Reported', now)),
  ];
  return {
    corrected: (before?.corrected ?? 0) + corrected.length,
    receipts: [...fresh, ...(before?.receipts ?? [])].slice(0, longestList),
  };
}

function receipt(
  { object, field, was, now, editor }: Drift,
  action: DriftReceipt['action'],
  seen: string,
): DriftReceipt {
  const { manager, operation } = editor;
  return { time: editor.time ?? seen, object, field, was, now, manager, operation, action };
}

/** One drift as a sentence. */
export function inWords({ object, field, was, now, editor }: Drift): string {
  const who = editor.manager === 'unknown' ? 'Somebody' : editor.manager;
  if (field === '') return `${who} deleted ${object}.`;
  if (field === 'metadata.managedFields') return `${who} wiped the managedFields of ${object}.`;
  if (now === undefined) return `${who} removed ${field} of ${object}.`;
  return `${who} changed ${field} of ${object} from ${was} to ${now}.`;
}
