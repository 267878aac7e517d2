import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collectionPath, keyOf, objectPath, refOf, type ResourceType } from '../../../controller/kube/index.ts';

const PODS: ResourceType = { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };
const SETS: ResourceType = { apiVersion: 'apps/v1', kind: 'StatefulSet', plural: 'statefulsets', namespaced: true };
const NODES: ResourceType = { apiVersion: 'v1', kind: 'Node', plural: 'nodes', namespaced: false };

test('each kind of path is the one of the API', () => {
  const rows: readonly (readonly [string, string])[] = [
    [collectionPath(PODS), '/api/v1/pods'],
    [collectionPath(PODS, 'shop'), '/api/v1/namespaces/shop/pods'],
    [collectionPath(SETS, 'shop'), '/apis/apps/v1/namespaces/shop/statefulsets'],
    [collectionPath(NODES, 'ignored'), '/api/v1/nodes'],
    [objectPath(PODS, { namespace: 'shop', name: 'orders-0' }), '/api/v1/namespaces/shop/pods/orders-0'],
    [
      objectPath(SETS, { namespace: 'shop', name: 'orders' }, 'scale'),
      '/apis/apps/v1/namespaces/shop/statefulsets/orders/scale',
    ],
    [objectPath(NODES, { name: 'n1' }), '/api/v1/nodes/n1'],
    [objectPath(PODS, { namespace: 'shop', name: '../secrets' }), '/api/v1/namespaces/shop/pods/..%2Fsecrets'],
  ];
  for (const [path, expected] of rows) assert.equal(path, expected);
});

test('a path that would reach a whole collection instead of an object is refused', () => {
  assert.throws(() => objectPath(PODS, { namespace: 'shop', name: '' }), /without a name/);
  assert.throws(() => objectPath(PODS, { name: 'orders-0' }), /Pod orders-0 needs a namespace/);
  assert.throws(() => objectPath(PODS, { name: 'orders-0', namespace: '' }), /needs a namespace/);
});

test('a key and a reference are the same thing twice', () => {
  for (const ref of [{ namespace: 'shop', name: 'orders' }, { name: 'n1' }]) assert.deepEqual(refOf(keyOf(ref)), ref);
});
