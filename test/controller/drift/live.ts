import { statedTree } from '../../../controller/drift/index.ts';
import type { KubeObject, ManagedFieldsEntry } from '../../../controller/kube/index.ts';

export const ours = 'plumbline';

/** A StatefulSet as we would state it, small. */
export const stated: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: {
    name: 'orders',
    namespace: 'shop',
    labels: { 'plumbline.dev/database': 'orders' },
    annotations: { note: 'ours' },
    ownerReferences: [{ apiVersion: 'plumbline.dev/v1alpha1', kind: 'DatabaseService', name: 'orders', uid: 'u1' }],
  },
  spec: {
    replicas: 3,
    selector: { matchLabels: { 'plumbline.dev/database': 'orders' } },
    template: {
      spec: {
        hostNetwork: false,
        nodeSelector: { pool: 'db' },
        containers: [
          {
            name: 'postgres',
            image: 'pg:17',
            args: ['--password=x'],
            env: [{ name: 'HOME', value: '/tmp' }],
            ports: [{ containerPort: 5432, protocol: 'TCP' }],
            resources: { requests: { cpu: '1000m' } },
          },
        ],
      },
    },
  },
};

/** The object as the API server has it right after our apply. */
export function applied(object: KubeObject = stated, others: readonly ManagedFieldsEntry[] = []): KubeObject {
  const entry = entryOf(ours, 'Apply', statedTree(object), '2026-01-01T00:00:00Z');
  return { ...object, metadata: { ...object.metadata, uid: 'live', managedFields: [entry, ...others] } };
}

export function entryOf(
  manager: string,
  operation: 'Apply' | 'Update',
  fieldsV1: NonNullable<ManagedFieldsEntry['fieldsV1']>,
  time?: string,
  subresource?: string,
): ManagedFieldsEntry {
  const optional = { ...(time === undefined ? {} : { time }), ...(subresource === undefined ? {} : { subresource }) };
  return { manager, operation, fieldsType: 'FieldsV1', fieldsV1, ...optional };
}

/** A copy in which one value is replaced, or removed where the value is undefined. Paths are fields and list positions. */
export function changed(object: KubeObject, path: readonly (string | number)[], value: unknown): KubeObject {
  const copy = structuredClone(object);
  let node = copy as unknown as Record<string | number, unknown>;
  for (const step of path.slice(0, -1)) node = node[step] as Record<string | number, unknown>;
  const last = path.at(-1) ?? '';
  if (value === undefined && Array.isArray(node)) node.splice(Number(last), 1);
  else if (value === undefined) delete node[last];
  else node[last] = value;
  return copy;
}

/** Our entry of managedFields without the field: what the API server leaves when somebody else writes another value. */
export function disowned(object: KubeObject, steps: readonly string[]): KubeObject {
  const copy = structuredClone(object);
  let node = copy.metadata.managedFields?.[0]?.fieldsV1 as Record<string, Record<string, never>>;
  for (const step of steps.slice(0, -1)) node = node[step] as Record<string, Record<string, never>>;
  delete node[steps.at(-1) ?? ''];
  return copy;
}

/** The tree that has this one path. */
export function treeOf(steps: readonly string[]): Record<string, unknown> {
  return steps.reduceRight<Record<string, unknown>>((below, step) => ({ [step]: below }), {});
}
