import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { collectionPath, objectPath, type ResourceType } from '../../../controller/kube/index.ts';
import { urlTemplate } from '../../../controller/kube/url-template.ts';

const pods: ResourceType = { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };
const sets: ResourceType = { apiVersion: 'apps/v1', kind: 'StatefulSet', plural: 'statefulsets', namespaced: true };
const destinations: ResourceType = {
  apiVersion: 'plumbline.dev/v1alpha1',
  kind: 'GitDestination',
  plural: 'gitdestinations',
  namespaced: false,
};
const ref = { namespace: 'shop', name: 'orders' };

const rows: readonly (readonly [ResourceType | undefined, string, string])[] = [
  [pods, collectionPath(pods), '/api/v1/pods'],
  [pods, `${collectionPath(pods)}?limit=500`, '/api/v1/pods'],
  [pods, collectionPath(pods, 'shop'), '/api/v1/namespaces/{namespace}/pods'],
  [pods, objectPath(pods, ref), '/api/v1/namespaces/{namespace}/pods/{name}'],
  [pods, objectPath(pods, { namespace: 'pods', name: 'pods' }), '/api/v1/namespaces/{namespace}/pods/{name}'],
  [sets, objectPath(sets, ref, 'status'), '/apis/apps/v1/namespaces/{namespace}/statefulsets/{name}/status'],
  [destinations, objectPath(destinations, ref), '/apis/plumbline.dev/v1alpha1/gitdestinations/{name}'],
  [destinations, collectionPath(destinations, 'shop'), '/apis/plumbline.dev/v1alpha1/gitdestinations'],
  [undefined, '/version', '/version'],
];

describe('the template of a URL', () => {
  for (const [type, path, template] of rows) {
    test(path, () => assert.equal(urlTemplate(type, path), template));
  }
});
