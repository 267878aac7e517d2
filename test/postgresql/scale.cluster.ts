import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { claimName, memberName } from '../../constructs/names.ts';
import type { DatabaseServiceStatus } from '../../constructs/api/status.ts';
import { claims, databaseServices, pods, statefulSets } from '../../controller/database/kinds.ts';
import type { Happened } from '../../controller/database/rollouts.ts';
import { isObjectMissing, type ResourceType } from '../../controller/kube/index.ts';
import { newNamespace, sharedPodCluster, withoutPods } from '../cluster/index.ts';
import { eventually, RunningPlumbline } from '../controller/running-plumbline.ts';
import { lostRows, monotonicSeconds } from './acknowledgements.ts';
import { handOver } from './hand-over.ts';
import { NodeDatabase } from './node-database.ts';
import { storedRows, Writer } from './writer.ts';

const skip = withoutPods();
/** How long Patroni keeps the slot of a member that is gone, and time to notice. */
const slotsGoWithinMs = 240_000;

/** What goes on until the slots of its members are gone: other tests need not wait for that. */
const lasting = new AsyncDisposableStack();
after(() => lasting.disposeAsync());
let scaled: NodeDatabase | undefined;

test('a database is scaled up and down while a client writes', { skip }, async (t) => {
  // GIVEN one member, and a client that writes
  const cluster = await sharedPodCluster();
  const namespace = await newNamespace(cluster);
  const database = lasting.use(await NodeDatabase.create(cluster, { namespace }));
  const steps: Happened[] = [];
  const onStep = (_: unknown, happened: Happened): void => void steps.push(happened);
  const running = lasting.use(await RunningPlumbline.start(cluster, { namespace, onStep }));
  await using writer = await Writer.start(database);

  for (const { to, by, primary } of [
    { to: 3, by: bySpec },
    { to: 5, by: byKubectl },
    { to: 2, by: byKubectl, primary: 4 },
    { to: 1, by: bySpec, primary: 1 },
  ]) {
    const from = database.replicas;
    const moved = primary === undefined ? '' : `, with the primary on ${memberName('orders', primary)}`;
    await t.test(`from ${from} to ${to}, ${by === bySpec ? 'by the spec' : 'by kubectl scale'}${moved}`, async (t) => {
      if (primary !== undefined) await handOver(database, memberName('orders', primary));
      steps.length = 0;
      const begun = monotonicSeconds();

      // WHEN the number changes
      await by(database, to);
      database.replicas = to;

      // THEN the members are there or gone, and all stream; the primary is handed over before it goes
      for (let ordinal = to; ordinal < from; ordinal++) await gone(database, pods, memberName('orders', ordinal));
      await database.allStream();
      await runs(running, namespace, to);
      await writer.acknowledgedAfter(monotonicSeconds());
      const messages = steps.filter(({ reason }) => reason === 'SwitchoverRequested').map(({ message }) => message);
      if (primary === undefined) assert.deepEqual(messages, []);
      else assert.match(messages[0] ?? '', new RegExp(`^orders-${primary} hands over, for it is to go`));
      t.diagnostic(`after ${(monotonicSeconds() - begun).toFixed(1)} s`);
    });
  }

  await t.test('no acknowledged row is lost', async (t) => {
    const acknowledged = await writer.stop();
    t.diagnostic(`${acknowledged.length} rows acknowledged`);
    assert.deepEqual(lostRows(acknowledged, await storedRows(database)), []);
  });

  await t.test('the volumes of the members that went are kept', async () => {
    for (let ordinal = 0; ordinal < 5; ordinal++)
      assert.ok(await uidOf(database, claims, claimName('orders', ordinal)));
  });
  scaled = database;
});

test('with storage.onDelete Delete the volume of a member goes with it', { skip }, async (t) => {
  // GIVEN three members
  const cluster = await sharedPodCluster();
  const namespace = await newNamespace(cluster);
  const spec = { storage: { size: '512Mi', onDelete: 'Delete' } };
  await using database = await NodeDatabase.create(cluster, { namespace, replicas: 3, spec });
  await using running = await RunningPlumbline.start(cluster, { namespace });
  await handOver(database, 'orders-2');
  await database.sql('orders-2', 'create table kept (n int); insert into kept values (1)', 'app');
  const first = await uidOf(database, claims, claimName('orders', 0));

  await t.test('down: what is taken away goes, what stays is kept', async () => {
    await byKubectl(database, 1);
    database.replicas = 1;
    for (const ordinal of [1, 2]) {
      await gone(database, pods, memberName('orders', ordinal));
      await gone(database, claims, claimName('orders', ordinal));
    }
    await runs(running, namespace, 1);
    assert.equal(await uidOf(database, claims, claimName('orders', 0)), first);
    assert.equal(await database.sql('orders-0', 'select n from kept', 'app'), '1');
  });

  await t.test('up, down and up again at once: the members clone into new volumes', async () => {
    await byKubectl(database, 3);
    database.replicas = 3;
    await database.allStream();
    await byKubectl(database, 1);
    await eventually('one is on its way out', async () => ((await podsOf(database)) < 3 ? true : undefined));
    await byKubectl(database, 3);
    await database.allStream();
    await runs(running, namespace, 3);
    for (const member of database.members) assert.equal(await database.sql(member, 'select n from kept', 'app'), '1');
  });
});

test('whatever is done to the StatefulSet by hand, no volume is lost, and it is put right', { skip }, async (t) => {
  // GIVEN three members with storage.onDelete Delete, where the volumes would go most easily
  const cluster = await sharedPodCluster();
  const namespace = await newNamespace(cluster);
  const spec = { storage: { size: '512Mi', onDelete: 'Delete' } };
  await using database = await NodeDatabase.create(cluster, { namespace, replicas: 3, spec });
  await using running = await RunningPlumbline.start(cluster, { namespace });
  await database.sql((await database.leader()) ?? '', 'create table kept (n int); insert into kept values (1)', 'app');
  await database.allStream();
  const volumes = await uids(database, claims, (ordinal) => claimName('orders', ordinal));

  for (const [what, args, isWithPods] of [
    ['scaled to one', ['scale', 'statefulset', 'orders', '--replicas=1'], true],
    ['scaled to none', ['scale', 'statefulset', 'orders', '--replicas=0'], true],
    ['deleted', ['delete', 'statefulset', 'orders'], true],
    ['deleted without its pods', ['delete', 'statefulset', 'orders', '--cascade=orphan'], false],
  ] as const) {
    await t.test(what, async () => {
      const before = await uidOf(database, statefulSets, 'orders');
      const members = await uids(database, pods, (ordinal) => memberName('orders', ordinal));

      // WHEN
      const { code, stderr } = await cluster.kubectlRun(['-n', namespace, ...args]);
      assert.equal(code, 0, stderr);

      // THEN three members stream again, from the same volumes
      if (args[0] === 'delete') {
        const made = async () => {
          const now = await uidOf(database, statefulSets, 'orders');
          return now !== undefined && now !== before ? true : undefined;
        };
        await eventually('it is made again', made);
      }
      await runs(running, namespace, 3);
      await database.allStream();
      assert.deepEqual(await uids(database, claims, (ordinal) => claimName('orders', ordinal)), volumes);
      for (const member of database.members) assert.equal(await database.sql(member, 'select n from kept', 'app'), '1');
      if (!isWithPods)
        assert.deepEqual(await uids(database, pods, (ordinal) => memberName('orders', ordinal)), members);
    });
  }
});

test('the replication slots of members that went are gone after a while', { skip }, async () => {
  assert.ok(scaled !== undefined, 'a database was scaled');
  const database = scaled;
  const slots = () => database.sql('orders-0', 'select count(*) from pg_replication_slots');
  await eventually('no slot is left', async () => (await slots()) === '0' || undefined, slotsGoWithinMs);
});

async function bySpec({ kube, namespace, name }: NodeDatabase, replicas: number): Promise<void> {
  const patch = { kind: 'merge', body: { spec: { replicas } }, fieldManager: 'kubectl-edit' } as const;
  await kube.patch(databaseServices, { namespace, name }, patch);
}

async function byKubectl({ cluster, namespace, name }: NodeDatabase, replicas: number): Promise<void> {
  const args = ['-n', namespace, 'scale', 'dbs', name, `--replicas=${replicas}`];
  const { code, stderr } = await cluster.kubectlRun(args);
  assert.equal(code, 0, stderr);
}

/** Waits until the status says that all of the newest spec runs, and that as many members are there. */
async function runs(running: RunningPlumbline, namespace: string, members: number): Promise<void> {
  await eventually(
    `${members} members run`,
    async () => {
      const found = await running.database(namespace, 'orders');
      const status = (found['status'] ?? {}) as DatabaseServiceStatus;
      const { phase, replicas, readyReplicas, observedGeneration } = status;
      const isThere = observedGeneration === found.metadata.generation && phase === 'Running';
      return (isThere && replicas === members && readyReplicas === members) || undefined;
    },
    180_000,
  );
}

async function gone(database: NodeDatabase, type: ResourceType, name: string): Promise<void> {
  const isGone = async () => ((await uidOf(database, type, name)) === undefined ? true : undefined);
  await eventually(`${type.kind} ${name} is gone`, isGone, 180_000);
}

async function podsOf(database: NodeDatabase): Promise<number> {
  const found = await uids(database, pods, (ordinal) => memberName('orders', ordinal));
  return found.filter((uid) => uid !== undefined).length;
}

function uids(database: NodeDatabase, type: ResourceType, nameOf: (ordinal: number) => string) {
  return Promise.all(database.members.map((_, ordinal) => uidOf(database, type, nameOf(ordinal))));
}

/** Undefined for what is gone or on its way out. */
async function uidOf({ kube, namespace }: NodeDatabase, type: ResourceType, name: string): Promise<string | undefined> {
  try {
    const { metadata } = await kube.get(type, { namespace, name });
    return metadata.deletionTimestamp === undefined ? metadata.uid : undefined;
  } catch (error) {
    if (!isObjectMissing(error)) throw error;
    return undefined;
  }
}
