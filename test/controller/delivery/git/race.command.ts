import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Clock } from '../../../../controller/kube/clock.ts';
import { database, givenRemote, givenWriter, impatientClock, patientClock } from './given.ts';

describe('others who push to the same branch', () => {
  test('a commit of somebody in between stays, and ours comes on top of it', async (t) => {
    const remote = givenRemote(t);
    const writer = await givenWriter(t, remote);
    await writer.submit(database('orders'));
    remote.somebodyPushes({ 'README.md': 'hello' });
    await writer.submit(database('orders', '18', 2));
    assert.deepEqual(remote.inRemote('log', '--format=%an', 'main').split('\n'), [
      'Plumbline',
      'Some Body',
      'Plumbline',
    ]);
    assert.equal(remote.read('README.md'), 'hello');
    assert.equal(writer.stats.rejections, 1);
  });

  test('two controllers that write at the same time lose no commit and make no merge', async (t) => {
    // GIVEN two controllers for two clusters, one branch
    const remote = givenRemote(t);
    const rounds = 8;
    const writers = await Promise.all(
      ['east', 'west'].map((cluster) =>
        givenWriter(t, remote, { cluster, directory: join(remote.root, cluster), clock: patientClock, windowMs: 10 }),
      ),
    );
    // WHEN each writes eight times as fast as it can
    await Promise.all(
      writers.map(async (writer) => {
        for (let i = 1; i <= rounds; i++) await writer.submit(database('orders', `${i}`, i));
      }),
    );
    // THEN
    assert.equal(remote.commits(), 2 * rounds);
    assert.equal(remote.inRemote('rev-list', '--merges', '--count', 'main'), '0');
    for (const cluster of ['east', 'west']) {
      assert.match(
        remote.read(`clusters/${cluster}/shop/orders/StatefulSet.orders.yaml`),
        new RegExp(`image: "${rounds}"`),
      );
      assert.equal(remote.inRemote('rev-list', '--count', 'main', '--', `clusters/${cluster}`), String(rounds));
    }
  });

  test('a rejection is tried again whatever its words are', async (t) => {
    const remote = givenRemote(t);
    remote.hook(
      'pre-receive',
      `test -e "${remote.root}/seen" && exit 0; touch "${remote.root}/seen"; echo 'Kosmische Strahlung' >&2; exit 1`,
    );
    const writer = await givenWriter(t, remote);
    assert.equal((await writer.submit(database('orders'))).isNew, true);
    assert.equal(writer.stats.rejections, 1);
  });

  test('somebody who is faster six times in a row is named as the reason, and nothing of theirs is lost', async (t) => {
    const remote = givenRemote(t);
    let pushes = 0;
    let isQuiet = true;
    const clock: Clock = {
      now: () => impatientClock.now(),
      sleep: async (ms) => {
        if (!isQuiet) remote.somebodyPushes({ 'counter.txt': String(pushes++) });
        await impatientClock.sleep(ms);
      },
    };
    const writer = await givenWriter(t, remote, { clock });
    await writer.submit(database('orders'));
    isQuiet = false;
    await assert.rejects(writer.submit(database('orders', '18', 2)), { reason: 'PushOvertaken' });
    assert.equal(writer.stats.rejections, 6);
    assert.equal(remote.commits(), 1 + pushes);
    // Once it is quiet, it works.
    isQuiet = true;
    assert.equal((await writer.submit(database('orders', '18', 2))).isNew, true);
  });

  test('a repository that takes no commit is told from a race, in its own words, after three tries', async (t) => {
    const remote = givenRemote(t);
    remote.hook('pre-receive', `echo 'GH006: Protected branch update failed' >&2; exit 1`);
    const writer = await givenWriter(t, remote);
    await assert.rejects(writer.submit(database('orders')), {
      reason: 'PushRefused',
      message: /does not take the commit .*GH006: Protected branch update failed.*Check the right to push/,
    });
    assert.equal(writer.stats.rejections, 3);
    assert.equal(remote.commits(), 0);
  });

  test('one database that the server refuses does not hold up the ninety-nine others', async (t) => {
    // GIVEN a server that checks what is pushed
    const remote = givenRemote(t);
    remote.hook(
      'pre-receive',
      `while read old new ref; do git ls-tree -r --name-only $new | grep -q db-42/ && { echo 'db-42 is against the policy' >&2; exit 1; }; done; exit 0`,
    );
    const writer = await givenWriter(t, remote);
    // WHEN
    const names = Array.from({ length: 100 }, (_, i) => `db-${i}`);
    const settled = await Promise.allSettled(names.map((name) => writer.submit(database(name))));
    // THEN
    const failed = names.filter((_, i) => settled[i]?.status === 'rejected');
    assert.deepEqual(failed, ['db-42']);
    assert.equal(remote.files().length, 198);
    assert.ok(writer.stats.rejections < 15, `${writer.stats.rejections} rejections`);
  });

  test('a server that refuses everything is asked a few times, not once for each of a hundred databases', async (t) => {
    const remote = givenRemote(t);
    remote.hook('pre-receive', 'exit 1');
    const writer = await givenWriter(t, remote);
    const names = Array.from({ length: 100 }, (_, i) => `db-${i}`);
    const settled = await Promise.allSettled(names.map((name) => writer.submit(database(name))));
    assert.ok(settled.every(({ status }) => status === 'rejected'));
    assert.ok(writer.stats.rejections < 20, `${writer.stats.rejections} rejections`);
  });
});
