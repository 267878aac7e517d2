import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newNamespace, sharedPodCluster, withoutOwnNode, withoutPods } from '../cluster/index.ts';
import { RunningPlumbline } from '../controller/running-plumbline.ts';
import { containerKilled, faults, patroniKilledTenTimes, podDeleted, postgresKilled, type Fault } from './faults.ts';
import { NodeDatabase } from './node-database.ts';
import { trial, type Trial } from './trial.ts';

const skip = withoutPods();

function inWords({ fault, secondsWithoutWrites, acknowledged, lost, secondsUntilAllStream }: Trial): string {
  const [gap, whole] = [secondsWithoutWrites.toFixed(2), secondsUntilAllStream.toFixed(1)];
  return `${fault}: ${gap} s without writes, ${acknowledged} rows acknowledged, ${lost.length} lost, all stream after ${whole} s`;
}

function skipOf({ ownNodeFor }: Fault): string | false {
  return ownNodeFor === undefined ? false : withoutOwnNode(ownNodeFor);
}

test('three members lose no acknowledged row, and stream again by themselves', { skip }, async (t) => {
  // GIVEN a database for which every commit waits for a replica, and no controller
  const cluster = await sharedPodCluster();
  const namespace = await newNamespace(cluster);
  const spec = { durability: 'Sync' };
  await using database = await NodeDatabase.create(cluster, { namespace, replicas: 3, spec });

  for (const fault of [podDeleted, postgresKilled, containerKilled, ...faults]) {
    await t.test(fault.name, { skip: skipOf(fault) }, async (t) => {
      // WHEN the primary is hit while a client writes, THEN all members stream again, and every row is there that the client was told of
      const outcome = await trial(database, fault);
      t.diagnostic(inWords(outcome));
      assert.deepEqual(outcome.lost, []);
      if (fault.keepsServer) assert(outcome.isSameServer, 'the server went on');
    });
  }

  await t.test('Plumbline, started again, finds nothing to do but to say so', async () => {
    await using running = await RunningPlumbline.start(cluster, { namespace });
    await running.settled(1_000);
    const made = running.requestsAfter(0).filter(({ verb }) => verb !== 'list');
    assert.deepEqual(
      made.filter(({ verb, type }) => verb !== 'apply' || type?.kind !== 'DatabaseService'),
      [],
    );
  });
});

test('a database of one member goes on by itself', { skip }, async (t) => {
  const cluster = await sharedPodCluster();
  await using database = await NodeDatabase.create(cluster, { namespace: await newNamespace(cluster) });

  for (const fault of [patroniKilledTenTimes, containerKilled]) {
    await t.test(fault.name, { skip: skipOf(fault) }, async (t) => {
      const outcome = await trial(database, fault);
      t.diagnostic(inWords(outcome));
      assert.deepEqual(outcome.lost, []);
      if (fault.keepsServer) assert(outcome.isSameServer, 'the server went on');
    });
  }
});
