import { App, Chart } from 'cdk8s';
import type { V1ConfigMap, V1NetworkPolicy, V1StatefulSet } from '@kubernetes/client-node';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emit, type Emitted } from '../../constructs/emit.ts';

function emitted<T extends object>(object: Emitted<T>): unknown {
  const chart = new Chart(new App(), 'chart');
  emit(chart, 'object', object);
  return chart.toJson()[0];
}

test('an object comes out as it was written, also fields that cdk8s-plus does not know (cdk8s#2172)', () => {
  // GIVEN
  const object = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'a' },
    spec: {
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain' },
      selector: { matchLabels: { a: 'b' } },
      template: { spec: { containers: [{ name: 'c', lifecycle: { preStop: { sleep: { seconds: 1 } } } }] } },
      volumeClaimTemplates: [
        { spec: { volumeAttributesClassName: 'gold', resources: { requests: { storage: '1Gi' } } } },
      ],
    },
  } satisfies Emitted<V1StatefulSet>;
  // THEN
  assert.deepEqual(emitted<V1StatefulSet>(object), object);
});

test('undefined and null are left out at every depth: a null would be owned', () => {
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', labels: undefined, annotations: { a: 'b', c: undefined } },
    data: null,
  } as unknown as Emitted<V1ConfigMap>;
  assert.deepEqual(emitted<V1ConfigMap>(object), {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', annotations: { a: 'b' } },
  });
});

test('fields that client-node renames have the names of the API', () => {
  const from = [{ podSelector: {} }];
  const policy: Emitted<V1NetworkPolicy> = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'a' },
    spec: { podSelector: {}, ingress: [{ from }] },
  };
  assert.deepEqual(emitted(policy), policy);
});

test('a typing mistake is told by the compiler', () => {
  const wrong: Emitted<V1ConfigMap> = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a' },
    // @ts-expect-error -- not a field of a ConfigMap
    datas: {},
  };
  assert.ok(wrong);
});
