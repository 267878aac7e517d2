import type { V1PodSpec } from '@kubernetes/client-node';
import assert from 'node:assert/strict';
import type { DatabaseServiceDocument } from '../../../constructs/api/resource.ts';
import type { DatabaseServiceSpec } from '../../../constructs/api/spec.ts';
import type { Json } from '../../../constructs/emit.ts';
import type { Manifest } from '../../../constructs/manifest.ts';
import { render } from '../../../constructs/render.ts';

/** The smallest database, `orders` in `shop`, with what a test changes in its spec. */
export function orders(spec: Partial<DatabaseServiceSpec> = {}, name = 'orders'): DatabaseServiceDocument {
  return {
    apiVersion: 'plumbline.dev/v1alpha1',
    kind: 'DatabaseService',
    metadata: { name, namespace: 'shop' },
    spec: { engine: 'postgresql', version: '17', replicas: 1, storage: { size: '10Gi' }, ...spec },
  };
}

/** A spec that makes every part render. */
export const everything: Partial<DatabaseServiceSpec> = {
  replicas: 3,
  durability: 'Sync',
  parameters: { max_connections: '200', work_mem: '8MB' },
  scheduling: {
    spreadBy: 'topology.kubernetes.io/zone',
    nodeSelector: { pool: 'db' },
    tolerations: [{ key: 'pool', operator: 'Equal', value: 'db', effect: 'NoSchedule' }],
    priorityClass: 'databases',
  },
  access: { from: [{ namespaceSelector: { matchLabels: { team: 'shop' } } }] },
  backup: { schedule: '30 2 * * *', volume: { size: '20Gi', storageClass: 'slow' } },
};

/** The rendered object of that kind and name, by its model. */
export function rendered<T extends object>(
  resource: DatabaseServiceDocument,
  kind: string,
  name: string,
): Json<T> & Manifest {
  const found = render(resource).filter((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  assert.equal(found.length, 1, `one ${kind} ${name}`);
  return found[0] as Json<T> & Manifest;
}

/** Every pod template of a database, by the name of what makes the pods. */
export function podTemplates(resource: DatabaseServiceDocument): readonly PodTemplate[] {
  return render(resource).flatMap((manifest) => {
    const template = templateOf(manifest);
    return template ? [{ owner: `${manifest.kind}/${manifest.metadata.name}`, ...template }] : [];
  });
}

export interface PodTemplate {
  readonly owner: string;
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: PodSpec;
}

type PodSpec = Json<V1PodSpec>;

function templateOf(manifest: Manifest): Omit<PodTemplate, 'owner'> | undefined {
  const spec = manifest['spec'] as { template?: unknown; jobTemplate?: { spec: { template: unknown } } } | undefined;
  return (spec?.jobTemplate?.spec.template ?? spec?.template) as Omit<PodTemplate, 'owner'> | undefined;
}
