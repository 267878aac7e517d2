import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newNamespace, sharedPodCluster, withoutOwnNode, withoutPods } from '../cluster/index.ts';
import { RunningPlumbline } from '../controller/running-plumbline.ts';
import {
  containerFrozen,
  containerKilled,
  diverged,
  faults,
  patroniKilledTenTimes,
  podDeleted,
  postgresKilled,
  type Fault,
} from './faults.ts';
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

  // What is frozen here has written something before that nobody else has: see below.
  const others = faults.filter((fault) => fault !== containerFrozen);
  for (const fault of [podDeleted, postgresKilled, containerKilled, ...others]) {
    await t.test(fault.name, { skip: skipOf(fault) }, async (t) => {
      // WHEN the primary is hit while a client writes, THEN all members stream again, and every row is there that the client was told of
      const outcome = await trial(database, fault);
      t.diagnostic(inWords(outcome));
      assert.deepEqual(outcome.lost, []);
      if (fault.keepsServer) assert(outcome.isSameServer, 'the server went on');
    });
  }

  await t.test(
    'a container that is frozen, and has written what nobody else has, is rewound',
    { skip: skipOf(diverged) },
    async (t) => {
      const outcome = await trial(database, diverged);
      t.diagnostic(inWords(outcome));
      assert.deepEqual(outcome.lost, []);
      for (const member of database.members) {
        assert.equal(await database.sql(member, `select to_regclass('alone') is null`, 'app'), 't', member);
      }
      const { stdout } = await cluster.kubectlRun(['-n', namespace, 'logs', outcome.member, '-c', 'postgres']);
      assert.match(stdout, /running pg_rewind/);
    },
  );

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
