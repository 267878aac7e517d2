import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { database, givenRemote, givenWriter } from './given.ts';

describe("the machine's and the repository's own settings", () => {
  test('no hook runs: neither one in the copy, nor one of the machine, nor one that the repository brings along', async (t) => {
    // GIVEN hooks everywhere
    const remote = givenRemote(t);
    const ran = join(remote.root, 'ran');
    const script = `#!/bin/sh\ntouch "${ran}"\nexit 1\n`;
    const hooks = [
      'pre-commit',
      'commit-msg',
      'post-commit',
      'pre-push',
      'reference-transaction',
      'post-checkout',
      'update',
    ];
    remote.somebodyPushes(Object.fromEntries(hooks.map((name) => [`.githooks/${name}`, script])));
    const home = join(remote.root, 'user');
    mkdirSync(join(home, 'hooks'), { recursive: true });
    writeFileSync(
      join(home, '.gitconfig'),
      `[core]\n\thooksPath = ${home}/hooks\n[commit]\n\tgpgsign = true\n[user]\n\tname = Me\n`,
    );
    const plant = (folder: string): void => {
      mkdirSync(folder, { recursive: true });
      for (const name of hooks) {
        writeFileSync(join(folder, name), script);
        chmodSync(join(folder, name), 0o755);
      }
    };
    plant(join(home, 'hooks'));
    const environment = { PATH: process.env['PATH'], HOME: home, XDG_CONFIG_HOME: home, GIT_TEMPLATE_DIR: home };
    const writer = await givenWriter(t, remote, { environment });
    await writer.submit(database('orders'));
    plant(join(remote.root, 'clone', 'repository.git', 'hooks'));
    // WHEN
    await writer.submit(database('orders', '18', 2));
    // THEN
    assert.equal(remote.commits(), 3);
    assert.equal(existsSync(ran), false);
    assert.equal(remote.inRemote('log', '-1', '--format=%an %G?', 'main'), 'Plumbline N');
  });

  test('variables of the caller that steer git are left behind', async (t) => {
    const remote = givenRemote(t);
    const environment = {
      PATH: process.env['PATH'],
      GIT_DIR: '/nonexistent',
      GIT_INDEX_FILE: '/nonexistent/index',
      GIT_AUTHOR_NAME: 'Mallory',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.hooksPath',
      GIT_CONFIG_VALUE_0: '/tmp',
      EDITOR: 'vi',
      PAGER: 'less',
    };
    const writer = await givenWriter(t, remote, { environment });
    assert.equal((await writer.submit(database('orders'))).isNew, true);
    assert.equal(remote.inRemote('log', '-1', '--format=%an', 'main'), 'Plumbline');
  });

  test('a machine without git gets one sentence at the start', async (t) => {
    const remote = givenRemote(t);
    await assert.rejects(givenWriter(t, remote, { environment: { PATH: '/nonexistent' } }), {
      reason: 'GitMissing',
      message: 'The git program was not found; install git, or turn the Git delivery off.',
    });
  });

  test('a folder that cannot be made is named', async (t) => {
    const remote = givenRemote(t);
    writeFileSync(join(remote.root, 'file'), '');
    await assert.rejects(givenWriter(t, remote, { directory: join(remote.root, 'file', 'clone') }), {
      reason: 'CloneBroken',
      message: /ENOTDIR/,
    });
  });

  test('a git command that hangs is ended after its time, and the next try finds what did arrive', async (t) => {
    // GIVEN a server that takes its time for the first push
    const remote = givenRemote(t);
    remote.hook('pre-receive', `test -e "${remote.root}/seen" || { touch "${remote.root}/seen"; sleep 6; exit 1; }`);
    const writer = await givenWriter(t, remote, { timeoutMs: 3000 });
    await assert.rejects(writer.submit(database('orders')), {
      reason: 'GitTimedOut',
      message: /git push took longer than 3 s/,
    });
    assert.equal((await writer.submit(database('orders'))).path, 'clusters/prod/shop/orders');
    assert.equal(remote.commits(), 1);
  });

  test('the copy holds no URL and no content that a person could take for a work tree', async (t) => {
    const remote = givenRemote(t);
    const writer = await givenWriter(t, remote);
    await writer.submit(database('orders'));
    const clone = join(remote.root, 'clone', 'repository.git');
    assert.doesNotMatch(readFileSync(join(clone, 'config'), 'utf8'), /file:/);
    assert.equal(existsSync(join(clone, 'FETCH_HEAD')), false);
  });
});
