import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { DatabaseServiceStatus } from '../../constructs/api/status.ts';
import { identityAnnotation } from '../../constructs/labels.ts';
import { claimName, namesOf } from '../../constructs/names.ts';
import { paths } from '../../constructs/postgresql/paths.ts';
import { claims } from '../../controller/database/kinds.ts';
import { newNamespace, sharedPodCluster, withoutPods } from '../cluster/index.ts';
import { eventually, RunningPlumbline } from '../controller/running-plumbline.ts';
import { NodeDatabase } from './node-database.ts';

const skip = withoutPods();
const killer = readFileSync(new URL('./kill-initdb.py', import.meta.url), 'utf8');

// mariadb-operator/mariadb-operator#1399
test('initdb that is killed half way is repeated, and never taken for data', { skip }, async (t) => {
  // GIVEN a database that was just created
  const cluster = await sharedPodCluster();
  const namespace = await newNamespace(cluster);
  await using database = await NodeDatabase.of(cluster, { namespace });
  const [member = ''] = database.members;
  await using running = await RunningPlumbline.start(cluster, { namespace });
  await database.create();

  // WHEN initdb, and each process that it needs, is killed when there is a control file
  const killed = await eventually('all were killed', () => kill(database, member), 180_000);
  t.diagnostic(`killed half way: ${killed.join(', ')}`);
  assert.equal(killed.length, 4);

  // THEN it runs by itself, with one identity, and nothing is left of the tries
  await eventually(
    'it is running',
    async () => {
      const found = await running.database(namespace, database.name);
      const status = found['status'] as DatabaseServiceStatus | undefined;
      return status?.phase === 'Running' || undefined;
    },
    180_000,
  );
  const identity = await database.sql(member, 'select system_identifier from pg_control_system()');
  const { metadata } = await database.kube.get(claims, { namespace, name: claimName(database.name, 0) });
  assert.equal(metadata.annotations?.[identityAnnotation], identity);
  assert.equal(await database.patroniSays(namesOf(database.name).patroniConfig, 'initialize'), identity);
  const found = await database.run(member, ['ls', paths.volume]);
  assert.deepEqual(
    found.split('\n').filter((name) => name.startsWith('pgdata')),
    ['pgdata'],
  );
  // A control file that was written half way would not do.
  assert.equal(await database.sql(member, 'select count(*) from pg_database where datname = $$app$$'), '1');
});

/** Undefined while there is no container that it can be done in. @throws Error with what went on otherwise */
async function kill(database: NodeDatabase, member: string): Promise<readonly string[] | undefined> {
  try {
    const said = await database.run(member, ['python3', '-c', killer, paths.data]);
    return said.split('\n').filter(Boolean);
  } catch (error) {
    if (/Unexpected server response: (?:400|404|500)$/.test(String(error))) return undefined;
    throw error;
  }
}
