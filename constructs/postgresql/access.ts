import { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import { databaseLabel, informativeLabels } from '../labels.ts';
import { claimName, memberNames, ordinals } from '../names.ts';
import type { Database } from './defaults.ts';

/**
 * What the members may do in the Kubernetes API, for Patroni, the start gate and the steward. Rights name their objects wherever Kubernetes can
 * use that: `create`, `list` and `watch` have no name to compare.
 */
export function access(scope: Construct, database: Database): void {
  const { name, namespace, names } = database;
  const metadata = {
    name: names.members,
    namespace,
    labels: { ...informativeLabels(name, 'database'), [databaseLabel]: name },
  };
  new k8s.KubeServiceAccount(scope, 'service-account', { metadata, automountServiceAccountToken: false });
  new k8s.KubeRole(scope, 'role', { metadata, rules: rules(database) });
  new k8s.KubeRoleBinding(scope, 'role-binding', {
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: names.members },
    subjects: [{ kind: 'ServiceAccount', name: names.members, namespace }],
  });
}

/** Backups need nothing of the API: no token. */
export function backupAccess(scope: Construct, { name, namespace, names }: Database): void {
  new k8s.KubeServiceAccount(scope, 'backup-service-account', {
    metadata: {
      name: names.backup,
      namespace,
      labels: { ...informativeLabels(name, 'backup'), [databaseLabel]: name },
    },
    automountServiceAccountToken: false,
  });
}

function rules({ name, names }: Database): k8s.PolicyRule[] {
  const configMaps = [names.patroniConfig, names.patroniFailover, names.patroniLeader, names.patroniSync];
  return [
    { apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'list', 'watch'] },
    { apiGroups: [''], resources: ['configmaps'], resourceNames: configMaps, verbs: ['get', 'patch'] },
    { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
    {
      apiGroups: [''],
      resources: ['pods'],
      resourceNames: [...memberNames(name)],
      verbs: ['get', 'patch'],
    },
    {
      apiGroups: [''],
      resources: ['persistentvolumeclaims'],
      resourceNames: ordinals.map((ordinal) => claimName(name, ordinal)),
      verbs: ['get', 'patch'],
    },
  ];
}
