import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namesOf } from '../../constructs/names.ts';
import { newNamespace, sharedPodCluster, withoutPods } from '../cluster/index.ts';
import { eventually } from '../controller/running-plumbline.ts';
import { psql, secretOf } from './login.ts';
import { NodeDatabase } from './node-database.ts';

const skip = withoutPods();

/** Settings that a reader of YAML or a shell might take for something else. The last ones are nobody's, so any text is right. */
const parameters = {
  max_connections: '123',
  jit: 'off',
  random_page_cost: '1.10',
  search_path: '"$user", public',
  log_line_prefix: '%m [%p] ',
  'my.octal': '0o17',
  'my.mode': '0600',
  'my.time': '1:30',
  'my.float': '1e3',
  'my.null': 'null',
  'my.tilde': '~',
  'my.empty': '',
  'my.quotes': `it's "a" \\ b`,
  'my.letters': 'Größe 中',
};
/** What PostgreSQL itself makes of them. */
const shown = { ...parameters, random_page_cost: '1.1' };

// cdk8s-team/cdk8s-core#2565
test('a database of one starts as its spec says, to the byte', { skip }, async (t) => {
  // GIVEN a namespace that admits restricted pods only, and names that SQL must quote
  const cluster = await sharedPodCluster();
  const namespace = await newNamespace(cluster);
  await cluster.kubectlRun(['label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce=restricted']);
  const [owner, name] = ['App-user', 'Order-Data'];
  const spec = { username: owner, database: name, parameters };
  await using database = await NodeDatabase.create(cluster, { namespace, spec });
  const [member = ''] = database.members;

  await t.test('the owner of the spec owns the database of the spec, in that spelling', async () => {
    const { password = '' } = await secretOf(database, 'credentials');
    const login = { host: database.name, user: owner, password, database: name };
    const who = `select current_user, current_database(), pg_get_userbyid(datdba) from pg_database where datname = '${name}'`;
    // The steward makes them once the server takes connections.
    const { stdout } = await eventually('the owner can log in', async () => {
      const answered = await psql(database, login, who);
      return answered.code === 0 ? answered : undefined;
    });
    assert.equal(stdout.trim(), `${owner}|${name}|${owner}`);
  });

  await t.test('every parameter is in force', async () => {
    for (const [parameter, value] of Object.entries(shown)) {
      assert.equal(await database.run(member, show(parameter)), `${value}\n`, parameter);
    }
  });

  await t.test('pages have checksums', async () => {
    assert.equal(await database.sql(member, 'show data_checksums'), 'on');
  });

  await t.test('nothing can be written to the image', async () => {
    for (const container of ['postgres', 'steward']) {
      await assert.rejects(database.run(member, ['touch', '/here'], { container }), /Read-only file system/);
    }
  });
});

test('of three members the one Service leads to the primary, the other to replicas alone', { skip }, async () => {
  const cluster = await sharedPodCluster();
  await using database = await NodeDatabase.create(cluster, { namespace: await newNamespace(cluster), replicas: 3 });
  await database.allStream();
  const { password = '' } = await secretOf(database, 'credentials');
  const { readOnly } = namesOf(database.name);
  const seen = async (host: string): Promise<string> => {
    const login = { host, user: 'app', password, database: 'app' };
    const { stdout, stderr } = await psql(database, login, 'select pg_is_in_recovery(), inet_server_addr()');
    return stdout.trim() || stderr;
  };
  const addresses = new Map<string, string>();
  for (const member of database.members) addresses.set(member, (await database.pod(member)).status.podIP ?? '');
  const leader = (await database.leader()) ?? '';
  const replicas = database.members.filter((member) => member !== leader);
  for (let i = 0; i < 5; i++) {
    assert.equal(await seen(database.name), `f|${addresses.get(leader)}`);
    const answer = await seen(readOnly);
    assert.ok(
      replicas.some((replica) => answer === `t|${addresses.get(replica)}`),
      answer,
    );
  }
});

// elastic/cloud-on-k8s#1987, pgbackrest/pgbackrest#942
test('the name of a database is no configuration for the tools of another', { skip }, async () => {
  // GIVEN databases whose Services are named as what the tools read
  const cluster = await sharedPodCluster();
  const namespace = await newNamespace(cluster);
  await using stack = new AsyncDisposableStack();
  const databases: NodeDatabase[] = [];
  for (const name of ['patroni', 'pgbackrest', 'pg', 'postgres']) {
    databases.push(stack.use(await NodeDatabase.create(cluster, { namespace, name })));
  }
  // THEN each runs, and no container was given a variable that they read
  for (const database of databases) {
    await database.allStream();
    for (const container of ['postgres', 'steward']) {
      const environment = await database.run(`${database.name}-0`, ['cat', '/proc/1/environ'], { container });
      const names = environment.split('\0').map((variable) => variable.split('=')[0] ?? '');
      assert.deepEqual(
        names.filter((name) => /^(PATRONI_|PGBACKREST_|PG|POSTGRES_|PLUMBLINE_)/.test(name)),
        [],
        `${database.name}, ${container}`,
      );
    }
  }
});

function show(parameter: string): string[] {
  return ['psql', '-X', '-U', 'postgres', '-d', 'postgres', '-Atc', `select current_setting('${parameter}')`];
}
