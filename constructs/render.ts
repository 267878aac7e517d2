import { App, Chart } from 'cdk8s';
import type { DatabaseServiceDocument } from './api/resource.ts';
import { rendererOf } from './engine.ts';
import type { Manifest } from './manifest.ts';

/**
 * Every manifest that a database needs, in the order of apply, as plain JSON that nobody else holds. Pure: the same resource gives the same
 * manifests on any machine. The resource must be valid.
 *
 * Each call has an App of its own: in a shared one the time would grow with the square of the number of databases.
 */
export function render(resource: DatabaseServiceDocument): readonly Manifest[] {
  const chart = new Chart(new App(), 'database', { disableResourceNameHashes: true });
  rendererOf(resource)(chart, resource);
  return chart.toJson() as readonly Manifest[];
}

/** Name of a manifest's file, such as `statefulset.orders.yaml`: no two manifests of a database share one. */
export function fileName({ kind, metadata }: Manifest): string {
  return `${kind.toLowerCase()}.${metadata.name}.yaml`;
}

/** Access and configuration, credentials, services, workload, the rest. */
const order = [
  'ServiceAccount',
  'Role',
  'RoleBinding',
  'NetworkPolicy',
  'ConfigMap',
  'Secret',
  'Service',
  'StatefulSet',
  'PodDisruptionBudget',
  'PersistentVolumeClaim',
  'CronJob',
];

/** The manifests in the order in which they are applied; kinds that are not known come last. */
export function applyOrder(manifests: readonly Manifest[]): readonly Manifest[] {
  return manifests.toSorted((a, b) => rank(a) - rank(b));
}

function rank({ kind }: Manifest): number {
  const place = order.indexOf(kind);
  return place < 0 ? order.length : place;
}
