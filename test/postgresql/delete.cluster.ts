import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { claimName, namesOf } from '../../constructs/names.ts';
import { identityAnnotation, patroniLabel } from '../../constructs/labels.ts';
import { claims, databaseServices, statefulSets, typeOf, watchedKinds } from '../../controller/database/kinds.ts';
import { isObjectMissing, type ResourceType } from '../../controller/kube/index.ts';
import {
  newNamespace,
  plumblineCrd,
  podClusterOf,
  postgresqlImage,
  sharedPodCluster,
  startCluster,
  withoutOwnNode,
  withoutPods,
  type NodeCluster,
} from '../cluster/index.ts';
import { eventually, RunningPlumbline } from '../controller/running-plumbline.ts';
import { psql, secretOf } from './login.ts';
import { NodeDatabase } from './node-database.ts';

const skip = withoutPods();

/** Nothing here takes that long unless it hangs. */
const patienceMs = 180_000;

/** Keys of what there is with a label of the database. */
async function remains({ kube, namespace, name }: NodeDatabase): Promise<readonly string[]> {
  const found = new Set<string>();
  const list = async (type: ResourceType, labelSelector: string) => {
    for await (const { items } of kube.list(type, { namespace, labelSelector, metadataOnly: true })) {
      for (const { metadata } of items) found.add(`${type.kind}/${metadata.name}`);
    }
  };
  for (const { type } of watchedKinds) await list(type, `plumbline.dev/database=${name}`);
  await list(typeOf({ kind: 'ConfigMap' }), `${patroniLabel}=${namesOf(name).patroni}`);
  return [...found].toSorted();
}

/** Waits until nothing is left but what a pattern names. */
async function onlyLeft(database: NodeDatabase, pattern: RegExp): Promise<readonly string[]> {
  let left: readonly string[] = [];
  try {
    return await eventually(
      'the rest is gone',
      async () => {
        left = await remains(database);
        return left.every((key) => pattern.test(key)) ? left : undefined;
      },
      patienceMs,
    );
  } catch (error) {
    throw new Error(left.join(', '), { cause: error });
  }
}

async function remove({ kube, namespace, name }: NodeDatabase): Promise<void> {
  await kube.delete(databaseServices, { namespace, name });
}

async function isThere({ kube, namespace }: NodeDatabase, type: ResourceType, name: string): Promise<boolean> {
  try {
    await kube.get(type, { namespace, name }, { metadataOnly: true });
    return true;
  } catch (error) {
    if (!isObjectMissing(error)) throw error;
    return false;
  }
}

async function identities(database: NodeDatabase): Promise<ReadonlySet<string | undefined>> {
  const { kube, namespace, name, members } = database;
  const found = new Set<string | undefined>();
  for (const [ordinal, member] of members.entries()) {
    found.add(await database.sql(member, 'select system_identifier from pg_control_system()'));
    found.add(
      (await kube.get(claims, { namespace, name: claimName(name, ordinal) })).metadata.annotations?.[
        identityAnnotation
      ],
    );
  }
  return found.add(await database.patroniSays(namesOf(name).patroniConfig, 'initialize'));
}

test('with storage.onDelete Delete nothing is left, also when no controller runs', { skip }, async () => {
  const cluster = await sharedPodCluster();
  const spec = { durability: 'Sync', storage: { size: '512Mi', onDelete: 'Delete' } };
  const options = { namespace: await newNamespace(cluster), replicas: 2, spec };
  await using database = await NodeDatabase.create(cluster, options);
  await remove(database);
  await onlyLeft(database, /^$/);
});

for (const { what, why, spec, skip } of [
  {
    what: 'no pod finds its image',
    why: 'ImageNotPulled',
    spec: { image: 'registry.invalid/pg:17' },
    skip: withoutPods(),
  },
  {
    what: 'the start gate holds it',
    why: 'VolumeFull',
    spec: { storage: { size: '40Mi', onDelete: 'Delete' } },
    skip: withoutOwnNode('relies on volumes that are no larger than they say'),
  },
]) {
  test(`a database whose pods never became ready goes whole: ${what}`, { skip }, async () => {
    // GIVEN one that says why it does not start
    const cluster = await sharedPodCluster();
    const namespace = await newNamespace(cluster);
    await using running = await RunningPlumbline.start(cluster, { namespace });
    const storage = { size: '512Mi', onDelete: 'Delete' };
    await using database = await NodeDatabase.of(cluster, { namespace, spec: { storage, ...spec } });
    await database.create();
    await eventually(
      why,
      async () =>
        JSON.stringify((await running.database(namespace, database.name))['status'] ?? {}).includes(why) || undefined,
      patienceMs,
    );

    // WHEN it is deleted, THEN nothing is left
    await remove(database);
    await onlyLeft(database, /^$/);
  });
}

/** The kubelet, and its parent, which entered the node. */
function kubeletOf({ folder }: NodeCluster): readonly number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids
    .filter((pid) =>
      ofProcess(pid, 'cmdline')
        .match(/\/kubelet\0/)
        ?.input?.includes(folder),
    )
    .map(Number);
}

/** The parent stops itself when it sees that its child has stopped, at any time: so both are woken until both run. */
async function wakeKubelet(cluster: NodeCluster): Promise<void> {
  await eventually('the kubelet runs again', () => {
    const stopped = kubeletOf(cluster).filter((pid) => /^State:\tT/m.test(ofProcess(String(pid), 'status')));
    for (const pid of stopped) process.kill(pid, 'SIGCONT');
    return stopped.length === 0 || undefined;
  });
}

/** Empty where the process is gone. */
function ofProcess(pid: string, file: 'cmdline' | 'status'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

const noKubelet = withoutOwnNode('stops the kubelet');

test(
  'a database whose node is gone goes whole once Kubernetes has given the node up',
  { skip: noKubelet },
  async () => {
    // GIVEN a database that runs on a node whose kubelet stands still
    await using own = await startCluster({ node: true, images: [await postgresqlImage()], crds: [plumblineCrd] });
    const cluster = await podClusterOf(own);
    const spec = { storage: { size: '512Mi', onDelete: 'Delete' } };
    const options = { namespace: await newNamespace(cluster), replicas: 2, spec };
    await using database = await NodeDatabase.create(cluster, options);
    for (const pid of kubeletOf(own)) process.kill(pid, 'SIGSTOP');
    try {
      // WHEN it is deleted, THEN nothing but its pods and their claims waits for the node
      await remove(database);
      await onlyLeft(database, /^(Pod|PersistentVolumeClaim)\//);
      assert.equal(await isThere(database, databaseServices, 'orders'), false);

      // AND these go with it
      await cluster.kubectlRun(['delete', 'node', own.nodeName]);
      await onlyLeft(database, /^$/);
    } finally {
      await wakeKubelet(own);
    }
  },
);

test('created again on kept claims', { skip }, async (t) => {
  // GIVEN a database with data, for which every commit waits for a replica
  const cluster = await sharedPodCluster();
  const namespace = await newNamespace(cluster);
  const options = { namespace, replicas: 3, spec: { durability: 'Sync' } };
  await using database = await NodeDatabase.create(cluster, options);
  const { members } = database;
  await database.allStream();
  const [identity] = await identities(database);
  const { password } = await secretOf(database, 'credentials');
  await database.sql((await database.leader()) ?? '', 'create table kept as select generate_series(1, 1000) n', 'app');

  for (const { kept, isStopped } of [
    { kept: [0, 1, 2], isStopped: false },
    { kept: [0], isStopped: false },
    { kept: [2], isStopped: true },
  ]) {
    const controller = isStopped ? 'stopped' : 'running';
    await t.test(`of members ${kept.join(', ')}, with the controller ${controller}`, async () => {
      // WHEN it is deleted, with all claims but these, and created again
      await database.allStream();
      await everyReplicaHas(database);
      await remove(database);
      const left = await onlyLeft(database, /^(Secret|PersistentVolumeClaim)\/|^ConfigMap\/orders-patroni-sync$/);
      assert.equal(left.filter((key) => key.startsWith('PersistentVolumeClaim/')).length, 3);
      for (const ordinal of [0, 1, 2].filter((one) => !kept.includes(one))) {
        await database.kube.delete(claims, { namespace, name: claimName('orders', ordinal) });
      }
      await eventually('the others are gone', async () => {
        const there = await Promise.all(
          members.map((_, ordinal) => isThere(database, claims, claimName('orders', ordinal))),
        );
        return there.filter(Boolean).length === kept.length || undefined;
      });
      await using running = await RunningPlumbline.start(cluster, { namespace });
      await database.create();
      await eventually('the StatefulSet is there', () => isThere(database, statefulSets, 'orders'));
      if (isStopped) await running.stop();

      // THEN all members stream, the data is there, the password is the same, and nothing was initialised
      await database.allStream();
      assert.equal(await database.sql((await database.leader()) ?? '', 'select count(*) from kept', 'app'), '1000');
      assert.deepEqual(await identities(database), new Set([identity]));
      const login = { host: 'orders', user: 'app', password: password ?? '', database: 'app' };
      await eventually(
        'the owner can log in',
        async () => (await psql(database, login, 'select 1')).code === 0 || undefined,
      );
      assert.equal((await secretOf(database, 'credentials'))['password'], password);
      // What the next deletion takes with it is known once Plumbline has seen that it runs.
      if (isStopped) await untilRunning(database);
      else await seenRunning(database, running);
    });
  }
});

/** A replica that lacks the end of the table is no fault of a deletion. */
async function everyReplicaHas(database: NodeDatabase): Promise<void> {
  for (const member of database.members) {
    await eventually(
      `${member} has the table`,
      async () => (await database.sql(member, 'select count(*) from kept', 'app')) === '1000' || undefined,
    );
  }
}

async function untilRunning(database: NodeDatabase): Promise<void> {
  await using running = await RunningPlumbline.start(database.cluster, { namespace: database.namespace });
  await seenRunning(database, running);
}

async function seenRunning({ namespace, name }: NodeDatabase, running: RunningPlumbline): Promise<void> {
  await eventually(
    'it is running',
    async () => {
      const status = (await running.database(namespace, name))['status'] as { phase?: string } | undefined;
      return status?.phase === 'Running' || undefined;
    },
    patienceMs,
  );
}
