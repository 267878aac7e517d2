import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { load } from 'js-yaml';
import { paths } from '../../constructs/postgresql/paths.ts';
import {
  newNamespace,
  postgresExporterImage,
  sharedPodCluster,
  whyNoPrometheus,
  withoutOwnNode,
} from '../cluster/index.ts';
import { eventually } from '../controller/running-plumbline.ts';
import { discovered, type Discovered } from './discovered.ts';
import { secretOf } from './login.ts';
import { ManagedDatabase } from './managed-database.ts';
import { PrometheusPod, type Series } from './prometheus-pod.ts';
import { ensureRestingPod } from './resting-pod.ts';
import { askFrom } from './scraper.ts';

const skip = withoutOwnNode('loads an image, and relies on NetworkPolicies being enforced');
const patienceMs = 120_000;
const [patroni, exporter] = [8008, 9187];

const page = readFileSync(new URL('../../docs/monitoring.md', import.meta.url), 'utf8');
const blocks = (language: string): readonly string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, block = '']) => block);

test('a database that is monitored', { skip }, async (t) => {
  // GIVEN a database of two without monitoring, a pod that is to scrape, and one that is not
  const { own } = await sharedPodCluster();
  assert(own);
  await own.loadImage(await postgresExporterImage());
  await using managed = await ManagedDatabase.open({ replicas: 2 });
  const { database } = managed;
  const { cluster, namespace, members } = database;
  const elsewhere = await newNamespace(cluster);
  await ensureRestingPod(database, { name: 'stranger', labels: { app: 'prometheus' } });
  const ask = async (member: string, port: number, path = '/metrics', method?: 'POST' | 'PATCH') => {
    const { podIP } = (await database.pod(member)).status;
    return askFrom(cluster, { namespace: elsewhere, pod: 'prometheus' }, `http://${podIP}:${port}${path}`, method);
  };
  const scrape = async (member: string, port: number) => (await ask(member, port))?.body ?? '';

  // WHEN it is turned on for Prometheus in another namespace
  const before = await managed.lives();
  const prometheusPod = {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': elsewhere } },
    podSelector: { matchLabels: { app: 'prometheus' } },
  };
  await managed.edit({ monitoring: { enabled: true, from: [prometheusPod] } });
  await managed.stable();
  const prometheus = whyNoPrometheus()
    ? undefined
    : await PrometheusPod.start(database, elsewhere, configuration(await discovered(database)));
  if (!prometheus)
    await ensureRestingPod(database, { name: 'prometheus', namespace: elsewhere, labels: { app: 'prometheus' } });

  await t.test('members were made anew for it, each once, and every one tells the truth about itself', async () => {
    const after = await managed.lives();
    assert(after.every(({ uid }, i) => uid !== before[i]?.uid));
    const replaced = managed.stepsInWords().filter((step) => step.startsWith('MemberReplaced'));
    assert.deepEqual(
      replaced.toSorted(),
      members.map((name) => `MemberReplaced ${name}`),
    );
    for (const member of members) {
      const text = await eventually(
        `the exporter of ${member} logs in`,
        async () => {
          const text = await scrape(member, exporter);
          return /^pg_up 1$/m.test(text) ? text : undefined;
        },
        patienceMs,
      );
      const isReplica = (await database.sql(member, 'select pg_is_in_recovery()::int')) === '1';
      assert.match(text, new RegExp(`^pg_replication_is_replica ${Number(isReplica)}$`, 'm'));
      assert.match(text, /^pg_replication_lag_seconds \d/m);
      const most = await database.sql(member, 'show max_connections');
      assert.match(text, new RegExp(`^pg_settings_max_connections\\{server="localhost:5432"\\} ${most}$`, 'm'));
      assert.doesNotMatch(text, /^pg_scrape_collector_success\{.*\} 0$/m);
      const said = await scrape(member, patroni);
      assert.match(said, new RegExp(`^patroni_primary\\{.*name="${member}"\\} ${Number(!isReplica)}$`, 'm'));
    }
  });

  await t.test('who is not named reaches neither, and who is reaches nothing else', async () => {
    const { podIP } = (await database.pod('orders-0')).status;
    for (const port of [patroni, exporter]) {
      const url = `http://${podIP}:${port}/metrics`;
      const found = await askFrom(cluster, { namespace, pod: 'stranger' }, url);
      assert.equal(found, undefined, `stranger to ${port}`);
    }
    const open = `import socket; socket.create_connection(("${podIP}", 5432), 3)`;
    const command = ['-n', elsewhere, 'exec', 'prometheus', '--', 'python3', '-c', open];
    assert.notEqual((await cluster.kubectlRun(command)).code, 0);
  });

  await t.test('a scraper changes nothing: what would asks for a password', async () => {
    for (const [method, path] of [
      ['POST', '/restart'],
      ['POST', '/switchover'],
      ['POST', '/reinitialize'],
      ['PATCH', '/config'],
    ] as const) {
      assert.equal((await ask('orders-0', patroni, path, method))?.status, 401, `${method} ${path}`);
    }
  });

  await t.test('no password is in metrics, logs, or the arguments and environment of the exporter', async () => {
    const { password = '' } = await secretOf(database, 'credentials');
    const passwords = [password, ...Object.values(await secretOf(database, 'system'))];
    assert.equal(passwords.filter((one) => one.length >= 16).length, 5);
    const processes = await own.processesOf({ namespace, pod: 'orders-0', container: 'exporter' });
    assert(processes.length > 0);
    const root = `/proc/${processes[0]}/root`;
    passwords.push(readFileSync(`${root}${paths.monitoring}/pgpass`, 'utf8').trim().split(':').at(-1) ?? '');
    assert.equal(passwords.at(-1)?.length, 64);
    const texts = [await scrape('orders-0', exporter), await scrape('orders-0', patroni)];
    for (const pid of processes)
      for (const file of ['cmdline', 'environ']) texts.push(readFileSync(`/proc/${pid}/${file}`, 'utf8'));
    for (const container of ['exporter', 'steward', 'postgres']) {
      const { stdout } = await cluster.kubectlRun(['-n', namespace, 'logs', 'orders-0', '-c', container]);
      texts.push(stdout);
    }
    for (const text of texts) for (const password of passwords) assert(!text.includes(password));
    // AND the exporter has no token of the API, and no way to the socket
    assert.deepEqual(readdirSync(`${root}${paths.token}`), []);
    assert(!existsSync(`${root}${paths.socket}`));
  });

  await t.test('an exporter that is killed is started again, and its member was ready all the while', async () => {
    const primary = await managed.primary();
    const running = async () => {
      const processes = await own.processesOf({ namespace, pod: primary, container: 'exporter' });
      return processes.find((pid) => commandOf(pid).startsWith('postgres_export'));
    };
    const life = async () => {
      const paths = ['{.status.conditions[?(@.type=="Ready")]}', '{.status.containerStatuses[*].restartCount}'];
      const { stdout } = await cluster.kubectlRun([
        '-n',
        namespace,
        'get',
        'pod',
        primary,
        '-o',
        `jsonpath=${paths.join('')}`,
      ]);
      return stdout;
    };
    const [victim, before] = [await running(), await life()];
    assert(victim);
    assert.match(before, /"status":"True"/);
    process.kill(victim, 'SIGKILL');
    const isAnother = async () => ![victim, undefined].includes(await running()) || undefined;
    await eventually('another one runs', isAnother, patienceMs);
    const isBack = async () => /^pg_up 1$/m.test(await scrape(primary, exporter)) || undefined;
    await eventually('it answers', isBack, patienceMs);
    assert.equal(await life(), before);
  });

  await t.test('Prometheus has all of it by what the documentation says', { skip: whyNoPrometheus() }, async () => {
    assert(prometheus);
    const one = (found: readonly Series[], pod: string) => found.find(({ labels }) => labels['pod'] === pod)?.value;
    const targets = await eventually(
      'it scrapes every endpoint',
      async () => {
        const found = await prometheus.query(`up{namespace="${namespace}"} == 1`);
        return found.length === 2 * members.length ? found : undefined;
      },
      patienceMs,
    );
    assert.deepEqual(
      targets.map(({ labels: { database, pod, container } }) => `${database} ${pod} ${container}`).toSorted(),
      members.flatMap((pod) => [`orders ${pod} exporter`, `orders ${pod} postgres`]).toSorted(),
    );
    const expressions = blocks('promql').flatMap((block) => block.trim().split('\n'));
    assert(expressions.length > 10);
    // Of those that find something wrong nothing comes, and a database without logical slots has slots of its members all the same.
    for (const expression of expressions.filter((text) => !text.includes('== 0'))) {
      const found: readonly Series[] = await eventually(
        expression,
        async () => {
          const ours: readonly Series[] = (await prometheus.query(expression)).filter(
            ({ labels }) => labels['namespace'] === namespace,
          );
          return ours.length > 0 ? ours : undefined;
        },
        patienceMs,
      );
      for (const { labels } of found) assert.equal(labels['database'], 'orders', expression);
    }

    // WHEN a replica replays nothing while its primary writes
    const [behind = ''] = expressions.filter((text) => text.includes('patroni_xlog_location'));
    const ofThis = async () => {
      const primary = await managed.primary();
      return { primary, replica: members.find((name) => name !== primary) ?? '' };
    };
    const isPaused = async (replica: string) =>
      (await database.sql(replica, 'select pg_is_wal_replay_paused()')).trim() === 't';
    const { primary, replica, lag } = await eventually(
      'the lag is told',
      async () => {
        const { primary, replica } = await ofThis();
        // Whoever starts again, or becomes the primary, replays on.
        if (!(await isPaused(replica))) {
          await database.sql(replica, 'select pg_wal_replay_pause()');
          const rows = 'select repeat(md5(n::text), 32) from generate_series(1, 20000) n';
          await database.sql(primary, `drop table if exists wal; create table wal as ${rows}`);
        }
        const found = await prometheus.query(behind);
        return (one(found, replica) ?? 0) > 16 * 2 ** 20 ? { primary, replica, lag: found } : undefined;
      },
      patienceMs,
    );

    // THEN the bytes tell, of that replica and no other member
    assert.equal(lag.filter(({ labels }) => labels['namespace'] === namespace).length, 1);
    assert.equal(one(lag, primary), undefined);
    await database.sql(replica, 'select pg_wal_replay_resume()');
    const isCaughtUp = async () => (one(await prometheus.query(behind), replica) ?? Infinity) < 2 ** 20 || undefined;
    await eventually('it has caught up', isCaughtUp, patienceMs);
  });
});

/** Of the documentation, but that these targets are named instead of being discovered. */
function configuration(targets: readonly Discovered[]): string {
  const found = blocks('yaml').find((block) => block.startsWith('scrape_configs:'));
  assert(found);
  const { scrape_configs: configs } = load(found) as {
    readonly scrape_configs: readonly Readonly<Record<string, unknown>>[];
  };
  const named = configs.map(({ kubernetes_sd_configs: _, ...rest }) => ({ ...rest, static_configs: targets }));
  return JSON.stringify({ global: { scrape_interval: '1s' }, scrape_configs: named });
}

/** Name of a process; empty for one that has ended meanwhile. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8');
  } catch {
    return '';
  }
}
