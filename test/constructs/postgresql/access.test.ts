import type { V1Role, V1RoleBinding, V1ServiceAccount } from '@kubernetes/client-node';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { everything, orders, rendered } from './orders.ts';

const database = orders(everything);
const members = Array.from({ length: 10 }, (_, ordinal) => `orders-${ordinal}`);

test('rights name their objects wherever Kubernetes can use that', () => {
  const { rules } = rendered<V1Role>(database, 'Role', 'orders-members');
  assert.deepEqual(rules, [
    { apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'list', 'watch'] },
    {
      apiGroups: [''],
      resources: ['configmaps'],
      resourceNames: [
        'orders-patroni-config',
        'orders-patroni-failover',
        'orders-patroni-leader',
        'orders-patroni-sync',
      ],
      verbs: ['get', 'patch'],
    },
    { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
    { apiGroups: [''], resources: ['pods'], resourceNames: members, verbs: ['get', 'patch'] },
    {
      apiGroups: [''],
      resources: ['persistentvolumeclaims'],
      resourceNames: members.map((name) => `data-${name}`),
      verbs: ['get', 'patch'],
    },
  ]);
});

test('the members alone have them', () => {
  const { subjects, roleRef } = rendered<V1RoleBinding>(database, 'RoleBinding', 'orders-members');
  assert.deepEqual(subjects, [{ kind: 'ServiceAccount', name: 'orders-members', namespace: 'shop' }]);
  assert.deepEqual(roleRef, { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'orders-members' });
});

test('no ServiceAccount hands out its token unless a pod asks for it', () => {
  for (const name of ['orders-members', 'orders-backup']) {
    const account = rendered<V1ServiceAccount>(database, 'ServiceAccount', name);
    assert.equal(account.automountServiceAccountToken, false);
  }
});
