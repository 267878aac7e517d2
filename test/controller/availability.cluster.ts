import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { databaseServices, pods, watchedKinds } from '../../controller/database/kinds.ts';
import { connect, LEASES, type KubeObject } from '../../controller/kube/index.ts';
import { bundle } from '../../images/controller/bundle.ts';
import { plumblineCrd, startCluster, type Cluster } from '../cluster/index.ts';
import { ActedMembers } from './database/acted-members.ts';
import { Shop } from './database/shop.ts';
import { Controllers, instances, inWords } from './controllers.ts';
import { ask } from './endpoints/ask.ts';
import { FaultyProxy } from './kube/faulty-proxy.ts';
import type { MainProcess } from './main-process.ts';
import { parseExposition } from './metrics/exposition.ts';
import { eventually } from './running-plumbline.ts';

/** Longer than any of this takes on a machine that does much else; what it took is printed. */
const patienceMs = 90_000;
const metrics = ['--metrics-address', '127.0.0.1:0', '--metrics-auth', 'none'];
const backup = { schedule: '30 2 * * *', volume: { size: '1Gi' } };

/** A namespace, and the hands of a user in it. Whoever looks after it is a process of its own. */
async function emptyShop(cluster?: Cluster): Promise<Shop> {
  const shop = await Shop.open({}, cluster);
  await shop.running.stop();
  return shop;
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const there = (shop: Shop, kind: string, name: string) =>
  eventually(`${kind} ${name} is there`, () => shop.get(kind, name), patienceMs);
const judged = (shop: Shop, name: string) =>
  eventually(
    `${name} has a status`,
    async () => {
      const { metadata, status } = await shop.resource(name);
      return status?.observedGeneration === metadata.generation || undefined;
    },
    patienceMs,
  );

/** Everything that a controller of ours can write, by kind and name. What Kubernetes' own say in the status of an object comes when they get to it. */
async function versionsOf(shop: Shop): Promise<Readonly<Record<string, string>>> {
  const types = [databaseServices, ...watchedKinds.map(({ type }) => type)];
  const objects = (await Promise.all(types.map((type) => shop.list(type)))).flat();
  return Object.fromEntries(objects.map((object) => [`${object.kind}/${object.metadata.name}`, inShort(object)]));
}

function inShort(object: KubeObject): string {
  const { uid, resourceVersion, managedFields = [], ...metadata } = object.metadata;
  if (object.kind === 'DatabaseService') return `${uid} ${resourceVersion}`;
  const { status: _, ...stated } = object;
  const owned = managedFields.filter(({ subresource }) => subresource !== 'status');
  const whole = JSON.stringify({ ...stated, metadata, owned });
  return `${uid} ${createHash('sha256').update(whole).digest('base64url')}`;
}

/** The same, once nobody has changed anything for a while. */
async function versionsAtRest(shop: Shop): Promise<Readonly<Record<string, string>>> {
  let last = await versionsOf(shop);
  let equals = 0;
  return eventually(
    'nothing changes any more',
    async () => {
      await setTimeout(500);
      const before = last;
      last = await versionsOf(shop);
      equals = JSON.stringify(before) === JSON.stringify(last) ? equals + 1 : 0;
      return equals >= 4 ? last : undefined;
    },
    patienceMs,
  );
}

async function scrape(main: MainProcess): Promise<ReturnType<typeof parseExposition>> {
  const { port } = main.line('metrics are served');
  return parseExposition((await ask(`http://127.0.0.1:${String(port)}/metrics`)).body);
}

// Each waits for a lease to expire most of its time.
describe('two controllers', { concurrency: true }, () => {
  test('a leader that is killed is followed by one that has read everything before', async (t) => {
    // GIVEN
    await using shop = await emptyShop();
    await using controllers = await Controllers.in(shop.cluster, shop.namespace);
    const first = await controllers.start('first');
    await first.says('leading');
    const second = await controllers.start('second');
    for (const name of ['orders', 'ledger']) await shop.submit(name);
    for (const name of ['orders', 'ledger']) await judged(shop, name);
    await versionsAtRest(shop);
    assert(!second.messages.includes('leading'));
    assert.deepEqual(
      controllers.askedBy('second').filter(({ verb }) => !['list', 'watch', 'get'].includes(verb)),
      [],
    );

    // WHEN
    const killedAt = Date.now();
    first.kill('SIGKILL');
    await shop.delete('Service', 'orders');
    await there(shop, 'Service', 'orders');
    const repairedAt = Date.now();

    // THEN it puts right what happened meanwhile, without reading anything again
    t.diagnostic(
      `killed: the other leads after ${seconds(second.saidAt('leading') - killedAt)}, and has repaired after ${seconds(repairedAt - killedAt)}`,
    );
    const asked = controllers.askedBy('second', killedAt).filter(({ verb }) => verb !== 'watch');
    assert.deepEqual(
      asked.filter(({ verb }) => verb === 'list'),
      [],
    );
    assert(
      asked.some((one) => inWords(one) === 'patch services/orders'),
      asked.map(inWords).join(),
    );
    assert.deepEqual(
      asked.map(inWords).filter((one) => one.includes('ledger')),
      [],
    );
  });

  test('another release takes over at once from one that is asked to stop: it applies nothing and touches no pod', async (t) => {
    // GIVEN a database that runs, and another build of another version that waits
    await using shop = await emptyShop();
    await using controllers = await Controllers.in(shop.cluster, shop.namespace);
    const first = await controllers.start('first');
    await first.says('leading');
    const entry = join(shop.cluster.folder, 'another-release.mjs');
    await bundle(entry);
    const built = readFileSync(entry, 'utf8');
    const later = built.replaceAll('version:"0.1.0"', 'version:"0.2.0-next"');
    assert.notEqual(later, built);
    writeFileSync(entry, later);
    const second = await controllers.start('second', { entry, args: metrics });
    await shop.submit('orders', { replicas: 3, backup });
    await shop.submit('ledger');
    await judged(shop, 'ledger');
    await using _members = new ActedMembers(shop, 'orders');
    await eventually(
      'it runs',
      async () => (await shop.status('orders'))?.phase === 'Running' || undefined,
      patienceMs,
    );
    const before = await versionsAtRest(shop);

    // WHEN
    const askedAt = Date.now();
    first.kill('SIGTERM');
    assert.equal(await first.ends(patienceMs), 0);
    const endedAt = Date.now();
    const lease = await shop.kube.get(LEASES, { namespace: shop.namespace, name: 'plumbline-controller' });
    await second.says('leading', patienceMs);

    // THEN the lease was given back, and the other leads at its next try
    t.diagnostic(
      `asked to stop: ended after ${seconds(endedAt - askedAt)}, the other leads after ${seconds(second.saidAt('leading') - askedAt)}`,
    );
    assert(
      !first.stdout.includes(`"identity":"${lease.spec?.holderIdentity || 'nobody'}"`),
      'the lease was given back',
    );

    // and it looks at every database and leaves all as it is
    await eventually(
      'it has looked at both',
      async () => {
        const seen = await scrape(second);
        const looks = seen.all('controller_runtime_reconcile_total', { controller: 'databaseservice' });
        const depth = seen.value('workqueue_depth', { name: 'databaseservice' });
        return (looks.reduce((sum, { value }) => sum + value, 0) >= 2 && depth === 0) || undefined;
      },
      patienceMs,
    );
    const after = await versionsAtRest(shop);
    const asked = controllers.askedBy('second', askedAt);
    t.diagnostic(`the other release asked for: ${asked.map(inWords).join(', ') || 'nothing'}`);
    assert.deepEqual(asked.filter(({ verb }) => !['get', 'list', 'watch'].includes(verb)).map(inWords), []);
    assert.deepEqual(after, before);
    const watches = controllers.askedBy('second').filter(({ verb }) => verb === 'watch');
    assert.deepEqual([...new Set(watches.map(({ userAgent }) => userAgent))], ['plumbline/0.2.0-next']);
    await shop.submit('later');
    await there(shop, 'StatefulSet', 'later');
  });

  test('what a frozen leader had under way changes nothing when it arrives after another took over, and it ends without asking for more', async (t) => {
    // GIVEN a leader on a slow way to the API server
    await using shop = await emptyShop();
    await using controllers = await Controllers.in(shop.cluster, shop.namespace);
    const upstream = await connect({ kubeconfig: await controllers.kubeconfigOf('first') });
    await using _closing = { [Symbol.asyncDispose]: () => upstream.close() };
    await using proxy = await FaultyProxy.start(upstream);
    const first = await controllers.start('first', { kubeconfig: await proxy.kubeconfig() });
    await first.says('leading');
    const second = await controllers.start('second');
    for (const name of ['drifted', 'grows', 'told']) await shop.submit(name);
    await shop.submit('shrinks', { backup });
    await shop.submit('rolls');
    await using _members = new ActedMembers(shop, 'rolls');
    for (const name of ['drifted', 'grows', 'told', 'shrinks']) await judged(shop, name);
    await eventually('it runs', async () => (await shop.status('rolls'))?.phase === 'Running' || undefined, patienceMs);
    await versionsAtRest(shop);

    // WHEN a write of each kind is on its way
    const late = [
      /^PATCH .*\/services\/drifted$/,
      /^PATCH .*\/statefulsets\/grows$/,
      /^PATCH .*\/databaseservices\/told\/status$/,
      /^DELETE .*\/cronjobs\/shrinks-backup$/,
      /^DELETE .*\/pods\/rolls-0$/,
      /^POST .*\/secrets$/,
    ];
    const held = proxy.hold((request) => late.some((pattern) => pattern.test(request)));
    await shop.patch('Service', 'drifted', { body: { spec: { selector: { 'plumbline.dev/role': 'replica' } } } });
    await shop.edit('grows', { replicas: 3 });
    await shop.edit('told', { deletionProtection: true });
    await shop.edit('shrinks', { backup: null });
    await shop.edit('rolls', { resources: { requests: { cpu: '300m' } } });
    await shop.submit('new');
    const rolled = await there(shop, 'Pod', 'rolls-0');
    await eventually(
      'all are on their way',
      () => late.every((pattern) => held.waiting.some((request) => pattern.test(request))) || undefined,
      patienceMs,
    ).catch((cause: unknown) => {
      throw new Error(`only these wait: ${held.waiting.join(', ')}`, { cause });
    });

    // and the leader is frozen until another one has done all that, and a user has gone on
    first.kill('SIGSTOP');
    const frozenAt = Date.now();
    await second.says('leading', patienceMs);
    await there(shop, 'StatefulSet', 'new');
    const isRolled = async () => {
      const [pod] = await shop.list(pods, 'plumbline.dev/database=rolls');
      return (pod !== undefined && pod.metadata.uid !== rolled.metadata.uid) || undefined;
    };
    await eventually('the pod is another one', isRolled, patienceMs);
    await eventually(
      'the backup is gone',
      async () => (await shop.get('CronJob', 'shrinks-backup')) === undefined,
      patienceMs,
    );
    await shop.edit('grows', { replicas: 1 });
    await shop.edit('shrinks', { backup });
    await shop.edit('told', { deletionProtection: false });
    await there(shop, 'CronJob', 'shrinks-backup');
    for (const name of ['grows', 'shrinks', 'told']) await judged(shop, name);
    const before = await versionsAtRest(shop);
    const answers = await held.release();

    // THEN each is refused, and nothing has changed
    t.diagnostic(`late: ${[...answers].map(([request, status]) => `${request} ${status}`).join(', ')}`);
    for (const [request, status] of answers)
      assert([404, 409, 422].includes(status), `${request} was answered ${status}`);
    assert.deepEqual(await versionsOf(shop), before);

    // WHEN it thaws
    const thawedAt = Date.now();
    first.kill('SIGCONT');

    // THEN it finds that another one leads, and ends; or it finds first that its time is over, and waits for its turn
    const isOver = () => !first.isRunning || first.messages.some((one) => one.startsWith('the lease was lost'));
    await eventually('it leads no more', isOver, patienceMs);
    if (!first.isRunning) assert.equal(await first.ends(), 3);
    t.diagnostic(
      `frozen: the other leads after ${seconds(second.saidAt('leading') - frozenAt)}; thawed, it ended after ${seconds(Date.now() - thawedAt)}`,
    );
    assert.deepEqual(
      controllers
        .askedBy('first', thawedAt)
        .map(inWords)
        .filter((one) => !/^(list|watch) /.test(one)),
      [],
    );
    assert.deepEqual(await versionsOf(shop), before);
  });
});

/** With SOAK=whole five minutes; otherwise until the lease is lost. */
const outageMs = process.env['SOAK'] === 'whole' ? 300_000 : 0;

test('an API server that goes away and comes back: no crash, nothing is missed, and no storm', async (t) => {
  // GIVEN one that leads and one that waits
  await using cluster = await startCluster({ crds: [plumblineCrd], auditLog: { groups: [instances] } });
  await using shop = await emptyShop(cluster);
  await using controllers = await Controllers.in(cluster, shop.namespace);
  const first = await controllers.start('first', { args: [...metrics, '--health-address', '127.0.0.1:0'] });
  await first.says('leading');
  const second = await controllers.start('second', { args: metrics });
  for (const name of ['orders', 'ledger']) await shop.submit(name);
  for (const name of ['orders', 'ledger']) await judged(shop, name);
  const before = await versionsAtRest(shop);
  const health = `http://127.0.0.1:${String(first.line('health is served')['port'])}`;
  const statusOf = async (path: string): Promise<number> => (await ask(`${health}${path}`)).status;
  assert.equal(await statusOf('/readyz'), 200);
  const unanswered = async (main: MainProcess): Promise<number> =>
    (await scrape(main)).value('rest_client_requests_total', { code: '<error>', method: 'GET' });

  // WHEN it goes away
  await cluster.stopApiServer();
  const stoppedAt = Date.now();
  await first.says('the lease was lost: all work is stopped, and it is asked for again', patienceMs);
  await setTimeout(Math.max(0, stoppedAt + outageMs - Date.now()));
  assert.equal(await statusOf('/healthz'), 200, 'a restart would not bring the API server back');
  assert.equal(await statusOf('/readyz'), 500);
  const tries = [await unanswered(first), await unanswered(second)];
  const awayMs = Date.now() - stoppedAt;

  // and comes back, with changes before anybody has heard of it
  await cluster.startApiServer();
  const backAt = Date.now();
  await shop.delete('Service', 'orders');
  await shop.edit('orders', { parameters: { work_mem: '8MB' } });
  await shop.submit('new');

  // THEN all is done
  await there(shop, 'Service', 'orders');
  await there(shop, 'StatefulSet', 'new');
  for (const name of ['orders', 'new']) await judged(shop, name);
  t.diagnostic(`away for ${seconds(awayMs)}; all is done ${seconds(Date.now() - backAt)} after it was back`);
  const after = await versionsAtRest(shop);
  // Whoever waits for its turn may still wait between two tries to read everything.
  await eventually('both are ready', async () => (await statusOf('/readyz')) === 200 || undefined, patienceMs);
  assert.deepEqual([first.isRunning, second.isRunning], [true, true]);
  t.diagnostic(`both are ready ${seconds(Date.now() - backAt)} after it was back`);

  // and nothing was asked again and again, nor written where nothing had changed
  const kinds = watchedKinds.length + 1;
  t.diagnostic(`tries without an answer: ${tries.join(' and ')}, for ${kinds} watches each`);
  for (const count of tries) assert(count <= kinds * (10 + awayMs / 5_000), String(count));
  for (const user of ['first', 'second']) {
    const asked = controllers.askedBy(user, stoppedAt + awayMs / 2);
    const lists = asked.filter(({ verb }) => verb === 'list');
    const writes = asked.filter(({ verb }) => !['get', 'list', 'watch'].includes(verb));
    t.diagnostic(`${user}: ${asked.length} requests, ${lists.length} of them lists, ${writes.length} writes`);
    assert(lists.length <= 3 * kinds, lists.map(inWords).join());
    assert.deepEqual(
      writes.map(inWords).filter((one) => one.includes('ledger')),
      [],
    );
  }
  const isLedgers = ([key]: [string, string]): boolean => key.includes('/ledger');
  assert.deepEqual(Object.entries(after).filter(isLedgers), Object.entries(before).filter(isLedgers));
});
