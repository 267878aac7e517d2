import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { database, givenRemote, givenWriter } from './given.ts';

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

const damages: readonly (readonly [string, (clone: string) => void])[] = [
  ['has lost all its objects', (clone) => rmSync(join(clone, 'objects'), { recursive: true })],
  ['has empty objects', (clone) => filesIn(join(clone, 'objects')).forEach((path) => truncateSync(path, 0))],
  ['has no HEAD', (clone) => rmSync(join(clone, 'HEAD'))],
  ['is gone', (clone) => rmSync(clone, { recursive: true })],
  [
    'is full of locks of a process that was killed',
    (clone) => {
      for (const name of ['HEAD', 'config', 'shallow', 'packed-refs', 'refs/plumbline/head', 'refs/plumbline/next']) {
        writeFileSync(join(clone, `${name}.lock`), '');
      }
    },
  ],
  [
    'is a file',
    (clone) => {
      rmSync(clone, { recursive: true });
      writeFileSync(clone, 'not a repository');
    },
  ],
  [
    'is an empty folder',
    (clone) => {
      rmSync(clone, { recursive: true });
      mkdirSync(clone);
    },
  ],
];

describe('a copy of the repository that is damaged', () => {
  for (const [what, damage] of damages) {
    const isHalfDone = what.includes('locks') || what.includes('HEAD');
    for (const when of isHalfDone ? ['while the controller runs', 'while it is down'] : ['while the controller runs']) {
      test(`heals by itself: it ${what}, ${when}`, async (t) => {
        // GIVEN
        const remote = givenRemote(t);
        const before = await givenWriter(t, remote);
        await before.submit(database('orders'));
        // WHEN
        damage(join(remote.root, 'clone', 'repository.git'));
        remote.somebodyPushes({ 'README.md': 'hello' });
        if (when === 'while it is down') await before.stop();
        const writer = when === 'while it is down' ? await givenWriter(t, remote) : before;
        const delivery = await writer.submit(database('orders', '18', 2));
        // THEN
        assert.equal(delivery.isNew, true);
        assert.equal(remote.commits(), 3);
        assert.equal(remote.read('README.md'), 'hello');
      });
    }
  }

  test('a repository out of reach says so, and works once it is back', async (t) => {
    const remote = givenRemote(t);
    remote.somebodyPushes({ 'README.md': 'hello' });
    const url = `file://${join(remote.root, 'moved.git')}`;
    const writer = await givenWriter(t, remote, { url });
    await assert.rejects(writer.submit(database('orders')), {
      reason: 'RemoteUnreachable',
      message:
        /^The Git repository can't be read \(git ls-remote failed: .*\)\. Check the URL, the network and the right to read\.$/,
    });
    remote.git('clone', '--quiet', '--bare', remote.path, join(remote.root, 'moved.git'));
    assert.equal((await writer.submit(database('orders'))).isNew, true);
  });

  test('history that others rewrote is taken as it is', async (t) => {
    const remote = givenRemote(t);
    const writer = await givenWriter(t, remote);
    await writer.submit(database('orders'));
    remote.inRemote('update-ref', '-d', 'refs/heads/main');
    remote.somebodyPushes({ 'README.md': 'a new beginning' });
    await writer.submit(database('billing'));
    assert.deepEqual(remote.inRemote('log', '--format=%an', 'main').split('\n'), ['Plumbline', 'Some Body']);
  });
});
