import type {
  V1ClusterRole,
  V1ClusterRoleBinding,
  V1PolicyRule,
  V1Role,
  V1RoleBinding,
  V1ServiceAccount,
} from '@kubernetes/client-node';
import type { Construct } from 'constructs';
import { emit, type Json } from '../emit.ts';
import { controllerLabels as labels } from './labels.ts';
import {
  databaseRights,
  destinationRights,
  destinationSecretRights,
  leaseRights,
  metricsRights,
  readerRights,
} from './rights.ts';
import { controllerName, type Settings } from './settings.ts';

const apiGroup = 'rbac.authorization.k8s.io';
const apiVersion = `${apiGroup}/v1`;

/** Who the controller is, and what it may do: in all namespaces, or in those that it looks after. */
export function access(scope: Construct, settings: Settings): void {
  const { namespace, watchNamespaces, globalName, gitDestinations, metricsAuth } = settings;
  emit<V1ServiceAccount>(scope, 'service-account', {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: controllerName, namespace, labels },
    automountServiceAccountToken: false,
  });
  const everywhere = [
    ...(watchNamespaces.length === 0 ? databaseRights : []),
    ...(gitDestinations ? destinationRights : []),
  ];
  if (everywhere.length > 0) {
    clusterRole(scope, globalName, everywhere);
    clusterRoleBinding(scope, settings, globalName);
  }
  if (gitDestinations && watchNamespaces.length > 0) {
    role(scope, settings, namespace, `${controllerName}-git`, destinationSecretRights);
  }
  for (const watched of watchNamespaces) role(scope, settings, watched, controllerName, databaseRights);
  role(scope, settings, namespace, `${controllerName}-lease`, leaseRights);
  if (metricsAuth === 'None') return;
  clusterRole(scope, `${globalName}-metrics-auth`, metricsRights);
  clusterRoleBinding(scope, settings, `${globalName}-metrics-auth`);
  clusterRole(scope, `${globalName}-metrics-reader`, readerRights);
}

function clusterRole(scope: Construct, name: string, rules: readonly Json<V1PolicyRule>[]): void {
  emit<V1ClusterRole>(scope, `cluster-role-${name}`, {
    apiVersion,
    kind: 'ClusterRole',
    metadata: { name, labels },
    rules,
  });
}

function clusterRoleBinding(scope: Construct, settings: Settings, name: string): void {
  emit<V1ClusterRoleBinding>(scope, `cluster-role-binding-${name}`, {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name, labels },
    roleRef: { apiGroup, kind: 'ClusterRole', name },
    subjects: [subject(settings)],
  });
}

function role(
  scope: Construct,
  settings: Settings,
  namespace: string,
  name: string,
  rules: readonly Json<V1PolicyRule>[],
): void {
  const metadata = { name, namespace, labels };
  emit<V1Role>(scope, `role-${namespace}-${name}`, { apiVersion, kind: 'Role', metadata, rules });
  emit<V1RoleBinding>(scope, `role-binding-${namespace}-${name}`, {
    apiVersion,
    kind: 'RoleBinding',
    metadata,
    roleRef: { apiGroup, kind: 'Role', name },
    subjects: [subject(settings)],
  });
}

function subject({ namespace }: Settings) {
  return { kind: 'ServiceAccount', name: controllerName, namespace };
}
