import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import type { StatusCondition } from '../../constructs/api/status.ts';
import { episodes, inWords, type Drift } from '../drift/index.ts';
import type { Health, Verdict } from '../health/judge.ts';
import { committed, merged, synced, type GitFacts } from './git-chain.ts';
import { longestMessage } from './longest-message.ts';

/** What conditions are made of, beside those before. */
export interface ConditionFacts {
  readonly health: Health;
  readonly tls: Verdict;
  readonly backup: Verdict;
  readonly storage: Verdict;
  /** What others changed and drift.policy leaves as it is. */
  readonly left: readonly Drift[];
  /** What others added and is left alone. */
  readonly added: readonly Drift[];
  /** How to get what somebody meant by an addition. */
  readonly remedy: string | undefined;
  /** Fights about what is left, each in words. */
  readonly contests: readonly string[];
  /** Until when nothing is corrected, RFC 3339, and why. */
  readonly pause: { readonly until: string; readonly reason: string | undefined } | undefined;
  readonly isApplied: boolean;
  readonly chain: Omit<GitFacts, 'left' | 'generation'>;
  /** Everything that this generation states has been found or made true. */
  readonly isWhole: boolean;
  /** It was before, if it is not now. */
  readonly wasWhole: boolean;
  readonly generation: number;
  /** RFC 3339. */
  readonly now: string;
}

const verdictsOf: Readonly<
  Record<string, (facts: ConditionFacts, before: StatusCondition | undefined) => Verdict | undefined>
> = {
  Ready: ({ health }) => health.ready,
  Available: ({ health }) => health.available,
  Progressing: ({ health }) => health.progressing,
  Degraded: ({ health }) => health.degraded,
  Stalled: ({ health }) => health.stalled,
  Drifted: drifted,
  Paused: paused,
  StorageCritical: ({ storage }) => storage,
  TlsReady: ({ tls }) => tls,
  BackupCurrent: ({ backup }) => backup,
  Committed: (facts, before) => committed({ ...facts, ...facts.chain }, before),
  Merged: (facts, before) => merged({ ...facts, ...facts.chain }, before),
  Synced: (facts) => synced({ ...facts, ...facts.chain }),
};

/** The types of conditions that we write. */
export const conditionTypes: ReadonlySet<string> = new Set(Object.keys(verdictsOf));

/** The conditions that hold now; a time moves only when its status changes. */
export function conditionsOf(facts: ConditionFacts, before: readonly StatusCondition[]): readonly StatusCondition[] {
  return Object.entries(verdictsOf).flatMap(([type, verdictOf]) => {
    const old = before.find((condition) => condition.type === type);
    const verdict = verdictOf(facts, old);
    if (verdict === undefined) return [];
    const { holds, reason, message } = verdict;
    const status = holds ? 'True' : 'False';
    const lastTransitionTime = old?.status === status ? old.lastTransitionTime : facts.now;
    return [{ type, status, reason, message, lastTransitionTime, observedGeneration: facts.generation }];
  });
}

/**
 * Whether the status says that this generation was applied whole. It may be lost or forged, so only courtesies depend on it: whether a change is
 * told as somebody's, and what drift.policy Report leaves alone after a restart.
 */
export function wasSettled({ status, metadata }: StoredDatabaseService): boolean {
  const drifted = status?.conditions?.find(({ type }) => type === 'Drifted');
  return drifted?.observedGeneration === metadata.generation && comparedReasons.has(drifted.reason);
}

/** Whether the status says that a Secret was lost: that it was there must not be forgotten with the process. */
export function hasLostCredentials({ status }: StoredDatabaseService): boolean {
  const stalled = status?.conditions?.find(({ type }) => type === 'Stalled');
  return stalled?.status === 'True' && stalled.reason === ('CredentialsMissing' satisfies Verdict['reason']);
}

const comparedReasons: ReadonlySet<string> = new Set<Verdict['reason']>([
  'InTrue',
  'DriftReported',
  'Contested',
  'AdditionReported',
  'NotAllPutBack',
]);

function drifted({ left, added, remedy, contests, isApplied, isWhole, wasWhole }: ConditionFacts): Verdict {
  const told = [...contests, ...episodes([...left, ...added]).map(inWords), ...(remedy === undefined ? [] : [remedy])];
  if (!isApplied) {
    const message =
      told.length === 0 ? 'A GitOps tool applies; the condition Synced says whether it has.' : told.join(' ');
    const reason = told.length === 0 ? 'NotApplied' : 'LiveWasChanged';
    return { holds: told.length > 0, reason, message: message.slice(0, longestMessage) };
  }
  if (!isWhole) {
    const reason = wasWhole ? 'NotAllPutBack' : 'NotAllApplied';
    const end = wasWhole ? 'Not everything could be put back.' : 'Not everything that is stated has been applied.';
    const message = `${told.join(' ').slice(0, longestMessage - end.length - 1)} ${end}`.trim();
    return { holds: told.length > 0, reason, message };
  }
  if (told.length === 0) {
    return { holds: false, reason: 'InTrue', message: 'Every field that Plumbline states has its value.' };
  }
  const reported = left.length > 0 ? 'DriftReported' : 'AdditionReported';
  const reason = contests.length > 0 ? 'Contested' : reported;
  return { holds: true, reason, message: told.join(' ').slice(0, longestMessage) };
}

function paused({ pause }: ConditionFacts): Verdict {
  if (pause === undefined) return { holds: false, reason: 'NotPaused', message: 'drift.pause is not in force.' };
  const why = pause.reason === undefined || pause.reason === '' ? '' : ` (${pause.reason})`;
  return { holds: true, reason: 'DriftPaused', message: `Nothing is corrected until ${pause.until}${why}.` };
}
