import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  classify,
  isObjectMissing,
  KubeClient,
  type KubeObject,
  type RequestFacts,
} from '../../../controller/kube/index.ts';
import { CONFIG_MAPS, configMap, STATEFUL_SETS } from './api-types.ts';
import { realClient } from './real-client.ts';
import { patienceMs } from '../../patience.ts';

const OURS = { type: CONFIG_MAPS, fieldManager: 'plumbline' };

test('an apply creates, changes, and leaves the version alone when nothing changes', async () => {
  await using real = await realClient();
  const { kube, namespace } = real;
  const created = await kube.apply(configMap(namespace, 'a', { k: '1' }), OURS);
  assert.equal(created.isCreated, true);
  const same = await kube.apply(configMap(namespace, 'a', { k: '1' }), OURS);
  assert.equal(same.isCreated, false);
  assert.equal(same.object.metadata.resourceVersion, created.object.metadata.resourceVersion);
  assert.deepEqual(same.object.metadata.managedFields, created.object.metadata.managedFields);
  const changed = await kube.apply(configMap(namespace, 'a', { k: '2' }), OURS);
  assert.notEqual(changed.object.metadata.resourceVersion, created.object.metadata.resourceVersion);
  assert.deepEqual(await kube.get(CONFIG_MAPS, { namespace, name: 'a' }), changed.object);
});

test('a dry run answers as if and changes nothing', async () => {
  await using real = await realClient();
  const { kube, namespace } = real;
  const dry = await kube.apply(configMap(namespace, 'a', { k: '1' }), { ...OURS, dryRun: true });
  assert.deepEqual(dry.object.data, { k: '1' });
  await assert.rejects(kube.get(CONFIG_MAPS, { namespace, name: 'a' }), isObjectMissing);
});

test('a uid in an apply resurrects nothing and touches no other object of that name', async () => {
  await using real = await realClient();
  const { kube, namespace } = real;
  const { uid = '' } = (await kube.apply(configMap(namespace, 'a', { k: '1' }), OURS)).object.metadata;
  const again = configMap(namespace, 'a', { k: '2' }, { uid });
  assert.deepEqual((await kube.apply(again, OURS)).object.data, { k: '2' });
  await kube.delete(CONFIG_MAPS, { namespace, name: 'a' }, { uid });
  await assert.rejects(kube.apply(again, OURS), (error) => classify(error).kind === 'object-gone');
  await kube.create(configMap(namespace, 'a'), OURS);
  await assert.rejects(
    kube.apply(again, { ...OURS, force: true }),
    (error) => classify(error).kind === 'object-replaced',
  );
  const old = kube.delete(CONFIG_MAPS, { namespace, name: 'a' }, { uid });
  await assert.rejects(old, (error) => classify(error).kind === 'object-replaced');
});

test('a field that the API does not know is refused in every kind of write', async () => {
  await using real = await realClient();
  const { kube, namespace } = real;
  const typo = { ...configMap(namespace, 'a'), dataa: {} };
  await assert.rejects(kube.apply(typo, OURS), (error) => classify(error).kind === 'typed-patch');
  await assert.rejects(kube.create(typo, OURS), (error) => classify(error).kind === 'strict-decoding');
  await kube.create(configMap(namespace, 'a', { password: 'hunter2' }), OURS);
  const patch = { kind: 'merge', body: { dataa: {} }, fieldManager: 'plumbline' } as const;
  await assert.rejects(kube.patch(CONFIG_MAPS, { namespace, name: 'a' }, patch), (error) => {
    assert.equal(classify(error).kind, 'strict-decoding');
    assert.doesNotMatch(String(error), /hunter2/);
    return true;
  });
});

test('each kind of patch is carried out, with a version as precondition', async () => {
  await using real = await realClient();
  const { kube, namespace } = real;
  const ref = { namespace, name: 'a' };
  const { resourceVersion } = (await kube.create(configMap(namespace, 'a', { k: '1' }), OURS)).metadata;
  const merge = {
    kind: 'merge',
    body: { metadata: { resourceVersion }, data: { l: '2' } },
    fieldManager: 'm',
  } as const;
  assert.deepEqual((await kube.patch(CONFIG_MAPS, ref, merge)).data, { k: '1', l: '2' });
  await assert.rejects(kube.patch(CONFIG_MAPS, ref, merge), (error) => classify(error).kind === 'version-conflict');
  const json = { kind: 'json', body: [{ op: 'remove', path: '/data/k' }], fieldManager: 'm' } as const;
  assert.deepEqual((await kube.patch(CONFIG_MAPS, ref, json)).data, { l: '2' });
  const strategic = { kind: 'strategic', body: { data: { l: null, m: '3' } }, fieldManager: 'm' } as const;
  assert.deepEqual((await kube.patch(CONFIG_MAPS, ref, strategic)).data, { m: '3' });
});

test('a status is applied by itself and belongs to its own manager', async () => {
  await using real = await realClient();
  const { kube, namespace } = real;
  const set = statefulSet(namespace);
  const sets = { type: STATEFUL_SETS, fieldManager: 'plumbline' };
  await kube.apply(set, sets);
  const status = {
    apiVersion: set.apiVersion,
    kind: set.kind,
    metadata: set.metadata,
    status: { replicas: 1, readyReplicas: 1 },
  };
  const { object } = await kube.apply(status, {
    ...sets,
    fieldManager: 'plumbline-status',
    subresource: 'status',
    force: true,
  });
  const entry = object.metadata.managedFields?.find(({ manager }) => manager === 'plumbline-status');
  assert.equal(entry?.subresource, 'status');
  assert.equal(entry?.operation, 'Apply');
});

test('1,200 objects come in pages of 500, whole or as metadata alone', async () => {
  const facts: RequestFacts[] = [];
  await using real = await realClient({ onRequest: (fact) => facts.push(fact) });
  const { kube, namespace } = real;
  const names = Array.from({ length: 1_200 }, (_, at) => `c${at}`);
  for (let at = 0; at < names.length; at += 40) {
    await Promise.all(names.slice(at, at + 40).map((name) => kube.create(configMap(namespace, name, { name }), OURS)));
  }
  for (const metadataOnly of [false, true]) {
    facts.length = 0;
    const sizes: number[] = [];
    const versions = new Set<string>();
    const seen = new Map<string, KubeObject>();
    for await (const page of kube.list(CONFIG_MAPS, { namespace, metadataOnly, labelSelector: '!nothing' })) {
      sizes.push(page.items.length);
      versions.add(page.resourceVersion);
      for (const item of page.items) seen.set(item.metadata.name, item);
    }
    // The namespace has one of its own, with the certificate authority.
    assert.deepEqual(sizes, [500, 500, sizes.at(-1)]);
    assert.ok(names.every((name) => seen.has(name)));
    assert.equal(versions.size, 1);
    assert.equal(facts.length, 3);
    const sample = seen.get('c7');
    assert.equal(sample?.kind, 'ConfigMap');
    assert.equal(sample?.apiVersion, 'v1');
    assert.deepEqual(sample?.['data'], metadataOnly ? undefined : { name: 'c7' });
  }
});

test('a watch of metadata alone carries no data, and its server ends it in good order', async () => {
  await using real = await realClient();
  const { kube, namespace } = real;
  const { resourceVersion = '' } = (await kube.create(configMap(namespace, 'a', { k: '1' }), OURS)).metadata;
  const watch = kube.watch(CONFIG_MAPS, { namespace, resourceVersion, timeoutSeconds: 1, metadataOnly: true });
  await kube.apply(configMap(namespace, 'a', { k: '2' }), { ...OURS, force: true });
  const types: string[] = [];
  for await (const event of watch) {
    if (event.type === 'BOOKMARK' || event.object.metadata.name !== 'a') continue;
    types.push(event.type);
    assert.equal(event.object.kind, 'ConfigMap');
    assert.equal(event.object.data, undefined);
  }
  assert.deepEqual(types, ['MODIFIED']);
});

test('an orphaning delete leaves the children', async () => {
  await using real = await realClient();
  const { kube, namespace } = real;
  const { uid = '' } = (await kube.apply(configMap(namespace, 'owner'), OURS)).object.metadata;
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }];
  await kube.apply(configMap(namespace, 'child', {}, { ownerReferences }), OURS);
  await kube.delete(CONFIG_MAPS, { namespace, name: 'owner' }, { uid, propagationPolicy: 'Orphan' });
  for (const until = Date.now() + patienceMs; ;) {
    assert.ok(Date.now() < until, 'the owner does not go');
    try {
      await kube.get(CONFIG_MAPS, { namespace, name: 'owner' });
    } catch (error) {
      assert.ok(isObjectMissing(error));
      break;
    }
  }
  const child = await kube.get(CONFIG_MAPS, { namespace, name: 'child' });
  assert.equal(child.metadata.ownerReferences, undefined);
});

test('the version of the server is there for everybody', async () => {
  await using real = await realClient();
  assert.ok(real.kube instanceof KubeClient);
  const version = await real.kube.raw('/version');
  assert.match(JSON.stringify(version), /"gitVersion":"v1\./);
});

function statefulSet(namespace: string): KubeObject {
  const labels = { app: 'a' };
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 's', namespace },
    spec: {
      replicas: 0,
      serviceName: 's',
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'none' }] } },
    },
  };
}
