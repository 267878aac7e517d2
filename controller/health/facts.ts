import {
  identityAnnotation,
  notAfterAnnotation,
  notBeforeAnnotation,
  primaryRole,
  roleLabel,
} from '../../constructs/labels.ts';
import { lifetimeOf, type Lifetime } from '../certificates/lifetime.ts';
import type { KubeObject } from '../kube/index.ts';
import { servedCertificate, type ServedCertificate } from './served-certificate.ts';

/** The few fields of an object that health is judged by. */
export type Facts =
  | {
      readonly kind: 'StatefulSet';
      /** Its controller has seen the newest change. */
      readonly isObserved: boolean;
      readonly wanted: number;
      /** Pods that exist. */
      readonly replicas: number;
      /** Pods whose template is the newest one. Revisions say less: with OnDelete Kubernetes never moves `currentRevision`. */
      readonly updated: number;
    }
  | {
      readonly kind: 'Pod';
      readonly isPrimary: boolean;
      readonly isReady: boolean;
      readonly trouble: string | undefined;
      /** What the member says of TLS. */
      readonly served?: ServedCertificate;
    }
  | { readonly kind: 'PersistentVolumeClaim'; readonly hasData: boolean }
  /** `lifetime`: of the certificate in it. */
  | { readonly kind: 'Secret'; readonly lifetime: Lifetime | undefined }
  | { readonly kind: 'none' };

export function factsOf(object: KubeObject): Facts {
  switch (object.kind) {
    case 'StatefulSet':
      return statefulSet(object);
    case 'Pod':
      return pod(object);
    case 'PersistentVolumeClaim':
      return {
        kind: 'PersistentVolumeClaim',
        hasData: object.metadata.annotations?.[identityAnnotation] !== undefined,
      };
    case 'Secret': {
      const { annotations = {} } = object.metadata;
      const lifetime = lifetimeOf(annotations[notBeforeAnnotation], annotations[notAfterAnnotation]);
      return { kind: 'Secret', lifetime };
    }
    default:
      return { kind: 'none' };
  }
}

function statefulSet(object: KubeObject): Facts {
  const spec = record(object['spec']);
  const status = record(object['status']);
  return {
    kind: 'StatefulSet',
    isObserved: number(status, 'observedGeneration') >= (object.metadata.generation ?? 0),
    wanted: number(spec, 'replicas'),
    replicas: number(status, 'replicas'),
    updated: number(status, 'updatedReplicas'),
  };
}

function pod(object: KubeObject): Facts {
  const status = record(object['status']);
  // A pod that has ended stays with all its labels until somebody deletes it: its node went away, or the kubelet evicted it.
  const isEnded =
    ['Failed', 'Succeeded'].includes(text(status, 'phase') ?? '') || text(status, 'reason') === 'NodeLost';
  const isReady =
    !isEnded && object.metadata.deletionTimestamp === undefined && condition(status, 'Ready', 'True') !== undefined;
  const served = servedCertificate(object.metadata);
  return {
    kind: 'Pod',
    isPrimary: object.metadata.labels?.[roleLabel] === primaryRole,
    isReady,
    trouble: isEnded ? ended(status) : isReady ? undefined : (unscheduled(status) ?? stuck(status)),
    ...(served === undefined ? {} : { served }),
  };
}

function ended(status: Fields): string {
  return sentence(status) || (text(status, 'phase') ?? '');
}

function unscheduled(status: Fields): string | undefined {
  const found = condition(status, 'PodScheduled', 'False');
  return found && sentence(found);
}

/** The first container that waits for more than its turn. */
function stuck(status: Fields): string | undefined {
  const found = [...records(status['initContainerStatuses']), ...records(status['containerStatuses'])]
    .map((container) => record(record(container['state'])['waiting']))
    .find((waiting) => !harmless.includes(text(waiting, 'reason') ?? ''));
  return found && sentence(found);
}

/** Why a container waits that will start by itself; without a reason it does not wait. */
const harmless = ['', 'ContainerCreating', 'PodInitializing'];

function condition(status: Fields, type: string, value: 'True' | 'False'): Fields | undefined {
  return records(status['conditions']).find((one) => text(one, 'type') === type && text(one, 'status') === value);
}

function sentence(fields: Fields): string {
  return [text(fields, 'reason'), text(fields, 'message')].filter(Boolean).join(': ');
}

type Fields = Readonly<Record<string, unknown>>;

function record(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function records(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(record) : [];
}

function number(fields: Fields, name: string): number {
  const value = fields[name];
  return typeof value === 'number' ? value : 0;
}

function text(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' ? value : undefined;
}
