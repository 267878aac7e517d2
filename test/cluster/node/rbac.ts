/** What a part of the node is allowed to watch, as a role of its own and the binding of its user. */
export function watcherRole(user: string, resources: Readonly<Record<string, readonly string[]>>): object[] {
  const rules = Object.entries(resources).map(([group, names]) => ({
    apiGroups: [group],
    resources: names,
    verbs: ['get', 'list', 'watch'],
  }));
  const apiGroup = 'rbac.authorization.k8s.io';
  const apiVersion = `${apiGroup}/v1`;
  return [
    { apiVersion, kind: 'ClusterRole', metadata: { name: user }, rules },
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: { name: user },
      roleRef: { apiGroup, kind: 'ClusterRole', name: user },
      subjects: [{ apiGroup, kind: 'User', name: user }],
    },
  ];
}
