import type { V1PolicyRule } from '@kubernetes/client-node';
import { gitDestinationPlural } from '../api/git-destination/resource.ts';
import { group, plural } from '../api/resource.ts';
import type { Json } from '../emit.ts';
import { controllerName } from './settings.ts';

type Rules = readonly Json<V1PolicyRule>[];

const kept = ['create', 'delete', 'get', 'list', 'patch', 'watch'];

/**
 * What the controller may do in a namespace whose databases it looks after: what it does, and nothing else. Server-side apply is `patch`, and
 * `create` too where there is no such object yet.
 *
 * Kubernetes lets nobody hand on a right that he does not have, and the controller makes the Role of each database's members. All that they may do
 * it does itself, but for `get` on pods.
 * Source: https://kubernetes.io/docs/reference/access-authn-authz/rbac/#privilege-escalation-prevention-and-bootstrapping
 */
export const databaseRights: Rules = [
  // `patch` is for the finalizer of a database that is in Git, and for nothing else.
  { apiGroups: [group], resources: [plural], verbs: ['get', 'list', 'patch', 'watch'] },
  { apiGroups: [group], resources: [`${plural}/status`], verbs: ['patch'] },
  // Looked at by clusters such as OpenShift: only who may do this may name a DatabaseService as the owner of an object.
  { apiGroups: [group], resources: [`${plural}/finalizers`], verbs: ['update'] },
  { apiGroups: [''], resources: ['configmaps', 'persistentvolumeclaims', 'serviceaccounts', 'services'], verbs: kept },
  { apiGroups: ['apps'], resources: ['statefulsets'], verbs: kept },
  { apiGroups: ['apps'], resources: ['controllerrevisions'], verbs: ['get'] },
  { apiGroups: ['batch'], resources: ['cronjobs'], verbs: kept },
  { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs: kept },
  { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: kept },
  { apiGroups: ['rbac.authorization.k8s.io'], resources: ['rolebindings', 'roles'], verbs: kept },
  // None is ever deleted. But those clusters let nobody give an object an owner who may not delete it.
  { apiGroups: [''], resources: ['secrets'], verbs: kept },
  { apiGroups: [''], resources: ['pods'], verbs: ['delete', 'get', 'list', 'patch', 'watch'] },
  { apiGroups: ['batch'], resources: ['jobs'], verbs: ['list', 'watch'] },
  { apiGroups: [''], resources: ['events'], verbs: ['create', 'list', 'patch'] },
];

/** What it may do in the cluster, for GitDestinations. */
export const destinationRights: Rules = [
  { apiGroups: [group], resources: [gitDestinationPlural], verbs: ['list', 'watch'] },
  { apiGroups: [group], resources: [`${gitDestinationPlural}/status`], verbs: ['patch'] },
];

/** What it may do in its own namespace, for the same: what they are let in by is in Secrets there. */
export const destinationSecretRights: Rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }];

/** What it may do in its own namespace: keep its lease. `create` has no name that could be compared. */
export const leaseRights: Rules = [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
  {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    resourceNames: [controllerName],
    verbs: ['get', 'patch'],
  },
];

/** What it may do in the cluster, to find out who reads its metrics and whether he may. */
export const metricsRights: Rules = [
  { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
  { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
];

/** For whoever is to read them: to be bound to the ServiceAccount of Prometheus. */
export const readerRights: Rules = [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }];
