import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { database, givenRemote, givenWriter, manifest, submission } from './given.ts';
import type { Remote } from './remote.ts';

/** A commit of that many files of others, made without a work tree. */
function givenFiles(remote: Remote, count: number): void {
  const files = Array.from({ length: count }, (_, i) => `M 100644 inline apps/${i % 100}/${i}.yaml\ndata 4\na: 1\n`);
  const stream = `commit refs/heads/main\ncommitter Some Body <a@b.c> 0 +0000\ndata 3\nall\n${files.join('')}`;
  execFileSync('git', ['--git-dir', remote.path, 'fast-import', '--quiet'], { input: stream });
}

/** Calls `use` with a folder that is a disk of a megabyte. */
async function onSmallDisk(remote: Remote, use: (folder: string) => Promise<void>): Promise<void> {
  const folder = join(remote.root, 'disk');
  mkdirSync(folder);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=0700', 'tmpfs', folder]);
  try {
    await use(folder);
  } finally {
    execFileSync('umount', [folder]);
  }
}

function fill(path: string): void {
  for (let size = 1 << 20; size >= 1024; size >>= 1) {
    try {
      writeFileSync(path, Buffer.alloc(size), { flag: 'a' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
}

describe('a repository that is large, or a disk that is small', () => {
  test('a change among 10,000 files of others costs as much as in an empty repository, and leaves them alone', async (t) => {
    const remote = givenRemote(t);
    givenFiles(remote, 10_000);
    const writer = await givenWriter(t, remote);
    await writer.submit(database('orders'));
    const before = writer.stats.gitProcesses;
    await writer.submit(database('orders', '18', 2));
    assert.equal(writer.stats.gitProcesses - before, 4);
    assert.equal(remote.files().length, 10_002);
  });

  test('submodules of others are neither fetched nor touched, and one in the place of a folder is named', async (t) => {
    const remote = givenRemote(t);
    remote.somebodyPushes({ '.gitmodules': '[submodule "x"]\n\tpath = x\n\turl = https://git.invalid/x\n' });
    const { path } = remote;
    const commit = remote.inRemote('rev-parse', 'main');
    const entries = ['x', 'clusters/prod/shop/billing'].map((at) => `M 160000 ${commit} ${at}\n`).join('');
    const stream = `commit refs/heads/main\ncommitter Some Body <a@b.c> 0 +0000\ndata 3\nsub\nfrom ${commit}\n${entries}`;
    execFileSync('git', ['--git-dir', path, 'fast-import', '--quiet'], { input: stream });
    const writer = await givenWriter(t, remote);
    await writer.submit(database('orders'));
    await assert.rejects(writer.submit(database('billing')), {
      reason: 'PathBlocked',
      message: /^A submodule at clusters\/prod\/shop\/billing is in the way of shop\/billing/,
    });
    assert.equal(remote.inRemote('ls-tree', 'main', 'x'), `160000 commit ${commit}\tx`);
  });

  const skip = process.getuid?.() === 0 ? false : 'a disk of its own needs root';
  test('a disk that is full is named, and the delivery goes on when there is room', { skip }, async (t) => {
    const remote = givenRemote(t);
    await onSmallDisk(remote, async (disk) => {
      // GIVEN a copy on a disk that somebody else fills
      const writer = await givenWriter(t, remote, { directory: join(disk, 'clone') });
      await writer.submit(database('orders'));
      fill(join(disk, 'filler'));
      // WHEN
      const incompressible = Array.from({ length: 20_000 }, (_, i) => `# ${(i * 2654435761) % 4294967296}\n`).join('');
      const large = submission('orders', { 'x.yaml': manifest('ConfigMap', 'orders') + incompressible }, 2);
      await assert.rejects(writer.submit(large), {
        reason: 'DiskFull',
        message: /No space left on device.*Give the temporary folder of the controller more room/s,
      });
      assert.equal(remote.commits(), 1);
      rmSync(join(disk, 'filler'));
      // THEN
      assert.equal((await writer.submit(large)).isNew, true);
      assert.equal(remote.commits(), 2);
      await writer.stop();
    });
  });
});
