import assert from 'node:assert/strict';
import test from 'node:test';
import type { StoredDatabaseService } from '../../../constructs/api/resource.ts';
import { Databases } from '../../../controller/database/databases.ts';
import type { KubeObject } from '../../../controller/kube/index.ts';
import { resource } from './given.ts';

const key = 'shop/orders';
const at = (resourceVersion: string, more: Partial<StoredDatabaseService['metadata']> = {}): KubeObject => ({
  ...resource({}, { resourceVersion, ...more }),
});

class Given {
  readonly changes: string[] = [];
  readonly databases = new Databases((key, isInitial) => this.changes.push(isInitial ? `${key} initially` : key));

  constructor(version = '10') {
    this.databases.upsert(at(version), true);
    this.databases.memory(key, 'uid-orders');
    this.changes.length = 0;
  }

  get woken(): number {
    return this.changes.splice(0).length;
  }

  get version(): string | undefined {
    return this.databases.get(key)?.metadata.resourceVersion;
  }
}

test('what was there at the start is told as such', () => {
  const changes: boolean[] = [];
  const databases = new Databases((_, isInitial) => changes.push(isInitial));
  databases.upsert(at('10'), true);
  databases.upsert(at('11'), false);
  assert.deepEqual(changes, [true, false]);
});

test('the echo of our own write of the status wakes nobody', () => {
  const given = new Given();
  given.databases.written(at('11'));
  given.databases.upsert(at('11'), false);
  assert.deepEqual([given.woken, given.version], [0, '11']);
});

test('a status that somebody forged after ours wakes', () => {
  const given = new Given();
  given.databases.written(at('11'));
  given.databases.upsert(at('11'), false);
  given.databases.upsert(at('12'), false);
  assert.equal(given.woken, 1);
});

test('an edit of the spec that our write of the status has overtaken is not lost', () => {
  const given = new Given();
  given.databases.written(at('12', { generation: 2 }));
  given.databases.upsert(at('11', { generation: 2 }), false);
  given.databases.upsert(at('12', { generation: 2 }), false);
  assert.deepEqual([given.woken, given.version], [1, '12']);
});

test('so is a deletion that began meanwhile', () => {
  const given = new Given();
  given.databases.written(at('12', { deletionTimestamp: '2026-01-01T00:00:00Z' }));
  assert.equal(given.woken, 1);
});

test('a write that changed nothing waits for no echo', () => {
  const given = new Given();
  given.databases.written(at('10'));
  given.databases.upsert(at('9'), false);
  assert.equal(given.version, '9', 'an older version can only mean that history went back');
});

test('the answer to a write of an object that was deleted and made again is not taken for the new one', () => {
  const given = new Given();
  given.databases.upsert(at('20', { uid: 'new' }), false);
  given.databases.written(at('15'));
  assert.deepEqual([given.version, given.databases.get(key)?.metadata.uid], ['20', 'new']);
});

test('an object of the same name with another uid is remembered afresh', () => {
  const given = new Given();
  given.databases.memory(key, 'uid-orders').settledGeneration = 1;
  assert.equal(given.databases.memory(key, 'uid-orders').settledGeneration, 1);
  assert.equal(given.databases.memory(key, 'new').settledGeneration, undefined);
});

test('after a restored backup older versions count, and no generation is taken for applied', () => {
  const given = new Given();
  given.databases.memory(key, 'uid-orders').settledGeneration = 5;
  given.databases.written(at('11'));
  given.databases.forgetVersions();
  given.databases.upsert(at('5'), false);
  assert.deepEqual([given.version, given.databases.memory(key, 'uid-orders').settledGeneration], ['5', undefined]);
});

test('managedFields are not kept', () => {
  const given = new Given();
  given.databases.upsert({ ...at('11'), metadata: { ...at('11').metadata, managedFields: [{}] } }, false);
  assert.equal((given.databases.get(key) as unknown as KubeObject).metadata.managedFields, undefined);
});

test('a database that is gone is gone; a doubt about one that nobody remembers is none', () => {
  const given = new Given();
  given.databases.delete(key);
  given.databases.forget(key);
  given.databases.doubt(key);
  assert.deepEqual([given.databases.get(key), given.databases.size, given.woken], [undefined, 0, 1]);
});

for (const { what, generation, status, isMade, isNew } of [
  { what: 'one that was just created', generation: 1, status: {}, isMade: false, isNew: true },
  { what: 'one of which a part is made', generation: 1, status: { phase: 'Provisioning' }, isMade: false, isNew: true },
  { what: 'one of which all is made', generation: 1, status: { phase: 'Provisioning' }, isMade: true, isNew: false },
  { what: 'one that was edited before it was made', generation: 2, status: {}, isMade: false, isNew: false },
  {
    what: 'one that ran before this process began',
    generation: 1,
    status: { phase: 'Running' },
    isMade: false,
    isNew: false,
  },
] as const) {
  test(`${isNew ? 'new' : 'not new'} is ${what}`, () => {
    const { databases } = new Given();
    databases.upsert({ ...at('11', { generation }), status }, false);
    databases.memory(key, 'uid-orders').wholeGeneration = isMade ? generation : undefined;
    assert.equal(databases.isNew(key), isNew);
  });
}
