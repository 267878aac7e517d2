import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { namesOf } from '../../constructs/names.ts';
import { databaseServices, secrets, statefulSets, typeOf } from '../../controller/database/kinds.ts';
import { connect, KubeClient } from '../../controller/kube/index.ts';
import { newNamespace, prometheusPrograms, sharedCluster, whyNoPrometheus, type Cluster } from '../cluster/index.ts';
import { auditedRequests } from '../constructs/install/audit-log.ts';
import { kubectl } from '../constructs/install/installed.ts';
import { ask } from './endpoints/ask.ts';
import { MainProcess } from './main-process.ts';
import { parseExposition, type Scrape } from './metrics/exposition.ts';
import { noAuth, Observed, requestsIn, sum } from './observed.ts';
import { ownKubeconfig } from './own-account.ts';
import { databaseService, eventually } from './running-plumbline.ts';

function ofDatabase(scrape: Scrape, name: string): Scrape['samples'] {
  return scrape.samples.filter(({ labels }) => labels['name'] === name);
}

async function clientOf(cluster: Cluster): Promise<AsyncDisposable & { readonly kube: KubeClient }> {
  const connection = await connect({ kubeconfig: cluster.kubeconfig });
  return { kube: new KubeClient(connection), [Symbol.asyncDispose]: () => connection.close() };
}

describe('the controller, seen from outside', () => {
  test('leader and standby are ready and healthy, tell their metrics, and who of them leads', async () => {
    const cluster = await sharedCluster();
    const namespace = await newNamespace(cluster);
    await using leader = await Observed.start(await ownKubeconfig(cluster), namespace, ...noAuth);
    await leader.main.says('leading');
    await using standby = await Observed.start(await ownKubeconfig(cluster), namespace, ...noAuth);
    await standby.main.says('the leader is known');

    for (const [observed, status] of [
      [leader, 1],
      [standby, 0],
    ] as const) {
      const health = observed.url('health');
      await eventually('it is ready', async () => (await ask(`${health}/readyz`)).status === 200 || undefined);
      const { body } = await ask(`${health}/readyz?verbose`);
      assert.equal(body, '[+]ping ok\n[+]caches ok\n[+]lease ok\nreadyz check passed\n');
      assert.equal((await ask(`${health}/healthz`)).body, 'ok');
      assert.equal((await ask(`${health}/metrics`)).status, 404);

      const metrics = `${observed.url('metrics')}/metrics`;
      const { headers, body: text } = await ask(metrics, { headers: { 'accept-encoding': 'gzip' } });
      assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
      assert.equal(headers['content-encoding'], 'gzip');
      const scrape = parseExposition(text);
      assert.equal(scrape.value('leader_election_master_status', { name: 'plumbline-controller' }), status);
      assert(scrape.value('process_resident_memory_bytes') > 1e7);
      assert(scrape.types.has('nodejs_eventloop_lag_p99_seconds'));
    }
  });

  test('what is counted is what happened: drift by kind and manager, runs, and as many requests as the API server saw', async () => {
    // GIVEN a database, and a controller whose requests are in the audit log
    const cluster = await sharedCluster();
    const namespace = await newNamespace(cluster);
    const user = `observed-${namespace}`;
    const groups = ['system:masters', 'system:serviceaccounts:plumbline-system'];
    await using observed = await Observed.start(await cluster.kubeconfigFor(user, groups), namespace, ...noAuth);
    await using client = await clientOf(cluster);
    const { kube } = client;
    const type = databaseServices;
    await kube.create(databaseService(namespace, 'orders', { replicas: 3 }), { type, fieldManager: 'kubectl-create' });
    await eventually('its StatefulSet is made', async () => {
      const scrape = await observed.atRest();
      return scrape.value('plumbline_database_condition', { type: 'Drifted', status: 'False' }) === 1 || undefined;
    });
    const made = await observed.scrape();
    assert.deepEqual(made.all('plumbline_drift_total'), []);
    assert.equal(made.value('plumbline_repair_seconds_count'), 0);

    // WHEN somebody changes two fields, and somebody else deletes an object
    const patch = {
      kind: 'merge',
      body: { spec: { sessionAffinity: 'ClientIP', publishNotReadyAddresses: true } },
      fieldManager: 'kubectl-edit',
    } as const;
    await kube.patch(typeOf({ kind: 'Service' }), { namespace, name: 'orders-ro' }, patch);
    await kube.delete(typeOf({ kind: 'PodDisruptionBudget' }), { namespace, name: 'orders' });

    // THEN
    const scrape = await eventually('both are counted', async () => {
      const scrape = await observed.atRest();
      return sum(scrape.all('plumbline_drift_total')) === 3 ? scrape : undefined;
    });
    const drift = (labels: Readonly<Record<string, string>>) => scrape.value('plumbline_drift_total', labels);
    assert.equal(drift({ kind: 'Service', manager: 'kubectl-edit', action: 'corrected' }), 2);
    assert.equal(drift({ kind: 'PodDisruptionBudget', manager: 'unknown', action: 'corrected' }), 1);
    assert.equal(scrape.value('plumbline_repair_seconds_count'), 2);
    assert.equal(scrape.value('plumbline_repair_seconds_bucket', { le: '+Inf' }), 2);

    const controller = 'databaseservice';
    const runs = scrape.all('controller_runtime_reconcile_total', { controller });
    assert.equal(sum(runs), scrape.value('controller_runtime_reconcile_time_seconds_count', { controller }));
    assert.equal(sum(runs), scrape.value('workqueue_work_duration_seconds_count', { controller }));
    assert.equal(scrape.value('workqueue_depth', { controller }), 0);
    assert.equal(scrape.value('controller_runtime_active_workers', { controller }), 0);
    assert.equal(scrape.value('controller_runtime_max_concurrent_reconciles', { controller }), 10);
    assert.equal(scrape.value('controller_runtime_reconcile_errors_total', { controller }), 0);

    assert.equal(scrape.value('plumbline_databases', { phase: 'Provisioning' }), 1);
    assert.equal(scrape.value('plumbline_database_info', { namespace, name: 'orders', version: '17' }), 1);
    assert.equal(scrape.value('plumbline_database_replicas', { namespace, name: 'orders' }), 3);
    assert.equal(scrape.value('plumbline_database_condition', { name: 'orders', type: 'Ready', status: 'False' }), 1);
    assert.equal(
      scrape.value('plumbline_database_condition', { name: 'orders', type: 'Drifted', reason: 'InTrue' }),
      1,
    );

    const all = await observed.atRest();
    assert.equal(sum(all.all('rest_client_requests_total')), sum(all.all('plumbline_api_requests_total')));
    assert.equal(
      sum(all.all('rest_client_requests_total')),
      sum(all.all('rest_client_request_duration_seconds_count')),
    );
    // The first question of all, whether there is a server, is not counted; a watch is in the log when it begins and when it ends.
    const logged = auditedRequests(cluster, user).filter(
      ({ verb, resource }) => verb !== 'watch' && !['leases', '/version'].includes(resource),
    );
    const counted = (...verbs: readonly string[]) =>
      sum(requestsIn(all).filter(({ labels }) => verbs.includes(labels['verb'] ?? '')));
    const seen = (verb: string) => logged.filter((request) => request.verb === verb).length;
    assert.equal(counted('apply', 'patch'), seen('patch'));
    assert.equal(counted('create'), seen('create'));
    assert.equal(counted('delete'), seen('delete'));
    assert.equal(counted('list'), seen('list'));
    assert.equal(counted('get', 'raw'), seen('get'));
    assert(seen('patch') > 15 && seen('create') > 2 && seen('list') > 10);
    // Before there is a lease, it is asked for in vain.
    const refused = auditedRequests(cluster, user).filter(({ status }) => status >= 400).length;
    const failed = all.all('rest_client_requests_total').filter(({ labels }) => Number(labels['code']) >= 400);
    assert(refused > 0);
    assert.equal(sum(failed), refused);
  });

  test('no metric holds a password, and the series of a database that is deleted are gone', async () => {
    // GIVEN two databases, and somebody who puts a password into a pod
    const cluster = await sharedCluster();
    const namespace = await newNamespace(cluster);
    await using observed = await Observed.start(await ownKubeconfig(cluster), namespace, ...noAuth);
    await using client = await clientOf(cluster);
    const { kube } = client;
    const type = databaseServices;
    for (const name of ['orders', 'billing'])
      await kube.create(databaseService(namespace, name), { type, fieldManager: 'kubectl-create' });
    await eventually('both are made', async () => {
      const scrape = await observed.atRest();
      return scrape.all('plumbline_database_condition', { type: 'Ready' }).length === 2 || undefined;
    });
    const planted = 'correct-horse-battery-staple';
    const env = [{ name: 'PGPASSWORD', value: planted }];
    const body = { spec: { template: { spec: { containers: [{ name: 'postgres', env }] } } } };
    const ref = { namespace, name: 'orders' };
    await kube.patch(statefulSets, ref, { kind: 'strategic', body, fieldManager: 'kubectl-edit' });
    await eventually('it is told', async () => {
      const scrape = await observed.scrape();
      return scrape.value('plumbline_drift_total', { kind: 'StatefulSet', action: 'reported' }) > 0 || undefined;
    });

    // THEN
    const text = await observed.text();
    assert(!text.includes(planted));
    for (const name of [namesOf('orders').credentials, namesOf('orders').system]) {
      const { data } = (await kube.get(secrets, { namespace, name })) as { data?: Readonly<Record<string, string>> };
      const values = Object.values(data ?? {}).filter((value) => value.length >= 16);
      assert(values.length > 0);
      for (const value of values) {
        assert(!text.includes(value));
        assert(!text.includes(Buffer.from(value, 'base64').toString()));
      }
    }

    // WHEN
    assert(ofDatabase(await observed.scrape(), 'orders').length > 10);
    await kube.delete(type, ref);

    // THEN
    const scrape = await eventually('nothing is told of it', async () => {
      const scrape = await observed.scrape();
      return ofDatabase(scrape, 'orders').length === 0 ? scrape : undefined;
    });
    assert(ofDatabase(scrape, 'billing').length > 10);
    assert.equal(sum(scrape.all('plumbline_databases')), 1);
  });

  test('Prometheus reads all of it, and its linter finds nothing', { skip: whyNoPrometheus() }, async () => {
    const { promtool } = await prometheusPrograms();
    const cluster = await sharedCluster();
    const namespace = await newNamespace(cluster);
    await using observed = await Observed.start(await ownKubeconfig(cluster), namespace, ...noAuth);
    await using client = await clientOf(cluster);
    const options = { type: databaseServices, fieldManager: 'kubectl-create' };
    await client.kube.create(databaseService(namespace, 'orders'), options);
    await eventually('it is told', async () => ofDatabase(await observed.scrape(), 'orders').length > 10 || undefined);
    const input = await observed.text();
    const { status, stdout, stderr } = spawnSync(promtool, ['check', 'metrics'], { input, encoding: 'utf8' });
    assert.deepEqual([status, stdout, stderr], [0, '', '']);
  });

  test('with tokens the metrics are for whom RBAC lets get them, over TLS', async () => {
    // GIVEN two ServiceAccounts, one of which may
    const cluster = await sharedCluster();
    const namespace = await newNamespace(cluster);
    for (const account of ['scraper', 'nobody'])
      await kubectl(cluster, ['-n', namespace, 'create', 'serviceaccount', account]);
    const role = `metrics-reader-${namespace}`;
    await kubectl(cluster, ['create', 'clusterrole', role, '--verb=get', '--non-resource-url=/metrics']);
    const subject = `--serviceaccount=${namespace}:scraper`;
    await kubectl(cluster, ['create', 'clusterrolebinding', role, `--clusterrole=${role}`, subject]);
    const tokenOf = async (account: string) =>
      (await kubectl(cluster, ['-n', namespace, 'create', 'token', account])).trim();
    const [scraper, nobody] = [await tokenOf('scraper'), await tokenOf('nobody')];
    await using observed = await Observed.start(await ownKubeconfig(cluster), namespace);
    const url = `${observed.url('metrics', 'https')}/metrics`;
    const read = (token?: string) =>
      ask(url, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } });

    // WHEN, THEN
    const without = await read();
    assert.deepEqual([without.status, without.headers['www-authenticate']], [401, 'Bearer']);
    assert.equal((await read(`${scraper.slice(0, -8)}AAAAAAAA`)).status, 401);
    assert.equal((await read(nobody)).status, 403);
    const allowed = await read(scraper);
    assert.equal(allowed.status, 200, allowed.body);
    parseExposition(allowed.body);
    await assert.rejects(ask(url.replace('https', 'http'), {}));

    // No token is in the log, and asking about them is counted.
    const said = observed.main.stdout + observed.main.stderr;
    for (const token of [scraper, nobody]) assert(!said.includes(token) && !allowed.body.includes(token));
    const scrape = parseExposition((await read(scraper)).body);
    assert.equal(scrape.value('plumbline_api_requests_total', { kind: 'TokenReview', reason: 'review' }), 3);
    assert.equal(scrape.value('plumbline_api_requests_total', { kind: 'SubjectAccessReview' }), 2);
  });

  test('an address that is taken is told in one line, with exit code 1', async () => {
    const cluster = await sharedCluster();
    const namespace = await newNamespace(cluster);
    await using first = await Observed.start(await ownKubeconfig(cluster), namespace, ...noAuth);
    const address = first.url('health').replace('http://', '');
    const flags = ['--kubeconfig', cluster.kubeconfig, '--lease-namespace', namespace];
    await using second = new MainProcess([...flags, '--metrics-address', address, ...noAuth]);
    assert.equal(await second.ends(), 1);
    assert.equal(
      second.stderr,
      `--metrics-address: ${address} is taken by another process: end that, or choose another port\n`,
    );
  });
});
