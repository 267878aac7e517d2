import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../../../../controller/kube/clock.ts';
import type { BatchEnd } from '../../../../controller/delivery/git/writer.ts';
import { VirtualClock } from '../../../virtual-clock.ts';
import { database, givenRemote, givenWriter, impatientClock, manifest, submission } from './given.ts';

describe('the Git writer', () => {
  test('the first database makes the first commit of an empty repository', async (t) => {
    const remote = givenRemote(t);
    const writer = await givenWriter(t, remote);
    const delivery = await writer.submit(database('orders'));
    assert.deepEqual(remote.files(), [
      'clusters/prod/shop/orders/Service.orders.yaml',
      'clusters/prod/shop/orders/StatefulSet.orders.yaml',
    ]);
    assert.equal(remote.read('clusters/prod/shop/orders/Service.orders.yaml'), manifest('Service', 'orders'));
    assert.equal(remote.commits(), 1);
    assert.deepEqual(delivery, {
      commit: remote.inRemote('rev-parse', 'main'),
      path: 'clusters/prod/shop/orders',
      isNew: true,
    });
    assert.equal(
      remote.inRemote('log', '-1', '--format=%an <%ae> %cn %aI'),
      'Plumbline <plumbline@localhost> Plumbline 2026-01-01T00:00:00+00:00',
    );
  });

  test('nothing changed: no commit, and not one git process', async (t) => {
    const remote = givenRemote(t);
    const writer = await givenWriter(t, remote);
    const first = await writer.submit(database('orders'));
    const before = writer.stats.gitProcesses;
    const second = await writer.submit(database('orders', '17', 2));
    assert.deepEqual(second, { ...first, isNew: false });
    assert.equal(writer.stats.gitProcesses, before);
    assert.equal(remote.commits(), 1);
  });

  test('after a restart nothing changed means one look at the repository for all databases, and no commit', async (t) => {
    // GIVEN twenty databases in Git
    const remote = givenRemote(t);
    const names = Array.from({ length: 20 }, (_, i) => `db-${i}`);
    const before = await givenWriter(t, remote);
    await Promise.all(names.map((name) => before.submit(database(name))));
    await before.stop();
    // WHEN the controller starts afresh
    const writer = await givenWriter(t, remote);
    const processes = writer.stats.gitProcesses;
    const deliveries = await Promise.all(names.map((name) => writer.submit(database(name))));
    // THEN
    assert.ok(deliveries.every(({ isNew, commit }) => !isNew && commit === undefined));
    assert.equal(remote.commits(), 1);
    assert.equal(writer.stats.gitProcesses - processes, 4, 'init, fetch, rev-parse, ls-tree');
  });

  test('a change of a known database costs four git commands: list, read, commit, push', async (t) => {
    const remote = givenRemote(t);
    const writer = await givenWriter(t, remote);
    await writer.submit(database('orders'));
    const before = writer.stats.gitProcesses;
    await writer.submit(database('orders', '18', 2));
    assert.equal(writer.stats.gitProcesses - before, 4);
    assert.equal(remote.commits(), 2);
    assert.match(remote.read('clusters/prod/shop/orders/StatefulSet.orders.yaml'), /image: "18"/);
  });

  test('a hundred databases within a second are one commit', async (t) => {
    // GIVEN
    const remote = givenRemote(t);
    const clock = new VirtualClock();
    const writer = await givenWriter(t, remote, { clock, windowMs: 1000 });
    // WHEN they come over 900 ms
    const deliveries = [];
    for (let i = 0; i < 100; i++) {
      deliveries.push(writer.submit(database(`db-${i}`)));
      await clock.advance(9);
    }
    assert.equal(remote.commits(), 0);
    await clock.advance(100);
    const commits = new Set((await Promise.all(deliveries)).map(({ commit }) => commit));
    // THEN
    assert.equal(commits.size, 1);
    assert.equal(remote.commits(), 1);
    assert.equal(remote.files().length, 200);
    assert.match(remote.message(), /^Add 100 databases: shop\/db-0, shop\/db-1, .* and \d+ more\n/);
  });

  test('of two changes of one database within a window the later counts, for both', async (t) => {
    const remote = givenRemote(t);
    const writer = await givenWriter(t, remote);
    const [first, second] = await Promise.all([
      writer.submit(database('orders', '17', 1)),
      writer.submit(database('orders', '18', 2)),
    ]);
    assert.deepEqual(first, second);
    assert.equal(remote.commits(), 1);
    assert.match(remote.message(), /Plumbline-Generation: 2/);
    assert.match(remote.read('clusters/prod/shop/orders/StatefulSet.orders.yaml'), /image: "18"/);
  });

  test('a commit says which fields change, against what the branch has, whoever wrote it', async (t) => {
    // GIVEN a file that somebody has edited, and one that is no manifest any more and too long to be read
    const remote = givenRemote(t);
    const writer = await givenWriter(t, remote);
    const folder = 'clusters/prod/shop/orders';
    await writer.submit(database('orders'));
    remote.somebodyPushes({
      [`${folder}/StatefulSet.orders.yaml`]: `${manifest('StatefulSet', 'orders', '16')}  note: "übel"\n`,
      [`${folder}/Service.orders.yaml`]: 'x'.repeat(300_000),
    });
    // WHEN
    await writer.submit(database('orders', '18', 2));
    // THEN
    const lines = remote.message().split('\n');
    const at = lines.indexOf('  changed  StatefulSet.orders.yaml');
    assert.deepEqual(
      lines.slice(at + 1, at + 3),
      ['    spec.image: 16 → 18', '    spec.note is gone: übel'],
      lines.join('\n'),
    );
    assert.ok(lines.indexOf('  changed  Service.orders.yaml') >= 0);
    // AND a program reads whose it is, and how its files may be known again
    const trailers = remote.inRemote('log', '-1', '--format=%(trailers:only)', 'main').split('\n');
    assert.equal(trailers.length, 3);
    assert.match(trailers[2] ?? '', /^Plumbline-Render-Hash: [0-9a-f]{64}$/);
  });

  test('back and forth while a commit is under way ends with the last word in Git', async (t) => {
    const remote = givenRemote(t);
    const writer = await givenWriter(t, remote);
    await writer.submit(database('orders', '17'));
    const forth = writer.submit(database('orders', '18', 2));
    while (writer.stats.gitProcesses < 8) await setTimeout(1);
    const back = await writer.submit(database('orders', '17', 3));
    await forth;
    assert.equal(back.isNew, true);
    assert.match(remote.read('clusters/prod/shop/orders/StatefulSet.orders.yaml'), /image: "17"/);
  });

  test("files that are rendered no longer go; somebody's own files in the folder stay", async (t) => {
    // GIVEN
    const remote = givenRemote(t);
    const writer = await givenWriter(t, remote);
    const folder = 'clusters/prod/shop/orders';
    await writer.submit(
      submission('orders', { 'a.yaml': manifest('Service', 'a'), 'old/b.yaml': manifest('Service', 'b') }),
    );
    remote.somebodyPushes({
      [`${folder}/README.md`]: 'ours',
      [`${folder}/extra.yaml`]: 'kind: ConfigMap\n',
      'other/x': 'x',
    });
    // WHEN
    await writer.submit(submission('orders', { 'a.yaml': manifest('Service', 'a') }, 2));
    // THEN
    assert.deepEqual(remote.files(), [`${folder}/README.md`, `${folder}/a.yaml`, `${folder}/extra.yaml`, 'other/x']);
    assert.match(remote.message(), /^Update shop\/orders: old\/b\.yaml\n/);
  });

  test("a database that is gone takes its files along, and no one else's", async (t) => {
    const remote = givenRemote(t);
    const writer = await givenWriter(t, remote);
    await Promise.all([writer.submit(database('orders')), writer.submit(database('orders-2'))]);
    remote.somebodyPushes({ 'clusters/prod/shop/orders/notes.txt': 'keep me' });
    const delivery = await writer.submit(submission('orders', undefined, 3));
    assert.equal(delivery.isNew, true);
    assert.deepEqual(remote.files(), [
      'clusters/prod/shop/orders-2/Service.orders-2.yaml',
      'clusters/prod/shop/orders-2/StatefulSet.orders-2.yaml',
      'clusters/prod/shop/orders/notes.txt',
    ]);
    assert.match(
      remote.message(),
      /^Remove shop\/orders\n\nshop\/orders, generation 3\n {2}removed {2}Service\.orders\.yaml/,
    );
    const again = await writer.submit(submission('orders', undefined, 3));
    assert.equal(again.isNew, false);
  });

  test('a database that was never in Git is removed without a commit, in an empty repository too', async (t) => {
    const remote = givenRemote(t);
    const writer = await givenWriter(t, remote);
    assert.equal((await writer.submit(submission('ghost', undefined))).isNew, false);
    assert.equal(remote.commits(), 0);
  });

  test('a database that moves to another folder leaves nothing in the old one, in one commit', async (t) => {
    const remote = givenRemote(t);
    const writer = await givenWriter(t, remote);
    await writer.submit(database('orders'));
    const moved = [
      { ...database('orders', '17', 2), files: undefined },
      { ...database('orders', '17', 2), folder: 'databases/shop/orders' },
    ];
    const [gone, there] = await Promise.all(moved.map((one) => writer.submit(one)));
    assert.equal(gone?.commit, there?.commit);
    assert.equal(there?.path, 'databases/shop/orders');
    assert.deepEqual(remote.files(), [
      'databases/shop/orders/Service.orders.yaml',
      'databases/shop/orders/StatefulSet.orders.yaml',
    ]);
  });

  test('a repository that takes nothing is tried ever more seldom, and at once when it is to be looked at', async (t) => {
    // GIVEN a hundred databases and a repository that is not there
    const remote = givenRemote(t);
    const waits: number[] = [];
    const clock: Clock = {
      now: () => impatientClock.now(),
      sleep: async (ms) => {
        waits.push(ms);
        await impatientClock.sleep(ms);
      },
    };
    const ends: BatchEnd[] = [];
    const url = `file://${join(remote.root, 'moved.git')}`;
    const onBatch = (end: BatchEnd): void => void ends.push(end);
    const writer = await givenWriter(t, remote, { clock, url, onBatch, random: () => 0 });
    const names = Array.from({ length: 100 }, (_, i) => `db-${i}`);
    const submitAll = (): Promise<unknown> => Promise.allSettled(names.map((name) => writer.submit(database(name))));
    // WHEN they come again as soon as they have failed
    for (let attempt = 0; attempt < 9; attempt++) await submitAll();
    // THEN
    assert.deepEqual(waits, [1000, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
    assert.ok(ends.every(({ failure, size }) => size === 100 && (failure as Error).message.includes("can't be read")));
    // WHEN it is there
    remote.git('clone', '--quiet', '--bare', remote.path, join(remote.root, 'moved.git'));
    writer.look();
    await submitAll();
    // THEN
    assert.deepEqual(
      { ...ends.at(-1), commit: undefined },
      { commit: undefined, failure: undefined, size: 100, inReview: 0 },
    );
  });

  test('a stop writes what was submitted and takes no more', async (t) => {
    const remote = givenRemote(t);
    const writer = await givenWriter(t, remote, { clock: new VirtualClock() });
    const delivery = writer.submit(database('orders'));
    await writer.stop();
    assert.equal((await delivery).isNew, true);
    assert.equal(remote.commits(), 1);
    await assert.rejects(writer.submit(database('billing')), { reason: 'WriterStopped' });
  });

  test('who does not lead any more pushes nothing, not even what was begun', async (t) => {
    for (const lostAfter of [0, 1]) {
      // GIVEN a leader that loses its lease before it looks, or between its commit and its push
      const remote = givenRemote(t);
      let asked = 0;
      const writer = await givenWriter(t, remote, { mayWrite: () => asked++ < lostAfter });
      // WHEN
      await assert.rejects(writer.submit(database('orders')), { reason: 'NotLeading' });
      await writer.stop();
      // THEN
      assert.equal(remote.inRemote('for-each-ref'), '');
    }
  });

  test('the branch and the author can be chosen', async (t) => {
    const remote = givenRemote(t);
    remote.somebodyPushes({ 'README.md': 'hello' });
    const author = { name: 'Data <Team>\n', email: 'data@example.org' };
    const writer = await givenWriter(t, remote, { branch: 'env/prod', author });
    await writer.submit(database('orders'));
    assert.equal(remote.commits('env/prod'), 1);
    assert.equal(remote.commits('main'), 1);
    assert.equal(remote.inRemote('log', '-1', '--format=%an <%ae>', 'env/prod'), 'Data Team <data@example.org>');
  });

  test('what is written is what was rendered, byte for byte, whatever the repository says of line ends', async (t) => {
    const remote = givenRemote(t);
    remote.somebodyPushes({ '.gitattributes': '* text=auto eol=crlf ident\n*.yaml filter=lfs\n' });
    const writer = await givenWriter(t, remote);
    const content = `${manifest('ConfigMap', 'orders')}# $Id$ größe 😀\r\nlast: line`;
    await writer.submit(submission('orders', { 'x.yaml': content }));
    assert.equal(remote.read('clusters/prod/shop/orders/x.yaml'), content);
  });
});
