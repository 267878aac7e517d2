import { primaryRole, roleLabel } from '../../constructs/labels.ts';
import type { KubeObject } from '../kube/index.ts';

/** The few fields of an object that health is judged by. */
export type Facts =
  | {
      readonly kind: 'StatefulSet';
      readonly isObserved: boolean;
      readonly wanted: number;
      readonly replicas: number;
      readonly ready: number;
      /** Members whose template is the newest one. */
      readonly updated: number;
      readonly isRolledOut: boolean;
    }
  | {
      readonly kind: 'Pod';
      readonly isPrimary: boolean;
      readonly isReady: boolean;
      readonly trouble: string | undefined;
    }
  | { readonly kind: 'PersistentVolumeClaim'; readonly isBound: boolean }
  | { readonly kind: 'none' };

export function factsOf(object: KubeObject): Facts {
  switch (object.kind) {
    case 'StatefulSet':
      return statefulSet(object);
    case 'Pod':
      return pod(object);
    case 'PersistentVolumeClaim':
      return { kind: 'PersistentVolumeClaim', isBound: text(record(object['status']), 'phase') === 'Bound' };
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
    ready: number(status, 'readyReplicas'),
    updated: number(status, 'updatedReplicas'),
    isRolledOut: text(status, 'updateRevision') === text(status, 'currentRevision'),
  };
}

function pod(object: KubeObject): Facts {
  const status = record(object['status']);
  const conditions = Array.isArray(status['conditions']) ? status['conditions'].map(record) : [];
  const containers = Array.isArray(status['containerStatuses']) ? status['containerStatuses'].map(record) : [];
  const waiting = containers
    .map((container) => record(record(container['state'])['waiting']))
    .find((state) => text(state, 'reason'));
  const unscheduled = conditions.find(
    (condition) => text(condition, 'type') === 'PodScheduled' && text(condition, 'status') === 'False',
  );
  const isEnded = ['Failed', 'Succeeded'].includes(text(status, 'phase') ?? '');
  const isReady = conditions.some(
    (condition) => text(condition, 'type') === 'Ready' && text(condition, 'status') === 'True',
  );
  return {
    kind: 'Pod',
    isPrimary: object.metadata.labels?.[roleLabel] === primaryRole,
    isReady: isReady && !isEnded && object.metadata.deletionTimestamp === undefined,
    trouble: unscheduled
      ? text(unscheduled, 'message')
      : waiting && isAlarming(waiting)
        ? sentence(waiting)
        : undefined,
  };
}

/** A container that is being created is no trouble; one that cannot be is. */
function isAlarming(waiting: Fields): boolean {
  return !['ContainerCreating', 'PodInitializing'].includes(text(waiting, 'reason') ?? '');
}

function sentence(waiting: Fields): string {
  return [text(waiting, 'reason'), text(waiting, 'message')].filter(Boolean).join(': ');
}

type Fields = Readonly<Record<string, unknown>>;

function record(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function number(fields: Fields, name: string): number {
  const value = fields[name];
  return typeof value === 'number' ? value : 0;
}

function text(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' ? value : undefined;
}
