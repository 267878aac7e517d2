import assert from 'node:assert/strict';
import test from 'node:test';
import type { StoredDatabaseService } from '../../../constructs/api/resource.ts';
import { Databases } from '../../../controller/database/databases.ts';
import type { Withdrawal } from '../../../controller/database/delivery.ts';
import { GitPlaces } from '../../../controller/database/git-places.ts';
import { newMemory } from '../../../controller/database/memory.ts';
import type { Run } from '../../../controller/database/run.ts';
import { KubeError, type Kube, type KubeObject, type Patch } from '../../../controller/kube/index.ts';
import { VirtualClock } from '../../virtual-clock.ts';
import { resource } from './given.ts';

const key = 'shop/orders';
const marked = (...destinations: string[]) => destinations.map((one) => `git.plumbline.dev/${one}`);
const minute = 60_000;
const forbidden = new KubeError({
  tried: { verb: 'patch', kind: 'DatabaseService', object: key },
  message: 'no right',
  status: 403,
  reason: 'Forbidden',
});

/** A database as it is seen, and what its finalizers and Git become. */
class Given {
  readonly clock = new VirtualClock();
  readonly told: string[] = [];
  readonly delivered: string[] = [];
  readonly databases = new Databases(() => undefined);
  readonly memory = newMemory('uid-orders');
  /** The finalizers that were written last. */
  finalizers: readonly string[] | undefined;
  /** By the finalizers of the places; defaults to gone. */
  withdrawals: Record<string, Withdrawal> = {};
  error: Error | undefined;
  /** Where it is delivered to. */
  destination: string | undefined = 'a';
  isUnusable = false;
  readonly places: GitPlaces;
  database: StoredDatabaseService;

  constructor(database: StoredDatabaseService) {
    this.database = database;
    const kube: Partial<Kube> = {
      patch: async (_type, _ref, { body }: Patch) => {
        if (this.error !== undefined) throw this.error;
        this.finalizers = (body as { metadata: { finalizers: string[] } }).metadata.finalizers;
        return { ...this.database, metadata: { ...this.database.metadata, finalizers: this.finalizers } } as never;
      },
    };
    this.databases.upsert(database as unknown as KubeObject, true);
    this.places = new GitPlaces({
      kube: kube as Kube,
      databases: this.databases,
      clock: this.clock,
      onLeft: (_, message) => void this.told.push(message),
      git: {
        finalizerOf: () =>
          this.isUnusable || this.destination === undefined ? undefined : marked(this.destination)[0],
        deliver: () => {
          this.delivered.push(`written with ${this.finalizers?.join() ?? 'nothing new'}`);
          if (this.isUnusable) return { isUnusable: true, failure: 'none' };
          return this.destination === undefined ? undefined : {};
        },
        withdraw: (_, finalizer) => {
          this.delivered.push(`withdrawn from ${finalizer}`);
          return this.withdrawals[finalizer] ?? { kind: 'gone' };
        },
        remove: () => undefined,
        forget: (one) => void this.delivered.push(`${one} forgotten`),
      },
    });
  }

  get run(): Run {
    const { database, memory } = this;
    const course = { spec: database.spec } as Run['course'];
    const signal = new AbortController().signal;
    return { key, resource: database, memory, problems: [], isDeleting: false, course, signal };
  }
}

test('the finalizer is there before the files are, and those of others stay', async () => {
  const given = new Given(resource({}, { finalizers: ['example.com/keep'] }));
  await given.places.deliver(given.run);
  assert.deepEqual(given.delivered, ['written with example.com/keep,git.plumbline.dev/a']);
});

test('where it is there already nothing is written', async () => {
  const given = new Given(resource({}, { finalizers: marked('a') }));
  await given.places.deliver(given.run);
  assert.equal(given.finalizers, undefined);
});

test('without Git there is none', async () => {
  const given = new Given(resource());
  given.destination = undefined;
  await given.places.deliver(given.run);
  assert.equal(given.finalizers, undefined);
});

test('without the right to write it the files are delivered all the same, and it is told', async () => {
  const given = new Given(resource());
  given.error = forbidden;
  const { blocker } = await given.places.deliver(given.run);
  assert.deepEqual([blocker?.reason, given.delivered], ['Forbidden', ['written with nothing new']]);
});

test('a place that it has left is cleared, and its finalizer goes when that is done', async () => {
  const given = new Given(resource({}, { finalizers: [...marked('b', 'a'), 'example.com/keep'] }));
  given.withdrawals = { 'git.plumbline.dev/b': { kind: 'pending' } };
  await given.places.deliver(given.run);
  assert.equal(given.finalizers, undefined);
  given.withdrawals = {};
  await given.places.deliver(given.run);
  assert.deepEqual(given.finalizers, [...marked('a'), 'example.com/keep']);
});

test('one that cannot be cleared is told, with what to do, until it is', async () => {
  const given = new Given(resource({}, { finalizers: marked('b', 'a') }));
  given.withdrawals = { 'git.plumbline.dev/b': { kind: 'failed', failure: 'The repository is away.' } };
  const { remains } = await given.places.deliver(given.run);
  assert.equal(
    remains,
    "Its files in GitDestination b, where they are not to be any more, can't be removed: The repository is away. It is tried again; to leave them there, take the finalizer git.plumbline.dev/b off.",
  );
  assert.equal(given.finalizers, undefined);
  given.withdrawals = {};
  assert.equal((await given.places.deliver(given.run)).remains, undefined);
});

test('so is one of a database that is not to be in Git any more', async () => {
  const given = new Given(resource({}, { finalizers: marked('b') }));
  given.destination = undefined;
  await given.places.deliver(given.run);
  assert.deepEqual(given.finalizers, []);
});

test('what is there stays there while it is not known where it is to be instead', async () => {
  const given = new Given(resource({}, { finalizers: marked('b') }));
  given.isUnusable = true;
  await given.places.deliver(given.run);
  assert.deepEqual([given.finalizers, given.delivered], [undefined, ['written with nothing new']]);
});

test('one that was deleted meanwhile is not written any more', async () => {
  const given = new Given(resource());
  const leaving = resource({}, { resourceVersion: '101', deletionTimestamp: '2026-01-01T00:00:00Z' });
  given.databases.upsert(leaving as unknown as KubeObject, false);
  await given.places.deliver(given.run);
  assert.deepEqual([given.finalizers, given.delivered], [undefined, []]);
});

const away = { kind: 'failed', failure: 'The repository is away.' } as const;
const status = { git: { commit: 'abc', path: 'clusters/prod/shop/orders' } };
/** Deleted some minutes ago. */
const leavingSince = (minutes: number, metadata: Partial<StoredDatabaseService['metadata']> = {}) => {
  const given = new Given(resource({}, { finalizers: [...marked('a'), 'example.com/keep'] }, status));
  const deletionTimestamp = new Date(given.clock.now() - minutes * minute).toISOString();
  given.database = { ...given.database, metadata: { ...given.database.metadata, deletionTimestamp, ...metadata } };
  given.withdrawals = { 'git.plumbline.dev/a': away };
  return given;
};

test('one that is deleted goes as soon as its files have', async () => {
  const given = leavingSince(0);
  given.withdrawals = {};
  const leaving = given.places.leaving(given.run);
  assert.deepEqual(leaving, { kind: 'gone' });
  await given.places.letGo(given.run, { kind: 'gone' });
  assert.deepEqual([given.finalizers, given.told], [['example.com/keep'], []]);
});

test('without a finalizer it waits for nothing', () => {
  const given = leavingSince(0, { finalizers: [] });
  assert.equal(given.places.leaving(given.run), undefined);
});

test('while they cannot be removed it waits for five minutes, and says until when, why, and what ends it', () => {
  const given = leavingSince(1);
  const leaving = given.places.leaving(given.run);
  assert(leaving?.kind === 'waiting');
  assert.equal(leaving.until, given.clock.now() + 4 * minute);
  assert.match(leaving.message, /^It waits until its files in clusters\/prod\/shop\/orders of the Git repository are/);
  assert.match(leaving.message, /annotation plumbline\.dev\/leave-git: "true"\. The repository is away\.$/);
});

test('then it goes without that, and what was left is told', async () => {
  const given = leavingSince(1);
  given.places.leaving(given.run);
  await given.clock.advance(4 * minute);
  const leaving = given.places.leaving(given.run);
  assert(leaving?.kind === 'left');
  await given.places.letGo(given.run, leaving);
  assert.deepEqual(given.finalizers, ['example.com/keep']);
  assert.deepEqual(given.told, [
    'Its files were left in clusters/prod/shop/orders of the Git repository; remove them there. The repository is away.',
  ]);
});

test('a controller that comes later tries for a minute at least', async () => {
  const given = leavingSince(600);
  const leaving = given.places.leaving(given.run);
  assert.equal(leaving?.kind === 'waiting' && leaving.until, given.clock.now() + minute);
  await given.clock.advance(minute);
  assert.equal(given.places.leaving(given.run)?.kind, 'left');
});

test('by the annotation it goes at once, and nobody removes its files any more', async () => {
  const given = leavingSince(0, { annotations: { 'plumbline.dev/leave-git': 'true' } });
  const leaving = given.places.leaving(given.run);
  assert(leaving?.kind === 'left');
  await given.places.letGo(given.run, leaving);
  assert.deepEqual(given.delivered, ['shop/orders forgotten']);
  assert.match(given.told.join(), /^Its files stay in clusters/);
});

test('one that leaves behind what it owned leaves its files too, also after the garbage collector has done its part', async () => {
  const given = leavingSince(0, { finalizers: [...marked('a'), 'orphan'], resourceVersion: '200' });
  const done = leavingSince(0, { finalizers: marked('a'), resourceVersion: '201' });
  for (const { database } of [given, done]) given.databases.upsert(database as unknown as KubeObject, false);
  const leaving = given.places.leaving({ ...given.run, resource: done.database });
  assert(leaving?.kind === 'left' && leaving.isWanted);
  await given.places.letGo(given.run, leaving);
  assert.deepEqual([given.delivered, given.finalizers], [['shop/orders forgotten'], []]);
});
