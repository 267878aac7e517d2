import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fieldManager } from '../../../controller/database/child.ts';
import { claims, secrets, watchedKinds } from '../../../controller/database/kinds.ts';
import { stateAll } from '../../../controller/database/stated.ts';
import { render } from '../../../constructs/render.ts';
import { serialize } from '../../../constructs/serialize.ts';
import { deviations } from '../../../controller/drift/index.ts';
import type { KubeObject } from '../../../controller/kube/index.ts';
import { eventually } from '../running-plumbline.ts';
import { Shop, wholeSpec } from './shop.ts';

let shop: Shop;
before(async () => {
  shop = await Shop.open();
});
after(async () => {
  await shop[Symbol.asyncDispose]();
});

const label = (name: string): string => `plumbline.dev/database=${name}`;

/** Names of what bears the label of a database, as `Kind/name`. */
async function objectsOf(name: string): Promise<readonly string[]> {
  const lists = await Promise.all(
    watchedKinds.map(async ({ type }) =>
      (await shop.list(type, label(name))).map((one) => `${type.kind}/${one.metadata.name}`),
    ),
  );
  return lists.flat().sort();
}

async function remove(name: string): Promise<void> {
  await shop.delete('DatabaseService', name);
  await eventually('what it owned is collected', async () => {
    const left = (await objectsOf(name)).filter((one) => !/^(Secret|PersistentVolumeClaim)\//.test(one));
    return left.length === 0 || undefined;
  });
}

async function bytesOf(name: string): Promise<Readonly<Record<string, unknown>>> {
  const found = await shop.list(secrets, label(name));
  return Object.fromEntries(found.map((secret) => [secret.metadata.name, [secret.metadata.uid, secret['data']]]));
}

test('one that is deleted with --cascade=orphan leaves all it owned as it is, though a controller looks on; the next of its name takes it on', async () => {
  await shop.create('left', wholeSpec);
  const uidsOf = async (): Promise<readonly string[]> => {
    const lists = await Promise.all(watchedKinds.map(({ type }) => shop.list(type, label('left'))));
    return lists.flat().map(({ kind, metadata }) => `${kind}/${metadata.name} ${metadata.uid}`);
  };
  const before = await uidsOf();
  await shop.delete('DatabaseService', 'left', { propagationPolicy: 'Orphan' });
  await eventually('it is gone', async () => (await shop.get('DatabaseService', 'left')) === undefined || undefined);
  // What the garbage collector would take for left over, it would have collected before what comes later.
  await shop.create('later');
  await remove('later');
  assert.deepEqual(await uidsOf(), before);
  assert.equal((await shop.get('StatefulSet', 'left'))?.metadata.ownerReferences, undefined);
  await shop.create('left', wholeSpec);
  assert.deepEqual(await uidsOf(), before);
  assert.equal((await shop.get('StatefulSet', 'left'))?.metadata.ownerReferences?.length, 1);
});

test('a deleted database goes with all it owns; Secrets and claims stay, and are taken on by the next of its name', async () => {
  await shop.create('kept', wholeSpec);
  const [before, claimsBefore] = [
    await bytesOf('kept'),
    (await shop.list(claims, label('kept'))).map(({ metadata }) => metadata.uid),
  ];
  assert.equal(Object.keys(before).length, 4);
  await remove('kept');
  assert.deepEqual(await bytesOf('kept'), before);
  await shop.create('kept', wholeSpec);
  assert.deepEqual(await bytesOf('kept'), before, 'the passwords fit the data');
  assert.deepEqual(
    (await shop.list(claims, label('kept'))).map(({ metadata }) => metadata.uid),
    claimsBefore,
  );
  assert.deepEqual(
    [await shop.condition('kept', 'Stalled'), await shop.receipts('kept')],
    ['False NothingToDo: Nothing hinders.', []],
  );
});

test('with storage.onDelete Delete the claims of removed members go, and all of it with the database; with Retain again it stays', async () => {
  const name = 'dropped';
  const onDelete = (onDelete: string, replicas = 3) => ({ replicas, storage: { size: '1Gi', onDelete } });
  const claimsOf = async () => (await shop.list(claims, label(name))).map(({ metadata }) => metadata);
  const areOwned = async (wanted: boolean) => {
    const found = [...(await claimsOf()), ...(await shop.list(secrets, label(name))).map(({ metadata }) => metadata)];
    return (
      found.every(
        ({ ownerReferences = [] }) => ownerReferences.some(({ kind }) => kind === 'DatabaseService') === wanted,
      ) || undefined
    );
  };
  await shop.create(name, onDelete('Delete'));
  await eventually('three claims are there', async () => (await claimsOf()).length === 3 || undefined);
  await eventually('claims and Secrets are owned', () => areOwned(true));
  await shop.edit(name, onDelete('Retain'));
  await eventually('none is owned', () => areOwned(false));
  await shop.edit(name, onDelete('Retain', 2));
  await shop.running.settled();
  assert.equal((await claimsOf()).length, 3, 'Retain keeps the claim of a member that is gone');
  await shop.edit(name, onDelete('Delete', 2));
  await eventually('the claim of the removed member is gone', async () => {
    const names = (await claimsOf())
      .filter(({ deletionTimestamp }) => deletionTimestamp === undefined)
      .map((one) => one.name);
    return names.join() === `data-${name}-0,data-${name}-1` || undefined;
  });
  await eventually('the others are owned', () => areOwned(true));
  await remove(name);
  await eventually('claims and Secrets are gone', async () => {
    const left = (await claimsOf()).filter(({ deletionTimestamp }) => deletionTimestamp === undefined);
    return (left.length === 0 && Object.keys(await bytesOf(name)).length === 0) || undefined;
  });
  assert.deepEqual(await shop.receipts(name).catch(() => []), []);
});

test('a claim for backups that has another size is used as it is, and said', async () => {
  const backup = (size: string) => ({ backup: { schedule: '@daily', volume: { size } } });
  await shop.create('sized', backup('1Gi'));
  await shop.edit('sized', { backup: null });
  await eventually('no backups', async () => (await shop.get('CronJob', 'sized-backup')) === undefined || undefined);
  await shop.edit('sized', backup('2Gi'));
  await eventually('backups again', () => shop.get('CronJob', 'sized-backup'));
  const stalled = await eventually('it is said', async () => {
    const found = await shop.condition('sized', 'Stalled');
    return found.startsWith('True') ? found : undefined;
  });
  assert.match(stalled, /^True ClaimDiffers: PersistentVolumeClaim sized-backup exists with another size/);
});

test('a database that is deleted and made again at once comes out whole, and nobody is accused', async () => {
  for (let round = 0; round < 3; round++) {
    await shop.create('hasty', { replicas: 1 });
    await shop.delete('DatabaseService', 'hasty');
    await shop.create('hasty', { replicas: 1 });
    const resource = await shop.resource('hasty');
    await eventually('all of it is there and its own', async () => {
      const found = await Promise.all(
        stateAll(resource).map(async ({ object }) => {
          const live = await shop.get(object.kind, object.metadata.name);
          return live !== undefined && deviations(object, live, fieldManager).length === 0;
        }),
      );
      return found.every(Boolean) || undefined;
    });
    // The collector may still be at work on what the first one owned.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    assert(await shop.get('StatefulSet', 'hasty'));
    assert.deepEqual(await shop.receipts('hasty'), []);
    await remove('hasty');
  }
});

test('a foreground deletion ends: children first, and none is made again meanwhile', async () => {
  await shop.create('slow');
  await shop.delete('DatabaseService', 'slow', { propagationPolicy: 'Foreground' });
  await eventually('it is gone', async () => (await shop.get('DatabaseService', 'slow')) === undefined || undefined);
  assert.equal(await shop.get('StatefulSet', 'slow'), undefined);
});

test('what kubectl applied of dist/ is adopted: no receipt, no new generation, no restart', async () => {
  const spec = { replicas: 3, durability: 'Sync' } as const;
  const name = 'adopted';
  const document = {
    apiVersion: 'plumbline.dev/v1alpha1',
    kind: 'DatabaseService',
    metadata: { name, namespace: shop.namespace },
  } as const;
  const full = { engine: 'postgresql', version: '17', storage: { size: '1Gi' }, ...spec } as const;
  const manifests = render({ ...document, spec: full })
    .map(serialize)
    .join('---\n');
  const { code, stderr } = await shop.cluster.kubectlRun(['apply', '--server-side', '-f', '-'], manifests);
  assert.equal(code, 0, stderr);
  const pods = await eventually('the StatefulSet has made its claims and pods', async () => {
    const found = await shop.list(shop.typeOf('Pod'), label(name));
    return found.length === 3 && (await shop.list(claims, label(name))).length === 3 ? found : undefined;
  });
  const before = await shop.get('StatefulSet', name);
  await shop.create(name, spec);
  const after = await shop.get('StatefulSet', name);
  assert.deepEqual(
    [after?.metadata.uid, after?.metadata.generation],
    [before?.metadata.uid, before?.metadata.generation],
  );
  assert.equal(after?.metadata.ownerReferences?.[0]?.name, name);
  assert.deepEqual((await shop.list(shop.typeOf('Pod'), label(name))).map(uid), pods.map(uid));
  assert.deepEqual([await shop.receipts(name), await shop.driftEvents(name)], [[], []]);
  assert.equal(Object.keys(await bytesOf(name)).length, 4, 'the Secrets, which are never in dist/, are made');
});

const uid = ({ metadata }: KubeObject): string | undefined => metadata.uid;

/** As a backup tool stores it: without uid, version, managedFields, status and assigned addresses. */
function stored({ status: _, ...object }: KubeObject, hasOwners: boolean): KubeObject {
  const { name, namespace = '', labels = {}, annotations = {}, ownerReferences = [] } = object.metadata;
  const metadata = { name, namespace, labels, annotations, ...(hasOwners ? { ownerReferences } : {}) };
  if (object.kind !== 'Service') return { ...object, metadata };
  const { clusterIP, clusterIPs, ...spec } = object['spec'] as {
    readonly clusterIP?: string;
    readonly clusterIPs?: unknown;
  };
  return { ...object, metadata, spec: clusterIP === 'None' ? { ...spec, clusterIP, clusterIPs } : spec };
}

test('https://github.com/velero-io/velero/issues/7862: restored without owners, children are adopted as they are', async () => {
  await shop.create('restored', wholeSpec);
  const kinds = ['PersistentVolumeClaim', 'Secret', 'ConfigMap', 'ServiceAccount', 'Service', 'StatefulSet'];
  const backup = (await Promise.all(kinds.map((kind) => shop.list(shop.typeOf(kind), label('restored'))))).flat();
  const password = Object.fromEntries(
    backup.filter(({ kind }) => kind === 'Secret').map((one) => [one.metadata.name, one['data']]),
  );
  await remove('restored');
  for (const one of [
    ...(await shop.list(secrets, label('restored'))),
    ...(await shop.list(claims, label('restored'))),
  ]) {
    await shop.delete(one.kind, one.metadata.name);
  }
  await eventually('all is gone', async () => (await objectsOf('restored')).length === 0 || undefined);
  for (const object of backup) {
    await shop.kube.create(stored(object, false), { type: shop.typeOf(object.kind), fieldManager: 'velero-server' });
  }
  const sets = (await shop.get('StatefulSet', 'restored'))?.metadata.uid;
  await shop.create('restored', wholeSpec);
  assert.equal((await shop.get('StatefulSet', 'restored'))?.metadata.uid, sets);
  assert.equal((await shop.get('StatefulSet', 'restored'))?.metadata.ownerReferences?.length, 1);
  const found = await shop.list(secrets, label('restored'));
  assert.deepEqual(Object.fromEntries(found.map((one) => [one.metadata.name, one['data']])), password);
  assert.deepEqual(await shop.receipts('restored'), []);
});

test('restored with owners of another life, what is collected is made again, and claims stay', async () => {
  await shop.create('revived', wholeSpec);
  const service = await shop.get('Service', 'revived');
  const claimed = (await shop.list(claims, label('revived'))).map(uid);
  assert(service);
  await remove('revived');
  await shop.kube.create(stored(service, true), { type: shop.typeOf('Service'), fieldManager: 'velero-server' });
  await shop.create('revived', wholeSpec);
  await eventually('all is there, and its own', async () => {
    const owner = (await shop.get('Service', 'revived'))?.metadata.ownerReferences;
    return (owner?.length === 1 && owner[0]?.uid === (await shop.resource('revived')).metadata.uid) || undefined;
  });
  await shop.untilCondition('revived', 'Stalled', /^False/);
  assert.deepEqual((await shop.list(claims, label('revived'))).map(uid), claimed);
  assert.deepEqual(await shop.receipts('revived'), []);
});
