import type { Facts } from '../../../controller/health/facts.ts';
import { usageOf } from '../../../controller/health/usage.ts';
import { memberState } from '../../../controller/health/member-state.ts';

type FactsOf<K extends Facts['kind']> = Extract<Facts, { kind: K }>;

const says = {
  status: '{"state":"running","replication_state":"streaming"}',
  'plumbline.dev/settings': '{"digest":"new"}',
};

/** A pod that is ready, of template `new`, whose member streams and has made roles and database. */
export function podFacts(more: Partial<FactsOf<'Pod'>> = {}): FactsOf<'Pod'> {
  return {
    kind: 'Pod',
    isPrimary: false,
    isReady: true,
    isServerReady: true,
    isEnded: false,
    symptom: undefined,
    trouble: undefined,
    isCreating: false,
    usage: usageOf({}),
    template: 'new',
    restartedAt: undefined,
    revision: undefined,
    member: memberState(says),
    position: 0,
    movedAt: 0,
    createdAt: 0,
    refreshed: {},
    ...more,
  };
}

/** A StatefulSet whose pods are all there. */
export function setFacts(replicas: number, more: Partial<FactsOf<'StatefulSet'>> = {}): FactsOf<'StatefulSet'> {
  return {
    kind: 'StatefulSet',
    isObserved: true,
    wanted: replicas,
    replicas,
    revision: undefined,
    template: 'new',
    restartedAt: undefined,
    ...more,
  };
}
