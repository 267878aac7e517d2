import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { describe, test } from 'node:test';
import { database, givenRemote, givenWriter } from './given.ts';
import type { Remote } from './remote.ts';

const folder = 'clusters/prod/shop';
const file = `${folder}/orders/StatefulSet.orders.yaml`;

/** What somebody does to a branch that two databases are in, and which of them has to be written again. */
const deeds: readonly (readonly [string, (remote: Remote) => void, readonly string[]])[] = [
  ['edits a file of ours', (remote) => remote.somebodyPushes({ [file]: 'edited: true\n' }), ['shop/orders']],
  ['removes a file of ours', (remote) => remote.somebodyPushes({ [file]: undefined }), ['shop/orders']],
  [
    'removes everything',
    (remote) => remote.somebodyPushes({ clusters: undefined, a: 'a' }),
    ['shop/customers', 'shop/orders'],
  ],
  [
    'deletes the branch',
    (remote) => remote.inRemote('update-ref', '-d', 'refs/heads/main'),
    ['shop/customers', 'shop/orders'],
  ],
  [
    'rewrites the history',
    (remote) => {
      remote.inRemote('update-ref', '-d', 'refs/heads/main');
      remote.somebodyPushes({ 'README.md': 'a new beginning' });
    },
    ['shop/customers', 'shop/orders'],
  ],
  [
    'makes the repository anew',
    (remote) => {
      rmSync(remote.path, { recursive: true });
      remote.git('init', '--quiet', '--bare', '--initial-branch=main', remote.path);
    },
    ['shop/customers', 'shop/orders'],
  ],
  ['works in other folders', (remote) => remote.somebodyPushes({ 'clusters/east/shop/orders/x.yaml': 'x: 1' }), []],
  [
    'adds to our folder',
    (remote) => remote.somebodyPushes({ [`${folder}/orders/notes.txt`]: 'ours' }),
    ['shop/orders'],
  ],
];

describe('files of ours that others have taken out of the branch', () => {
  for (const [what, act, expected] of deeds) {
    test(`are told with the next commit, and written again: somebody ${what}`, async (t) => {
      // GIVEN two databases that nobody changes
      const remote = givenRemote(t);
      remote.somebodyPushes({ 'README.md': 'hello' });
      const writer = await givenWriter(t, remote);
      const lost: string[] = [];
      writer.whenLost((key) => lost.push(key));
      await Promise.all([writer.submit(database('orders')), writer.submit(database('customers'))]);
      // WHEN
      act(remote);
      await writer.submit(database('billing'));
      // THEN
      assert.deepEqual(lost.toSorted(), expected);
      await Promise.all([writer.submit(database('orders')), writer.submit(database('customers'))]);
      const ours = ['billing', 'customers', 'orders'].flatMap((name) => [
        `${folder}/${name}/Service.${name}.yaml`,
        `${folder}/${name}/StatefulSet.${name}.yaml`,
      ]);
      assert.deepEqual(
        remote.files().filter((path) => path.startsWith(folder) && path.endsWith('.yaml')),
        ours,
      );
      assert.match(remote.read(file), /kind: StatefulSet/);
      // AND nobody is told again
      await writer.submit(database('billing', '18', 2));
      assert.equal(lost.length, expected.length);
    });
  }

  test('a look at the repository finds them without a commit', async (t) => {
    const remote = givenRemote(t);
    const writer = await givenWriter(t, remote);
    const told = Promise.withResolvers<string>();
    writer.whenLost((key) => told.resolve(key));
    await writer.submit(database('orders'));
    remote.somebodyPushes({ [file]: undefined });
    writer.look();
    assert.equal(await told.promise, 'shop/orders');
    assert.equal((await writer.submit(database('orders'))).isNew, true);
    assert.equal(remote.commits(), 3);
  });
});
