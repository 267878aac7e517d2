import assert from 'node:assert/strict';
import test from 'node:test';
import type { StoredDatabaseService } from '../../../constructs/api/resource.ts';
import type { StoredSpec } from '../../../constructs/api/spec.ts';
import type { DatabaseServiceStatus } from '../../../constructs/api/status.ts';
import { blockerOf, nameTaken, type Blocker } from '../../../controller/database/blocker.ts';
import { nameOf, type Action } from '../../../controller/database/action.ts';
import { Children } from '../../../controller/database/children.ts';
import { Databases } from '../../../controller/database/databases.ts';
import { nothingDone, type GitState, type Outcome } from '../../../controller/database/delivery.ts';
import { Rollouts } from '../../../controller/database/rollouts.ts';
import { StepExecutor } from '../../../controller/delivery/step-executor.ts';
import { Reconciler } from '../../../controller/database/reconcile.ts';
import { historyManifest } from '../../../controller/database/stored-history.ts';
import { deletion, type Drift } from '../../../controller/drift/index.ts';
import { stabilised } from '../../../controller/rollout/index.ts';
import { revisionOf } from '../../../controller/rollout/revision.ts';
import { KubeError, type Kube, type KubeObject } from '../../../controller/kube/index.ts';
import { VirtualClock } from '../../virtual-clock.ts';
import { LogLines } from '../runtime/log-lines.ts';
import { live, noon, resource, statedOf } from './given.ts';
import { memberPod, memberSet } from './member-pods.ts';

const key = 'shop/orders';
const tried = { verb: 'get', kind: 'DatabaseService', object: key };
const missing = new KubeError({
  tried,
  message: 'not found',
  status: 404,
  reason: 'NotFound',
  details: { name: 'orders', causes: [] },
});
const busy = new KubeError({ tried, message: 'busy', status: 503 });

/** A reconciler whose deliveries do what a test says; the API server knows the one database. */
class Given {
  readonly statuses: DatabaseServiceStatus[] = [];
  readonly gets: string[] = [];
  readonly drifts: string[] = [];
  readonly delivered: string[] = [];
  /** What was delivered to Git. */
  readonly specs: StoredSpec[] = [];
  readonly log = new LogLines();
  readonly clock = new VirtualClock();
  readonly woken: string[] = [];
  readonly databases = new Databases((one) => this.woken.push(one));
  readonly children = new Children(() => undefined);
  plans = 0;
  /** Names of the objects of the last plan. */
  planned: readonly string[] = [];
  actions: readonly Action[] = [];
  outcome: Outcome = nothingDone;
  stored: StoredDatabaseService | undefined;
  git: GitState = {};
  statusError: Error | undefined;
  renewalDueAt: number | undefined;
  readonly #reconciler: Reconciler;

  constructor(stored: StoredDatabaseService = resource()) {
    this.stored = stored;
    this.databases.upsert(stored as unknown as KubeObject, true);
    this.woken.length = 0;
    const kube: Partial<Kube> = {
      get: async (type, { name }) => {
        this.gets.push(`${type.kind} ${name}`);
        if (type.kind !== 'DatabaseService' || this.stored === undefined) throw missing;
        return this.stored as never;
      },
      apply: async (body) => {
        if (this.statusError !== undefined) throw this.statusError;
        this.statuses.push(body['status'] as DatabaseServiceStatus);
        const version = String(Number(this.stored?.metadata.resourceVersion) + 1);
        this.stored = { ...resource(), ...this.stored, status: body['status'] as DatabaseServiceStatus };
        this.stored = { ...this.stored, metadata: { ...this.stored.metadata, resourceVersion: version } };
        return { object: this.stored as never, isCreated: false };
      },
    };
    this.#reconciler = new Reconciler({
      kube: kube as Kube,
      databases: this.databases,
      children: this.children,
      clock: this.clock,
      apply: {
        carryOut: async (actions) => {
          this.plans++;
          this.planned = actions.map(nameOf);
          this.actions = actions;
          return this.outcome;
        },
        leave: async (_, live) => live,
      },
      certificates: { keep: async () => this.renewalDueAt },
      mounts: { refresh: async () => undefined },
      rollouts: new Rollouts({
        kube: kube as Kube,
        children: this.children,
        steps: new StepExecutor(kube as Kube),
        clock: this.clock,
        onStep: () => undefined,
      }),
      records: { own: async () => undefined, sweep: async () => undefined },
      git: {
        deliver: ({ metadata, spec }) => {
          this.delivered.push(`generation ${metadata.generation}`);
          this.specs.push(spec);
          return this.git;
        },
        finalizerOf: () => undefined,
        withdraw: () => ({ kind: 'pending' }),
        forget: (one) => void this.delivered.push(`${one} as it is`),
        remove: (one) => void this.delivered.push(`no ${one}`),
      },
      onLeft: () => undefined,
      lookAgainMs: 1_000,
      onDrift: (_, { corrected, reported }) =>
        this.drifts.push(...[...corrected, ...reported].map(({ object }) => object)),
    });
  }

  /** What the watch shows next. */
  change(stored: StoredDatabaseService): void {
    this.stored = stored;
    this.databases.upsert(stored as unknown as KubeObject, false);
  }

  run(): Promise<{ readonly requeueAfterMs?: number }> {
    return this.#reconciler.reconcile(key, new AbortController().signal, this.log.log);
  }

  reasonOf(type: string): string | undefined {
    return this.statuses.at(-1)?.conditions?.find((condition) => condition.type === type)?.reason;
  }
}

test('what is settled is not planned again, and its status is not written again', async () => {
  const given = new Given();
  await given.run();
  await given.run();
  assert.deepEqual([given.plans, given.statuses.length], [1, 1]);
});

test('an object that is not as accepted is planned for, whatever database its label names', async () => {
  const given = new Given();
  const service = statedOf(resource(), 'Service/orders');
  given.children.accept(live(service), service.hash);
  given.outcome = { ...nothingDone, made: [service.key] };
  await given.run();
  const labels = { ...service.object.metadata.labels, 'plumbline.dev/database': 'other' };
  given.children.upsert(live(service, { resourceVersion: '101', metadata: { labels }, managedFields: [] }));
  await given.run();
  assert.equal(given.plans, 2);
});

test('an object that is missing is planned for', async () => {
  const given = new Given();
  given.outcome = { ...nothingDone, made: ['Service/shop/orders'] };
  await given.run();
  await given.run();
  assert.equal(given.plans, 2);
});

const next: readonly (readonly [what: string, blocker: Blocker, ms: number | undefined])[] = [
  ['a name that a watch will tell of', nameTaken(statedOf(resource(), 'Service/orders'), 'x', true), undefined],
  ['a name that no watch tells of', nameTaken(statedOf(resource(), 'Service/orders'), 'x', false), 1_000],
  ['what the server called final', blockerOf(new KubeError({ tried, message: 'no', status: 422 }), 'x'), 20_000],
];
for (const [what, blocker, ms] of next) {
  test(`looks again ${ms === undefined ? 'when woken' : `after ${ms / 1000} s`}: ${what}`, async () => {
    const given = new Given();
    given.outcome = { ...nothingDone, blocker };
    assert.equal((await given.run()).requeueAfterMs, ms);
    assert.equal(given.reasonOf('Stalled'), blocker.reason);
    await given.run();
    assert.equal(given.plans, 2, 'nothing is settled');
    assert.equal(given.log.lines.length, 1, 'the log says it once');
  });
}

test('in a namespace that is being deleted nothing is tried a second time', async () => {
  const given = new Given();
  const details = { causes: [{ reason: 'NamespaceTerminating' }] };
  const error = new KubeError({ tried, message: 'no', status: 403, reason: 'Forbidden', details });
  given.outcome = { ...nothingDone, blocker: blockerOf(error, 'Service orders') };
  for (let run = 0; run < 3; run++) assert.deepEqual(await given.run(), {});
  assert.deepEqual([given.plans, given.reasonOf('Stalled'), given.statuses.length], [1, 'NamespaceTerminating', 1]);
});

test('a server that does not answer is left to the queue; the status says so when that goes on', async () => {
  const given = new Given();
  given.outcome = { ...nothingDone, blocker: blockerOf(busy, 'Service orders') };
  await assert.rejects(given.run(), busy);
  await given.clock.advance(1_900);
  await assert.rejects(given.run(), busy);
  assert.equal(given.statuses.length, 0);
  await given.clock.advance(200);
  await assert.rejects(given.run(), busy);
  assert.deepEqual([given.reasonOf('Progressing'), given.reasonOf('Stalled')], ['ApiUnreachable', 'NothingToDo']);
});

test('a short trouble turns no condition', async () => {
  const given = new Given();
  given.outcome = { ...nothingDone, blocker: nameTaken(statedOf(resource(), 'Service/orders'), 'x', true) };
  await given.run();
  const { outcome } = given;
  given.outcome = { ...nothingDone, blocker: blockerOf(busy, 'Role orders') };
  await assert.rejects(given.run(), busy);
  given.outcome = outcome;
  await given.run();
  assert.equal(given.statuses.length, 1);
});

test('what could not be put back is told once; after a short trouble of the server, only when it is put back', async () => {
  const given = new Given();
  const { key: service } = statedOf(resource(), 'Service/orders');
  const refused = { left: new Map([[service, [deletion('Service', 'orders')]]]), refused: new Set([service]) };
  given.outcome = { ...nothingDone, ...refused, blocker: blockerOf(busy, 'Service orders') };
  await assert.rejects(given.run(), busy);
  assert.deepEqual(given.drifts, []);
  await given.clock.advance(2_100);
  await assert.rejects(given.run(), busy);
  await assert.rejects(given.run(), busy);
  assert.deepEqual(given.drifts, ['Service/orders']);
  assert.equal(given.statuses.at(-1)?.conditions?.find(({ type }) => type === 'Drifted')?.status, 'True');
  given.outcome = { ...nothingDone, made: [service], corrected: [deletion('Service', 'orders')] };
  await given.run();
  assert.deepEqual(given.drifts, ['Service/orders', 'Service/orders']);
  assert.equal(given.reasonOf('Drifted'), 'InTrue');
});

test('what was outdated is looked at again, and what was said before stands until then', async () => {
  const given = new Given();
  given.outcome = { ...nothingDone, blocker: nameTaken(statedOf(resource(), 'Service/orders'), 'x', true) };
  await given.run();
  given.outcome = { ...nothingDone, corrected: [deletion('Service', 'orders')], outdated: missing };
  await assert.rejects(given.run(), missing);
  assert.deepEqual([given.statuses.length, given.reasonOf('Stalled')], [1, 'NameTaken']);
  given.outcome = nothingDone;
  await given.run();
  assert.deepEqual([given.reasonOf('Stalled'), given.statuses.at(-1)?.drift?.corrected], ['NothingToDo', 1]);
});

test('after an outage nothing is made again for a database that is gone', async () => {
  const given = new Given();
  given.outcome = { ...nothingDone, made: ['Service/shop/orders'] };
  await given.run();
  given.databases.doubt(key);
  given.stored = undefined;
  await given.run();
  assert.deepEqual([given.plans, given.gets], [1, ['DatabaseService orders']]);
});

test('nor for one that was deleted and made again; for one that is there it is, and it is asked for once', async () => {
  const given = new Given();
  given.outcome = { ...nothingDone, made: ['Service/shop/orders'] };
  await given.run();
  given.databases.doubt(key);
  const { stored } = given;
  given.stored = resource({}, { uid: 'another' });
  await given.run();
  assert.equal(given.plans, 1);
  given.stored = stored;
  await given.run();
  await given.run();
  assert.deepEqual([given.plans, given.gets.length], [3, 2]);
});

test('nor for one that is on its way out: what it leaves behind gets no owner any more', async () => {
  const given = new Given();
  given.outcome = { ...nothingDone, made: ['Service/shop/orders'] };
  await given.run();
  given.databases.doubt(key);
  const going = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['orphan'] };
  given.stored = resource({}, going);
  await given.run();
  assert.deepEqual([given.plans, given.gets], [1, ['DatabaseService orders']]);
});

for (const [what, finalizers, files] of [
  ['what is deleted is removed from Git', [], `no ${key}`],
  ['what is deleted and leaves behind what it owns stays in Git', ['orphan'], `${key} as it is`],
] as const) {
  test(what, async () => {
    const given = new Given();
    const going = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers, resourceVersion: '200' };
    given.databases.upsert(resource({}, going) as unknown as KubeObject, false);
    given.databases.delete(key);
    await given.run();
    assert.deepEqual(given.delivered, [files]);
    assert(!given.databases.isOrphaning(key));
  });
}

test('a spec that breaks a rule reaches neither the cluster nor Git', async () => {
  const given = new Given(resource({ replicas: 99 }));
  await given.run();
  assert.deepEqual([given.plans, given.delivered], [0, []]);
  assert.equal(given.reasonOf('Stalled'), 'SpecInvalid');
});

test('Git is handed the spec that was acted upon; its failure is said, and hinders nothing', async () => {
  const given = new Given();
  given.git = { failure: 'the branch is protected' };
  assert.deepEqual(await given.run(), {});
  assert.deepEqual([given.delivered, given.plans], [['generation 1'], 1]);
  assert.deepEqual([given.reasonOf('Progressing'), given.reasonOf('Stalled')], ['GitFailed', 'NothingToDo']);
  given.git = { commit: 'abc', path: 'clusters/a' };
  await given.run();
  assert.deepEqual(given.statuses.at(-1)?.git, { commit: 'abc', path: 'clusters/a' });
  given.git = { path: 'clusters/a' };
  await given.run();
  assert.deepEqual(given.statuses.at(-1)?.git, { commit: 'abc', path: 'clusters/a' });
});

test('a database that is being deleted is left to the collector', async () => {
  const given = new Given(resource({}, { deletionTimestamp: '2026-01-01T00:00:00Z' }));
  await given.run();
  assert.deepEqual([given.plans, given.delivered, given.statuses.at(-1)?.phase], [0, [], 'Deleting']);
});

test('one that is gone is forgotten, in Git too', async () => {
  const given = new Given();
  await given.run();
  given.databases.delete(key);
  assert.deepEqual(await given.run(), {});
  assert.deepEqual(given.delivered, ['generation 1', `no ${key}`]);
});

test('a receipt is not lost when the status cannot be written at once, and nobody is told twice', async () => {
  const given = new Given();
  const drift: Drift = deletion('Service', 'orders');
  given.outcome = { ...nothingDone, corrected: [drift] };
  given.statusError = busy;
  await assert.rejects(given.run(), busy);
  given.outcome = nothingDone;
  given.statusError = undefined;
  await given.run();
  assert.deepEqual(
    given.statuses.map((status) => status.drift?.corrected),
    [1],
  );
  assert.deepEqual(given.drifts, ['Service/orders']);
});

test('a receipt that a status tells of is not told by the next', async () => {
  const given = new Given();
  given.outcome = { ...nothingDone, corrected: [deletion('Service', 'orders')] };
  await given.run();
  given.outcome = nothingDone;
  given.git = { commit: 'abc', path: 'clusters/a' };
  await given.run();
  assert.deepEqual(
    given.statuses.map((status) => status.drift?.corrected),
    [1, 1],
  );
});

test('what somebody forges in the status is not what the next one goes on from', async () => {
  const given = new Given();
  await given.run();
  const [written] = given.statuses;
  const forged = { ...written, phase: 'Running', drift: { corrected: 99 } } as const;
  given.stored = resource({}, { resourceVersion: '200' }, forged);
  given.databases.upsert(given.stored as unknown as KubeObject, false);
  await given.run();
  assert.deepEqual(given.statuses.at(-1), written);
});

test('a status for a database that went meanwhile is no error', async () => {
  const given = new Given();
  given.statusError = missing;
  assert.deepEqual(await given.run(), {});
});

test('while it was acted upon the spec changed: the status speaks of what was done, and the change is not lost', async () => {
  const given = new Given();
  given.databases.upsert(resource() as unknown as KubeObject, false);
  const edited = resource({ replicas: 3 }, { generation: 2, resourceVersion: '105' });
  given.stored = edited;
  await given.run();
  assert.equal(given.statuses.at(-1)?.observedGeneration, 1);
  assert.equal(given.databases.get(key)?.metadata.generation, 2);
  assert.equal(given.woken.length, 2, 'by the watch, and by the answer to the status that showed the new spec');
});

test('a Secret of the user is asked for until it was seen once', async () => {
  const given = new Given(resource({ credentials: { source: 'Existing', secretName: 'mine' } }));
  assert.equal((await given.run()).requeueAfterMs, 1_000);
  assert.equal(given.reasonOf('Stalled'), 'SecretNotFound');
  assert.deepEqual(given.gets, ['Secret mine']);
});

test('a certificate of the user is asked for too, also when a running database is given another one', async () => {
  // GIVEN a database that runs
  const status = { phase: 'Running', observedGeneration: 1 } as const;
  const given = new Given(resource({}, {}, status));
  await given.run();
  assert.deepEqual(given.gets, []);
  // WHEN
  const changed = resource(
    { tls: { mode: 'Existing', secretName: 'mine' } },
    { generation: 2, resourceVersion: '900' },
    status,
  );
  given.databases.upsert(changed as unknown as KubeObject, false);
  await given.run();
  // THEN
  assert.deepEqual(given.gets, ['Secret mine']);
  const stalled = given.statuses.at(-1)?.conditions?.find(({ type }) => type === 'Stalled');
  assert.equal(stalled?.reason, 'SecretNotFound');
  assert.match(stalled?.message ?? '', /Secret mine does not exist: create it with the keys tls\.crt and tls\.key/);
});

test('it comes back when the certificate is to be renewed', async () => {
  const given = new Given();
  given.renewalDueAt = given.clock.now() + 5_184_000_000;
  assert.equal((await given.run()).requeueAfterMs, 5_184_000_000);
});

test('or when the one that is served comes close to its end, if that is earlier', async () => {
  // GIVEN a member that serves a certificate of four hours
  const given = new Given();
  given.renewalDueAt = given.clock.now() + 5_184_000_000;
  const says = { serial: '0A', notBefore: '2026-01-01T00:00:00Z', notAfter: '2026-01-01T04:00:00Z' };
  const labels = { 'plumbline.dev/database': 'orders' };
  const annotations = { 'plumbline.dev/tls': JSON.stringify(says) };
  const pod = { name: 'orders-0', namespace: 'shop', uid: 'u', resourceVersion: '7', labels, annotations };
  given.children.upsert({ apiVersion: 'v1', kind: 'Pod', metadata: pod });
  // WHEN and THEN
  assert.equal((await given.run()).requeueAfterMs, 12_000_000);
  assert.equal(given.reasonOf('TlsReady'), 'CertificateServed');
  await given.clock.advance(12_000_000);
  assert.equal((await given.run()).requeueAfterMs, 5_184_000_000 - 12_000_000);
  assert.equal(given.reasonOf('TlsReady'), 'CertificateExpiring');
});

test('with delivery.apply false what is never in Git is planned, until it is there, and no other object is kept', async () => {
  // GIVEN what a GitOps tool has applied
  const database = resource({ delivery: { apply: false } });
  const given = new Given(database);
  const service = statedOf(database, 'Service/orders');
  given.children.upsert(live(service), true);

  // WHEN there is none of it yet
  await given.run();
  assert.deepEqual(given.planned, [
    'ConfigMap orders-history',
    'Secret orders-credentials',
    'Secret orders-system',
    'Secret orders-tls-ca',
    'Secret orders-tls',
  ]);
  assert.equal(given.children.get(service.key)?.suspect, undefined);

  // WHEN they are there
  for (const action of given.actions) {
    if ('stated' in action) given.children.accept(live(action.stated), action.stated.hash);
  }
  await given.run();
  assert.equal(given.plans, 1);
});

test('delivery.apply can be turned off, and then the queue is not asked to come back for what was applied', async () => {
  const given = new Given();
  await given.run();
  given.change(resource({ delivery: { apply: false } }, { generation: 2, resourceVersion: '200' }));
  assert.deepEqual(await given.run(), {});
});

for (const [what, isReady, image] of [
  ['waits while a member is missing', false, undefined],
  ['is committed when all are healthy', true, 'postgresql:next'],
] as const) {
  test(`with delivery.apply false a changed template ${what}, also after a restart of the controller`, async () => {
    // GIVEN a controller that finds the history of generation 1, which ran well, and the spec of generation 2
    const before = resource({ replicas: 2, delivery: { apply: false } });
    const none = { released: revisionOf(before.spec), stable: [], refused: undefined };
    const history = stabilised(none, revisionOf(before.spec), 1, noon);
    const given = new Given(resource({ ...before.spec, image: 'postgresql:next' }, { generation: 2 }));
    const members = [memberPod(before, 0, { isPrimary: true }), memberPod(before, 1, { isReady })];
    const kept = historyManifest(before, history) as unknown as KubeObject;
    const stored = { ...kept, metadata: { ...kept.metadata, uid: 'uid-history', resourceVersion: '1' } };
    for (const object of [memberSet(before), ...members, stored]) given.children.upsert(object, true);
    // WHEN
    await given.run();
    // THEN
    assert.deepEqual(
      given.specs.map((spec) => spec.image),
      [image],
    );
  });
}

test('with delivery.apply false what PostgreSQL refuses is not taken back, and the commit that brought it is named', async () => {
  // GIVEN a setting that the members refuse, after one that was stable
  const before = resource({ delivery: { apply: false } });
  const none = { released: revisionOf(before.spec), stable: [], refused: undefined };
  const kept = historyManifest(before, stabilised(none, revisionOf(before.spec), 1, noon)) as unknown as KubeObject;
  const now = resource({ ...before.spec, parameters: { work_mem: 'much' } }, { generation: 2 });
  const given = new Given(now);
  const member = memberPod(now, 0, { isPrimary: true, settings: { refused: { work_mem: 'no number' } } });
  const stored = { ...kept, metadata: { ...kept.metadata, uid: 'uid-history', resourceVersion: '1' } };
  for (const object of [memberSet(now), member, stored]) given.children.upsert(object, true);
  given.git = { commit: 'abc123', path: 'clusters/prod/shop/orders' };
  // WHEN
  await given.run();
  // AND something else was committed since
  given.git = { commit: 'def456', path: 'clusters/prod/shop/orders' };
  await given.run();
  // THEN
  const stalled = given.statuses.at(-1)?.conditions?.find(({ type }) => type === 'Stalled');
  assert.equal(stalled?.reason, 'ConfigurationRefused');
  assert.match(stalled.message, /no number.*\. Commit abc123 brought it: revert the change of the spec that led to it/);
  assert.deepEqual(
    given.specs.map(({ parameters }) => parameters?.['work_mem']),
    ['much', 'much'],
  );
});
