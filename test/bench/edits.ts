import type { Patch } from '../../controller/kube/index.ts';

/** One edit of a field that Plumbline states, and how to see that it was put back. */
export interface Edit {
  readonly kind: string;
  /** Name of the object, after the name of the database. */
  readonly suffix: string;
  readonly patch: Patch['kind'];
  readonly body: (attempt: number) => unknown;
  /** Path of the field, by keys and list positions. */
  readonly path: readonly (string | number)[];
}

const managedBy = 'app.kubernetes.io/managed-by';
const label = (kind: string, suffix: string): Edit => ({
  kind,
  suffix,
  patch: 'merge',
  body: (n) => ({ metadata: { labels: { [managedBy]: `somebody-${n}` } } }),
  path: ['metadata', 'labels', managedBy],
});
const container = (fields: (n: number) => object) => (n: number) => ({
  spec: { template: { spec: { containers: [{ name: 'postgres', ...fields(n) }] } } },
});

/** Twenty different fields of eleven objects. */
export const edits: readonly Edit[] = [
  {
    kind: 'StatefulSet',
    suffix: '',
    patch: 'strategic',
    body: container((n) => ({ image: `example/evil:${n}` })),
    path: ['spec', 'template', 'spec', 'containers', 0, 'image'],
  },
  {
    kind: 'StatefulSet',
    suffix: '',
    patch: 'strategic',
    body: container((n) => ({ resources: { requests: { cpu: `${n + 1}m` } } })),
    path: ['spec', 'template', 'spec', 'containers', 0, 'resources', 'requests', 'cpu'],
  },
  merge('StatefulSet', '', ['spec', 'replicas'], (n) => 4 + (n % 3)),
  merge('StatefulSet', '', ['spec', 'template', 'spec', 'terminationGracePeriodSeconds'], (n) => n + 1),
  merge('StatefulSet', '', ['spec', 'template', 'metadata', 'labels', managedBy], (n) => `somebody-${n}`),
  label('StatefulSet', ''),
  merge('Service', '', ['spec', 'selector', 'plumbline.dev/role'], (n) => `nobody-${n}`),
  label('Service', ''),
  merge('Service', '-ro', ['spec', 'selector', 'plumbline.dev/role'], (n) => `nobody-${n}`),
  label('Service', '-members'),
  merge('ConfigMap', '-patroni', ['data', 'member.json'], (n) => `{"broken": ${n}}`),
  merge('ConfigMap', '-patroni-config', ['metadata', 'annotations', 'config'], (n) => `{"ttl": ${n}}`),
  merge('PodDisruptionBudget', '', ['spec', 'maxUnavailable'], (n) => 2 + n),
  label('PodDisruptionBudget', ''),
  merge('NetworkPolicy', '', ['spec', 'podSelector', 'matchLabels', 'plumbline.dev/database'], (n) => `other-${n}`),
  merge('CronJob', '-backup', ['spec', 'schedule'], (n) => `${n % 60} 5 * * *`),
  merge('CronJob', '-backup', ['spec', 'suspend'], () => true),
  label('ServiceAccount', '-members'),
  label('Role', '-members'),
  label('RoleBinding', '-members'),
];

function merge(kind: string, suffix: string, path: readonly string[], value: (n: number) => unknown): Edit {
  const body = (n: number): unknown => path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value(n));
  return { kind, suffix, patch: 'merge', body, path };
}

/** The value at a path; undefined where the path ends before. */
export function valueAt(object: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined),
    object,
  );
}
