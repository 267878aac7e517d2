import type { V1Service } from '@kubernetes/client-node';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serialize } from '../../../constructs/serialize.ts';
import { render } from '../../../constructs/render.ts';
import { everything, orders, rendered } from './orders.ts';

const spec = (name: string) => rendered<V1Service>(orders(), 'Service', name).spec;
const postgresql = { name: 'postgresql', port: 5432, protocol: 'TCP', targetPort: 'postgresql' };

test('orders leads to the primary', () => {
  assert.deepEqual(spec('orders'), {
    internalTrafficPolicy: 'Cluster',
    ports: [postgresql],
    publishNotReadyAddresses: false,
    selector: { 'plumbline.dev/database': 'orders', 'plumbline.dev/role': 'primary' },
    sessionAffinity: 'None',
    type: 'ClusterIP',
  });
});

test('orders-ro leads to the replicas', () => {
  assert.deepEqual(spec('orders-ro'), {
    internalTrafficPolicy: 'Cluster',
    ports: [postgresql],
    publishNotReadyAddresses: false,
    selector: { 'plumbline.dev/database': 'orders', 'plumbline.dev/role': 'replica' },
    sessionAffinity: 'None',
    type: 'ClusterIP',
  });
});

test('orders-members is headless and knows members that are not ready', () => {
  assert.deepEqual(spec('orders-members'), {
    clusterIP: 'None',
    internalTrafficPolicy: 'Cluster',
    ports: [postgresql, { name: 'patroni', port: 8008, protocol: 'TCP', targetPort: 'patroni' }],
    publishNotReadyAddresses: true,
    selector: { 'plumbline.dev/database': 'orders' },
    sessionAffinity: 'None',
    type: 'ClusterIP',
  });
});

test('nothing that is rendered excludes a family of addresses (canonical/postgresql-k8s-operator#1732)', () => {
  const all = render(orders(everything)).map(serialize).join('\n');
  assert.doesNotMatch(all, /ipFamil|clusterIPs|127\.0\.0\.1|0\.0\.0\.0/);
});
