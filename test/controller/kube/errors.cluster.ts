import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { classify, connect, KubeClient, type KubeObject, type Verdict } from '../../../controller/kube/index.ts';
import { sharedCluster } from '../../cluster/index.ts';
import { CONFIG_MAPS, configMap, NAMESPACES, QUOTAS, SECRETS, SERVICES, STATEFUL_SETS } from './api-types.ts';
import { realClient } from './real-client.ts';

const NOBODY = '00000000-0000-0000-0000-000000000000';
const OURS = { type: CONFIG_MAPS, fieldManager: 'plumbline' };

interface Row {
  readonly kind: Verdict['kind'];
  readonly what: string;
  readonly send: (kube: KubeClient, namespace: string) => Promise<unknown>;
}

const ROWS: readonly Row[] = [
  {
    what: 'a field of another applier',
    kind: 'field-conflict',
    send: async (kube, namespace) => {
      await kube.apply(configMap(namespace, 'a', { k: '1' }), { ...OURS, fieldManager: 'other' });
      await kube.apply(configMap(namespace, 'a', { k: '2' }), OURS);
    },
  },
  {
    what: 'a field of kubectl edit',
    kind: 'field-conflict',
    send: async (kube, namespace) => {
      await kube.apply(configMap(namespace, 'b', { k: '1' }), OURS);
      await kube.patch(
        CONFIG_MAPS,
        { namespace, name: 'b' },
        { kind: 'merge', body: { data: { k: '2' } }, fieldManager: 'kubectl-edit' },
      );
      await kube.apply(configMap(namespace, 'b', { k: '1' }), OURS);
    },
  },
  {
    what: 'an outdated version',
    kind: 'version-conflict',
    send: async (kube, namespace) => {
      await kube.apply(configMap(namespace, 'c'), OURS);
      await kube.apply(configMap(namespace, 'c', { k: '1' }, { resourceVersion: '1' }), OURS);
    },
  },
  {
    what: 'a uid of nobody',
    kind: 'object-gone',
    send: (kube, namespace) => kube.apply(configMap(namespace, 'd', {}, { uid: NOBODY }), OURS),
  },
  {
    what: 'a uid of another',
    kind: 'object-replaced',
    send: async (kube, namespace) => {
      await kube.apply(configMap(namespace, 'e'), OURS);
      await kube.delete(CONFIG_MAPS, { namespace, name: 'e' }, { uid: NOBODY });
    },
  },
  {
    what: 'a name that is taken',
    kind: 'already-exists',
    send: async (kube, namespace) => {
      await kube.create(configMap(namespace, 'f'), OURS);
      await kube.create(configMap(namespace, 'f'), OURS);
    },
  },
  {
    what: 'a port whose number somebody edited (kubernetes#131147)',
    kind: 'co-ownership',
    send: async (kube, namespace) => {
      const own = { type: SERVICES, fieldManager: 'plumbline', force: true };
      await kube.apply(service(namespace, 5432), own);
      const body = [{ op: 'replace', path: '/spec/ports/0/port', value: 5433 }];
      await kube.patch(SERVICES, { namespace, name: 's' }, { kind: 'json', body, fieldManager: 'kubectl-edit' });
      await kube.apply(service(namespace, 5432), own);
    },
  },
  {
    what: "somebody else's request above our limit",
    kind: 'co-ownership',
    send: async (kube, namespace) => {
      const own = { type: STATEFUL_SETS, fieldManager: 'plumbline', force: true };
      await kube.apply(statefulSet(namespace, { limits: { memory: '1Gi' } }), own);
      await kube.apply(statefulSet(namespace, { requests: { memory: '900Mi' } }), { ...own, fieldManager: 'other' });
      await kube.apply(statefulSet(namespace, { limits: { memory: '500Mi' } }), own);
    },
  },
  {
    what: 'a field of a StatefulSet that can not change',
    kind: 'immutable',
    send: async (kube, namespace) => {
      const own = { type: STATEFUL_SETS, fieldManager: 'plumbline', force: true };
      await kube.apply(statefulSet(namespace, {}, 't'), own);
      await kube.apply(statefulSet(namespace, {}, 't', 'another'), own);
    },
  },
  {
    what: 'data of an immutable Secret',
    kind: 'immutable',
    send: async (kube, namespace) => {
      const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace }, immutable: true };
      await kube.create(secret, { type: SECRETS, fieldManager: 'plumbline' });
      const patch = { kind: 'merge', body: { data: { a: 'YQ==' } }, fieldManager: 'plumbline' } as const;
      await kube.patch(SECRETS, { namespace, name: 's' }, patch);
    },
  },
  {
    what: 'a value out of range',
    kind: 'invalid',
    send: (kube, namespace) => kube.apply(configMap(namespace, 'g', { 'no key': '1' }), OURS),
  },
  {
    what: 'a list with one key twice',
    kind: 'typed-patch',
    send: (kube, namespace) => {
      const { spec, ...rest } = service(namespace, 5432, 'dup');
      return kube.apply(
        { ...rest, spec: { ...spec, ports: [...spec.ports, ...spec.ports] } },
        { type: SERVICES, fieldManager: 'a' },
      );
    },
  },
  {
    what: 'an object that is not there',
    kind: 'object-missing',
    send: (kube, namespace) => kube.get(CONFIG_MAPS, { namespace, name: 'nope' }),
  },
  {
    what: 'a namespace that is not there',
    kind: 'namespace-missing',
    send: (kube) => kube.apply(configMap('nope', 'a'), OURS),
  },
  {
    what: 'an API group that is not there',
    kind: 'kind-missing',
    send: (kube, namespace) =>
      kube.get(
        { apiVersion: 'nope.dev/v1', kind: 'Nope', plural: 'nopes', namespaced: true },
        { namespace, name: 'a' },
      ),
  },
  {
    what: 'a resource that is not there in a group that is',
    kind: 'kind-missing',
    send: (kube, namespace) =>
      kube.get({ apiVersion: 'apps/v1', kind: 'Nope', plural: 'nopes', namespaced: true }, { namespace, name: 'a' }),
  },
  {
    what: 'an object that is too large',
    kind: 'too-large',
    send: (kube, namespace) => kube.create(configMap(namespace, 'h', { k: 'x'.repeat(4_000_000) }), OURS),
  },
  {
    what: 'a verb that the resource has not',
    kind: 'unsupported',
    send: (kube) => {
      const type = { apiVersion: 'v1', kind: 'ComponentStatus', plural: 'componentstatuses', namespaced: false };
      return kube.create(
        { apiVersion: 'v1', kind: 'ComponentStatus', metadata: { name: 'a' } },
        { type, fieldManager: 'a' },
      );
    },
  },
  {
    what: 'a quota that is full',
    kind: 'quota-exceeded',
    send: async (kube, namespace) => {
      const quota = {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'q', namespace },
        spec: { hard: { secrets: '0' } },
      };
      await kube.create(quota, { type: QUOTAS, fieldManager: 'a' });
      for (let at = 0; at < 100; at += 1) {
        await kube.create(
          { apiVersion: 'v1', kind: 'Secret', metadata: { name: `q${at}`, namespace } },
          { type: SECRETS, fieldManager: 'a' },
        );
        await sleep(100);
      }
    },
  },
  {
    what: 'a policy that refuses',
    kind: 'admission-denied',
    send: async (kube, namespace) => {
      await refuseNamed(kube, namespace);
      for (let at = 0; at < 200; at += 1) {
        await kube.apply(configMap(namespace, `refused-${at}`), OURS);
        await sleep(100);
      }
    },
  },
  {
    what: 'a namespace that is being deleted',
    kind: 'namespace-terminating',
    send: async (kube, namespace) => {
      await kube.apply(configMap(namespace, 'held', {}, { finalizers: ['plumbline.dev/test'] }), OURS);
      await kube.delete(NAMESPACES, { name: namespace });
      try {
        await kube.apply(configMap(namespace, 'late'), OURS);
      } finally {
        const patch = { kind: 'merge', body: { metadata: { finalizers: null } }, fieldManager: 'plumbline' } as const;
        await kube.patch(CONFIG_MAPS, { namespace, name: 'held' }, patch);
      }
    },
  },
];

for (const { what, kind, send } of ROWS) {
  test(`a real server on ${what}: ${kind}`, async () => {
    await using real = await realClient();
    await assert.rejects(send(real.kube, real.namespace), (error) => {
      assert.equal(classify(error).kind, kind, String(error));
      return true;
    });
  });
}

test('a rival is named with what it did and to which field', async () => {
  await using real = await realClient();
  const { kube, namespace } = real;
  await kube.apply(configMap(namespace, 'a', { k: '1' }), { ...OURS, fieldManager: 'argocd-controller' });
  const patch = { kind: 'merge', body: { data: { l: '1' } }, fieldManager: 'kubectl "edit"' } as const;
  await kube.patch(CONFIG_MAPS, { namespace, name: 'a' }, patch);
  await assert.rejects(kube.apply(configMap(namespace, 'a', { k: '2', l: '2' }), OURS), (error) => {
    const verdict = classify(error);
    assert.ok(verdict.kind === 'field-conflict');
    const rivals = verdict.rivals.map(({ manager, operation, field }) => [manager, operation, field]);
    assert.deepEqual(rivals, [
      ['argocd-controller', 'Apply', '.data.k'],
      ['kubectl "edit"', 'Update', '.data.l'],
    ]);
    return true;
  });
});

test('who may do nothing is told so', async () => {
  const cluster = await sharedCluster();
  const connection = await connect({ kubeconfig: await cluster.kubeconfigFor('nobody') });
  const request = new KubeClient(connection).get(CONFIG_MAPS, { namespace: 'default', name: 'a' });
  await assert.rejects(request, (error) => classify(error).kind === 'forbidden');
  await connection.close();
});

function service(namespace: string, port: number, name = 's') {
  const ports = [{ name: 'pg', port, protocol: 'TCP' }];
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace }, spec: { ports } } satisfies KubeObject;
}

function statefulSet(namespace: string, resources: object, name = 's', serviceName = name): KubeObject {
  const labels = { app: 'a' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'none', resources }] } };
  const spec = { replicas: 0, serviceName, selector: { matchLabels: labels }, template };
  return { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name, namespace }, spec };
}

/** A policy against ConfigMaps called `refused-…` in this namespace alone. */
async function refuseNamed(kube: KubeClient, namespace: string): Promise<void> {
  const name = `${namespace}-policy`;
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }];
  const policy = {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: {
      matchConstraints: { resourceRules: rules },
      validations: [{ expression: "!object.metadata.name.startsWith('refused-')" }],
    },
  };
  const binding = {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: {
      policyName: name,
      validationActions: ['Deny'],
      matchResources: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } } },
    },
  };
  const type = (kind: string, plural: string) => ({ apiVersion, kind, plural, namespaced: false });
  await kube.create(policy, { type: type(policy.kind, 'validatingadmissionpolicies'), fieldManager: 'a' });
  await kube.create(binding, { type: type(binding.kind, 'validatingadmissionpolicybindings'), fieldManager: 'a' });
}
