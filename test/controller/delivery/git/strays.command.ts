import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { GitSubmission } from '../../../../controller/delivery/git/submission.ts';
import { database, givenRemote, givenWriter, manifest } from './given.ts';
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

describe('an edit of a file of ours', () => {
  const service = `${folder}/orders/Service.orders.yaml`;
  const left = (one: GitSubmission): GitSubmission => ({ ...one, foreign: 'left' });
  const by = (remote: Remote) => ({
    manager: 'Some Body <somebody@example.org>',
    operation: `Commit ${remote.inRemote('rev-parse', 'main')}`,
    time: remote.inRemote('log', '-1', '--format=%ad', '--date=format-local:%Y-%m-%dT%H:%M:%SZ', 'main'),
  });

  test('is undone and told: which file and field, by whom, in which of many commits', async (t) => {
    // GIVEN a database, an edit of its file, and commits of others on top of that
    const remote = givenRemote(t);
    remote.somebodyPushes({ 'README.md': 'hello' });
    const writer = await givenWriter(t, remote);
    await writer.submit(database('orders'));
    remote.somebodyPushes({ [file]: manifest('StatefulSet', 'orders', '99'), [service]: undefined });
    const editor = by(remote);
    for (let count = 0; count < 3; count++) remote.somebodyPushes({ 'README.md': `hello ${count}` });
    writer.look();
    await writer.submit(database('customers'));
    // WHEN
    const { isNew, restored, edits } = await writer.submit(database('orders'));
    // THEN
    assert.equal(isNew, true);
    assert.equal(edits, undefined);
    assert.deepEqual(restored, [
      { object: `File/${file}`, field: 'spec.image', was: '17', now: '99', editor },
      { object: `File/${service}`, field: '', was: undefined, now: undefined, editor },
    ]);
    assert.match(remote.message(), /^ {4}spec\.image: 99 → 17$/m);
    assert.match(remote.read(file), /image: "17"/);
  });

  test('is left where that is asked for, told by each look, and written over when other files are wanted', async (t) => {
    // GIVEN
    const remote = givenRemote(t);
    const writer = await givenWriter(t, remote);
    const lost: string[] = [];
    writer.whenLost((key) => lost.push(key));
    await writer.submit(left(database('orders')));
    const notes = `${folder}/orders/notes.yaml`;
    remote.somebodyPushes({ [file]: 'edited: true\n', [notes]: manifest('ConfigMap', 'notes') });
    const commits = remote.commits();
    const editor = by(remote);
    const expected = [
      { object: `File/${file}`, field: 'text', was: '(hidden)', now: '(hidden)', editor },
      { object: `File/${notes}`, field: 'text', was: undefined, now: '(hidden)', editor },
    ];
    await writer.submit(database('customers'));
    assert.deepEqual(lost, ['shop/orders']);
    // WHEN, THEN
    for (let time = 0; time < 2; time++) {
      const found = await writer.submit(left(database('orders')));
      assert.equal(found.isNew, false);
      assert.deepEqual(found.edits, expected);
    }
    assert.equal(remote.commits(), commits + 1);
    assert.equal(remote.read(file), 'edited: true\n');
    // AND it is not looked at again for every commit
    const { gitProcesses } = writer.stats;
    await writer.submit(left(database('orders')));
    assert.equal(writer.stats.gitProcesses, gitProcesses);
    // AND who takes it back finds nothing more told
    remote.somebodyPushes({ [file]: manifest('StatefulSet', 'orders'), [notes]: undefined });
    await writer.submit(database('customers', '18', 2));
    assert.equal((await writer.submit(left(database('orders')))).edits, undefined);
    // AND another edit goes with the next change
    remote.somebodyPushes({ [file]: 'edited: true\n' });
    const changed = await writer.submit(left(database('orders', '18', 2)));
    assert.equal(changed.isNew, true);
    assert.match(remote.read(file), /image: "18"/);
  });

  test('that was left is undone when that is asked for', async (t) => {
    const remote = givenRemote(t);
    const writer = await givenWriter(t, remote);
    await writer.submit(left(database('orders')));
    remote.somebodyPushes({ [file]: undefined });
    await writer.submit(database('customers'));
    assert.equal((await writer.submit(left(database('orders')))).edits?.length, 1);
    const { restored } = await writer.submit(database('orders'));
    assert.deepEqual(
      restored?.map(({ object }) => object),
      [`File/${file}`],
    );
    assert.match(remote.read(file), /image: "17"/);
  });

  test('while no writer ran is one only to whom knows that the files were there', async (t) => {
    const remote = givenRemote(t);
    await (await givenWriter(t, remote)).submit(database('orders'));
    remote.somebodyPushes({ [file]: undefined });
    const next = await givenWriter(t, remote, { directory: join(remote.root, 'next') });
    const found = await next.submit({ ...left(database('orders')), wasThere: true });
    assert.deepEqual(
      found.edits?.map(({ object, field }) => ({ object, field })),
      [{ object: `File/${file}`, field: '' }],
    );
    const last = await givenWriter(t, remote, { directory: join(remote.root, 'last') });
    assert.equal((await last.submit(left(database('orders')))).isNew, true);
  });

  test('is not told whose it is where that lies further back than it is looked', async (t) => {
    const remote = givenRemote(t);
    const writer = await givenWriter(t, remote);
    await writer.submit(database('orders'));
    remote.somebodyPushes({ [file]: undefined });
    const blank = 'committer A <a@example.org> 1 +0000\ndata 1\na\n';
    const first = `commit refs/heads/main\n${blank}from refs/heads/main^0\n`;
    const stream = first + `commit refs/heads/main\n${blank}\n`.repeat(1100);
    remote.fastImport(stream);
    await writer.submit(database('customers'));
    const { restored } = await writer.submit(database('orders'));
    const editor = { manager: 'unknown', operation: 'Commit', time: undefined };
    assert.deepEqual(restored, [{ object: `File/${file}`, field: '', was: undefined, now: undefined, editor }]);
  });
});
