import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import { claimName, namesOf } from '../../constructs/names.ts';
import { identityAnnotation } from '../../constructs/labels.ts';
import { claims, statefulSets } from '../../controller/database/kinds.ts';
import { isObjectMissing } from '../../controller/kube/index.ts';
import { newNamespace, sharedPodCluster, withoutPods } from '../cluster/index.ts';
import { eventually, RunningPlumbline } from '../controller/running-plumbline.ts';
import { psql, secretOf } from './login.ts';
import { NodeDatabase } from './node-database.ts';

const skip = withoutPods();

const deletions = 5;
const windowMs = 10_000;

for (const isStopped of [false, true]) {
  const controller = isStopped ? 'stopped' : 'running';
  test(
    `members that are deleted during the first start make one database, with the controller ${controller}`,
    { skip },
    async (t) => {
      // GIVEN a database of three that was just created
      const cluster = await sharedPodCluster();
      const namespace = await newNamespace(cluster);
      await using database = await NodeDatabase.of(cluster, { namespace, replicas: 3, spec: { durability: 'Sync' } });
      await using running = await RunningPlumbline.start(cluster, { namespace });
      await database.create();
      await eventually('the StatefulSet is there', () => exists(database));
      if (isStopped) await running.stop();

      // WHEN all its pods are deleted, again and again, in its first ten seconds
      await deleteAtRandom(t, database);

      // THEN all members stream, roles and passwords are in order, and there is one identity
      await database.allStream();
      await assertLogins(database);
      await assertOneIdentity(database);
    },
  );
}

async function exists({ kube, namespace, name }: NodeDatabase): Promise<true | undefined> {
  try {
    await kube.get(statefulSets, { namespace, name });
    return true;
  } catch (error) {
    if (isObjectMissing(error)) return undefined;
    throw error;
  }
}

async function deleteAtRandom(t: TestContext, { cluster, namespace, members }: NodeDatabase): Promise<void> {
  const moments = Array.from({ length: deletions }, () => Math.random() * windowMs).toSorted((a, b) => a - b);
  t.diagnostic(`pods deleted at ${moments.map((ms) => `${(ms / 1000).toFixed(1)} s`).join(', ')}`);
  const begun = performance.now();
  for (const moment of moments) {
    await delay(Math.max(0, begun + moment - performance.now()));
    // With their own time of grace: a member that lost the signal would be there for five minutes.
    const args = ['delete', 'pod', ...members, '--wait=false', '--ignore-not-found'];
    const { code, stderr } = await cluster.kubectlRun(['-n', namespace, ...args]);
    assert.equal(code, 0, stderr);
  }
}

/** The owner's through the Service, and those of the system, which replication and rewind need between members. */
async function assertLogins(database: NodeDatabase): Promise<void> {
  const [credentials, system] = await Promise.all([secretOf(database, 'credentials'), secretOf(database, 'system')]);
  const logins = [
    { user: 'app', password: credentials['password'], database: 'app' },
    { user: 'plumbline_rewind', password: system['rewind'], database: 'postgres' },
    { user: 'postgres', password: system['superuser'], database: 'postgres' },
  ];
  for (const { password = '', ...login } of logins) {
    // The steward comes a moment after the promotion.
    await eventually(`${login.user} can log in`, async () => {
      const { code } = await psql(database, { ...login, host: database.name, password }, 'select 1');
      return code === 0 || undefined;
    });
  }
}

async function assertOneIdentity(database: NodeDatabase): Promise<void> {
  const { kube, namespace, name, members } = database;
  const identities = new Set<string | undefined>();
  for (const [ordinal, member] of members.entries()) {
    identities.add(await database.sql(member, 'select system_identifier from pg_control_system()'));
    const { metadata } = await kube.get(claims, { namespace, name: claimName(name, ordinal) });
    identities.add(metadata.annotations?.[identityAnnotation]);
  }
  identities.add(await database.patroniSays(namesOf(name).patroniConfig, 'initialize'));
  assert.equal(identities.size, 1, [...identities].join(', '));
}
