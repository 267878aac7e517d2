import assert from 'node:assert/strict';
import test from 'node:test';
import { newSecrets } from '../../../controller/database/credentials.ts';
import { watchedKinds } from '../../../controller/database/kinds.ts';
import { stateAll, stateWithSecrets } from '../../../controller/database/stated.ts';
import { resource } from './given.ts';

const backup = { schedule: '@daily', volume: { size: '1Gi' } };
const ownedKinds = (database: ReturnType<typeof resource>): ReadonlySet<string> =>
  new Set(
    stateWithSecrets(database)
      .filter(({ object }) => object.metadata.ownerReferences !== undefined)
      .map(({ object }) => object.kind),
  );

test('everything is owned by the database, but claims, and Secrets that stay with the data', () => {
  const retain = ownedKinds(resource({ backup }));
  assert(retain.has('StatefulSet') && retain.has('CronJob') && !retain.has('Secret'));
  assert(!retain.has('PersistentVolumeClaim'));
  const drop = ownedKinds(resource({ backup, storage: { size: '1Gi', onDelete: 'Delete' } }));
  assert(drop.has('Secret') && !drop.has('PersistentVolumeClaim'));
});

test('the owner is the controller, by uid', () => {
  const [first] = stateAll(resource());
  assert.deepEqual(first?.object.metadata.ownerReferences, [
    {
      apiVersion: 'plumbline.dev/v1alpha1',
      kind: 'DatabaseService',
      name: 'orders',
      uid: 'uid-orders',
      controller: true,
      blockOwnerDeletion: true,
    },
  ]);
});

test('the same resource is stated the same, byte for byte; another owner is another statement', () => {
  assert.deepEqual(stateWithSecrets(resource()), stateWithSecrets(resource()));
  const hashes = (uid: string) => stateAll(resource({}, { uid })).map(({ hash }) => hash);
  assert.equal(new Set([...hashes('a'), ...hashes('b')]).size, 2 * hashes('a').length);
});

test('a status or a version of the object changes nothing of what is stated', () => {
  const before = stateWithSecrets(resource());
  assert.deepEqual(stateWithSecrets(resource({}, { resourceVersion: '999', generation: 7 })), before);
});

test('no password is part of what is stated', () => {
  for (const { object } of stateWithSecrets(resource()).filter(({ object }) => object.kind === 'Secret')) {
    assert.deepEqual(Object.keys(object).sort(), ['apiVersion', 'kind', 'metadata']);
  }
});

test('new Secrets have new passwords each time: long, to be known by their beginning, and without characters that need quoting', () => {
  const values = (): readonly string[] =>
    newSecrets(resource()).flatMap(({ metadata, ...secret }) =>
      Object.entries(secret['data'] as Record<string, string>)
        .filter(([key]) => metadata.name.endsWith('-system') || key === 'password')
        .map(([, value]) => Buffer.from(value, 'base64').toString()),
    );
  const [first, second] = [values(), values()];
  assert.equal(new Set([...first, ...second]).size, 10);
  for (const password of first) assert.match(password, /^plbpw_[\w-]{32}$/);
});

test('with a Secret of the user only the one of the system is made', () => {
  const database = resource({ credentials: { source: 'Existing', secretName: 'mine' } });
  assert.deepEqual(
    newSecrets(database).map(({ metadata }) => metadata.name),
    ['orders-system'],
  );
});

test('every kind that is stated is watched', () => {
  const watched = new Set(watchedKinds.map(({ type }) => type.kind));
  for (const { object } of stateWithSecrets(resource({ backup }))) assert(watched.has(object.kind), object.kind);
});
