import { apiVersion, kind, plural } from '../../constructs/api/resource.ts';
import type { ResourceType } from '../kube/index.ts';

const type = (apiVersion: string, kind: string, plural: string): ResourceType => ({
  apiVersion,
  kind,
  plural,
  namespaced: true,
});

export const databaseServices: ResourceType = { apiVersion, kind, plural, namespaced: true };
export const pods = type('v1', 'Pod', 'pods');
export const claims = type('v1', 'PersistentVolumeClaim', 'persistentvolumeclaims');
/** Made by Kubernetes from the CronJob of the backups, whose label they bear. */
export const jobs = type('batch/v1', 'Job', 'jobs');
/** Not watched: they come in bursts, and are asked for where nothing else says why. */
export const events = type('v1', 'Event', 'events');
export const secrets = type('v1', 'Secret', 'secrets');
/** Templates of StatefulSets, as they have been; not watched. */
export const controllerRevisions = type('apps/v1', 'ControllerRevision', 'controllerrevisions');
export const statefulSets = type('apps/v1', 'StatefulSet', 'statefulsets');

/** What is rendered, but for Secrets. Anything of these kinds that a database no longer states is removed; claims never are. */
const rendered: readonly ResourceType[] = [
  type('v1', 'ServiceAccount', 'serviceaccounts'),
  type('rbac.authorization.k8s.io/v1', 'Role', 'roles'),
  type('rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings'),
  type('v1', 'ConfigMap', 'configmaps'),
  type('v1', 'Service', 'services'),
  statefulSets,
  type('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets'),
  type('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies'),
  type('batch/v1', 'CronJob', 'cronjobs'),
];

/** How a kind is watched: of Secrets nothing but the metadata is asked for. */
export interface WatchedKind {
  readonly type: ResourceType;
  readonly metadataOnly: boolean;
  /** Objects to a page of a list, where they are large: a page is in memory as a whole, several times over. Defaults to what is usual. */
  readonly pageSize?: number | undefined;
}

/** The scripts of the members have 90 KB, a pod or its template 10 to 20 KB with what the API server notes on it. */
const pageSizes: Readonly<Record<string, number>> = { ConfigMap: 25, StatefulSet: 100, Pod: 100 };

/** Everything that bears the label of a database. */
export const watchedKinds: readonly WatchedKind[] = [
  ...[...rendered, claims, pods, jobs].map((type) => ({ type, metadataOnly: false, pageSize: pageSizes[type.kind] })),
  { type: secrets, metadataOnly: true },
];

const byKind = new Map(watchedKinds.map(({ type }) => [type.kind, type]));

/** @throws Error for a kind that is not watched: a renderer that states it would never see its drift. */
export function typeOf(object: { readonly kind: string }): ResourceType {
  const found = byKind.get(object.kind);
  if (!found) throw new Error(`${object.kind} is not among the watched kinds`);
  return found;
}

export function isRemovable(kind: string): boolean {
  return rendered.some((type) => type.kind === kind);
}
