import {
  appliedKey,
  historyKey,
  identityAnnotation,
  notAfterAnnotation,
  notBeforeAnnotation,
  primaryRole,
  restartedAtAnnotation,
  roleLabel,
  secretsAnnotation,
  templateAnnotation,
} from '../../constructs/labels.ts';
import { lifetimeOf, type Lifetime } from '../certificates/lifetime.ts';
import type { KubeObject } from '../kube/index.ts';
import { json, number, record, records, text, texts, type Fields } from './fields.ts';
import { memberState, positionOf, type MemberState } from './member-state.ts';
import { servedCertificate, type ServedCertificate } from './served-certificate.ts';
import { usageOf, type Usage } from './usage.ts';
import { inWords, isCreating, isEnded, symptomOf, wordsOf, type Symptom } from './symptom.ts';

/** The few fields of an object that health is judged by. */
export type Facts =
  | {
      readonly kind: 'StatefulSet';
      /** Its controller has seen the newest change. */
      readonly isObserved: boolean;
      readonly wanted: number;
      /** Pods that exist. */
      readonly replicas: number;
      /** The name of the template as it is, by which Kubernetes tells from which one a pod was made. */
      readonly revision: string | undefined;
      /** Digest of the template as it was rendered: what a pod bears that is made now. */
      readonly template: string | undefined;
      /** By what it was last asked to make the members again: the same. */
      readonly restartedAt: string | undefined;
    }
  | {
      readonly kind: 'Pod';
      readonly isPrimary: boolean;
      readonly isReady: boolean;
      /** The container of its server is ready, whatever is beside it. */
      readonly isServerReady: boolean;
      /** It will not come back: its node went away, or the kubelet evicted it. */
      readonly isEnded: boolean;
      /** What keeps it from being ready; undefined where nothing but time is missing. */
      readonly symptom: Symptom | undefined;
      /** The same in the words of Kubernetes or of the member. */
      readonly trouble: string | undefined;
      /** Its containers are being created: its volumes have to be there first. */
      readonly isCreating: boolean;
      /** What its member says of its volume. */
      readonly usage: Usage;
      /** What the member says of TLS. */
      readonly served?: ServedCertificate;
      /** Digest of the template that it was made from. */
      readonly template: string | undefined;
      /** By what it was asked to make the members again when it was made last. */
      readonly restartedAt: string | undefined;
      /** The name that Kubernetes gives this template. */
      readonly revision: string | undefined;
      readonly member: MemberState;
      /** How far it is in the WAL, in bytes. It moves all the time, so it wakes nobody. */
      readonly position: number;
      /** When it was made, scheduled or turned (un)ready last, in milliseconds. */
      readonly movedAt: number;
      /** In milliseconds. */
      readonly createdAt: number;
      /** Versions of Secrets, by their names, that the kubelet was asked to refresh the mounts for. */
      readonly refreshed: Readonly<Record<string, string>>;
    }
  /** The history of the database, and what was applied of it, as they are stored. */
  | { readonly kind: 'History'; readonly text: string; readonly applied: string | undefined }
  | {
      readonly kind: 'PersistentVolumeClaim';
      readonly hasData: boolean;
      /** It has no volume yet. */
      readonly isPending: boolean;
      /** Undefined where it names none and there is no default. */
      readonly storageClass: string | undefined;
    }
  | {
      readonly kind: 'Secret';
      /** Of the certificate in it. */
      readonly lifetime: Lifetime | undefined;
      /** Another after each change. */
      readonly version: string;
      /** When it was changed last, in milliseconds; Kubernetes tells whole seconds. */
      readonly changedAt: number;
    }
  | {
      readonly kind: 'CronJob';
      /** When a Job of it succeeded last, in milliseconds. */
      readonly lastSuccess: number | undefined;
      /** When the Job was due that its controller made last, in milliseconds. */
      readonly lastSchedule: number | undefined;
      /** In milliseconds. */
      readonly createdAt: number;
      readonly isSuspended: boolean;
    }
  | {
      readonly kind: 'Job';
      /** `waiting`: its first pod has not started. */
      readonly outcome: 'waiting' | 'running' | 'succeeded' | 'failed';
      /** In milliseconds. */
      readonly startedAt: number;
      /** In milliseconds; 0 before it has ended. */
      readonly endedAt: number;
      /** Why it failed, in the words of Kubernetes. */
      readonly why: string;
    }
  | { readonly kind: 'none' };

const none: Facts = { kind: 'none' };

/** Source: https://kubernetes.io/docs/reference/labels-annotations-taints/#controller-revision-hash */
const revisionLabel = 'controller-revision-hash';

export function factsOf(object: KubeObject): Facts {
  switch (object.kind) {
    case 'StatefulSet':
      return statefulSet(object);
    case 'Pod':
      return pod(object);
    case 'ConfigMap': {
      const data = record(object['data']);
      const history = text(data, historyKey);
      return history === undefined ? none : { kind: 'History', text: history, applied: text(data, appliedKey) };
    }
    case 'PersistentVolumeClaim':
      return {
        kind: 'PersistentVolumeClaim',
        hasData: object.metadata.annotations?.[identityAnnotation] !== undefined,
        isPending: text(record(object['status']), 'phase') === 'Pending',
        storageClass: text(record(object['spec']), 'storageClassName'),
      };
    case 'Secret': {
      const { annotations = {}, resourceVersion: version = '' } = object.metadata;
      const lifetime = lifetimeOf(annotations[notBeforeAnnotation], annotations[notAfterAnnotation]);
      return { kind: 'Secret', lifetime, version, changedAt: changedAt(object) };
    }
    case 'CronJob':
      return {
        kind: 'CronJob',
        lastSuccess: latest([text(record(object['status']), 'lastSuccessfulTime')]) || undefined,
        lastSchedule: latest([text(record(object['status']), 'lastScheduleTime')]) || undefined,
        createdAt: latest([object.metadata.creationTimestamp]),
        isSuspended: record(object['spec'])['suspend'] === true,
      };
    case 'Job':
      return job(record(object['status']));
    default:
      return none;
  }
}

/** Whether more of an object is looked at than its metadata. */
export function hasFacts(object: KubeObject): boolean {
  return factsOf(object) !== none;
}

function statefulSet(object: KubeObject): Facts {
  const spec = record(object['spec']);
  const status = record(object['status']);
  const annotations = record(record(record(spec['template'])['metadata'])['annotations']);
  return {
    kind: 'StatefulSet',
    isObserved: number(status, 'observedGeneration') >= (object.metadata.generation ?? 0),
    wanted: number(spec, 'replicas'),
    replicas: number(status, 'replicas'),
    revision: text(status, 'updateRevision'),
    template: text(annotations, templateAnnotation),
    restartedAt: text(annotations, restartedAtAnnotation),
  };
}

function job(status: Fields): Facts {
  const [failed, complete] = [condition(status, 'Failed', 'True'), condition(status, 'Complete', 'True')];
  const endedAt = latest([text(failed ?? complete ?? {}, 'lastTransitionTime')]);
  const base = { kind: 'Job', startedAt: latest([text(status, 'startTime')]), endedAt } as const;
  if (failed !== undefined) return { ...base, outcome: 'failed', why: inWords(wordsOf(failed)) };
  if (complete !== undefined) return { ...base, outcome: 'succeeded', why: '' };
  const isWaiting = number(status, 'active') > 0 && number(status, 'ready') === 0 && number(status, 'failed') === 0;
  return { ...base, outcome: isWaiting ? 'waiting' : 'running', why: '' };
}

function pod(object: KubeObject): Facts {
  const status = record(object['status']);
  const hasEnded = isEnded(status);
  const isReady =
    !hasEnded && object.metadata.deletionTimestamp === undefined && condition(status, 'Ready', 'True') !== undefined;
  const served = servedCertificate(object.metadata);
  const { labels = {}, annotations = {} } = object.metadata;
  const member = memberState(annotations);
  const symptom = isReady ? undefined : symptomOf(status, member);
  return {
    kind: 'Pod',
    isPrimary: labels[roleLabel] === primaryRole,
    isReady,
    isServerReady: isContainerReady(status, 'postgres'),
    ...(served === undefined ? {} : { served }),
    isEnded: hasEnded,
    symptom,
    trouble: symptom && inWords(symptom),
    isCreating: symptom === undefined && isCreating(status),
    usage: usageOf(annotations),
    template: annotations[templateAnnotation],
    restartedAt: annotations[restartedAtAnnotation],
    revision: labels[revisionLabel],
    member,
    position: positionOf(annotations),
    movedAt: movedAt(object.metadata.creationTimestamp, status),
    createdAt: latest([object.metadata.creationTimestamp]),
    refreshed: texts(json(annotations[secretsAnnotation])),
  };
}

function isContainerReady(status: Fields, name: string): boolean {
  return records(status['containerStatuses']).some((one) => text(one, 'name') === name && one['ready'] === true);
}

function movedAt(creationTimestamp: string | undefined, status: Fields): number {
  const moves = records(status['conditions']).map((condition) => text(condition, 'lastTransitionTime'));
  return latest([creationTimestamp, ...moves]);
}

/** The API server notes when each manager changed it. */
function changedAt({ metadata }: KubeObject): number {
  return latest([metadata.creationTimestamp, ...(metadata.managedFields ?? []).map(({ time }) => time)]);
}

function latest(times: readonly (string | undefined)[]): number {
  return Math.max(0, ...times.map((time) => Date.parse(time ?? '')).filter(Number.isFinite));
}

function condition(status: Fields, type: string, value: 'True' | 'False'): Fields | undefined {
  return records(status['conditions']).find((one) => text(one, 'type') === type && text(one, 'status') === value);
}
