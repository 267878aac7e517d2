import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ancestorsOf, checkBranch, folderOf, pathIn } from '../../../../controller/delivery/git/repository-path.ts';
import { database, givenRemote, givenWriter, submission } from './given.ts';

const refusedFiles = [
  '../x.yaml',
  'a/../../x.yaml',
  '/etc/passwd',
  '.git/config',
  'a/.GIT/config',
  '.gitattributes',
  'git~1/config',
  'a//b.yaml',
  './x.yaml',
  '',
  'a/',
  'a\\..\\b.yaml',
  'x\n.yaml',
  'x\0.yaml',
  '-x.yaml',
  'C:x.yaml',
  ' x.yaml',
  '\u200B.git/config',
];

describe('paths in the repository', () => {
  test('a database has a folder by cluster, namespace and name', () => {
    assert.equal(folderOf({ cluster: 'prod', namespace: 'shop', name: 'orders' }), 'clusters/prod/shop/orders');
    assert.equal(
      pathIn('clusters/prod/shop/orders', 'a/StatefulSet.orders.yaml'),
      'clusters/prod/shop/orders/a/StatefulSet.orders.yaml',
    );
    assert.deepEqual(ancestorsOf('a/b/c'), ['a', 'a/b']);
  });

  test('the layout of the folders can be chosen', () => {
    const place = { cluster: 'prod', namespace: 'shop', name: 'orders' };
    assert.equal(folderOf(place, 'databases/<namespace>/<name>'), 'databases/shop/orders');
    assert.equal(folderOf(place, '<cluster>/<namespace>/<name>/'), 'prod/shop/orders');
    for (const layout of ['/<namespace>/<name>', '../<namespace>/<name>', '.git/<name>', '<namespace>//<name>', '']) {
      assert.throws(() => folderOf(place, layout), { reason: 'PathRefused' }, layout);
    }
  });

  for (const path of refusedFiles) {
    test(`a file that is named ${JSON.stringify(path)} is refused`, () => {
      assert.throws(() => pathIn('folder', path), { reason: 'PathRefused' });
    });
  }

  for (const part of ['..', '', 'a/b', '.git', '-x']) {
    test(`a cluster, namespace or database that is named ${JSON.stringify(part)} is refused`, () => {
      const place = { cluster: 'prod', namespace: 'shop', name: 'orders' };
      for (const field of ['cluster', 'namespace', 'name']) {
        assert.throws(() => folderOf({ ...place, [field]: part }), { reason: 'PathRefused' });
      }
    });
  }

  test('a branch is named as git allows, and never like an option', () => {
    for (const branch of ['main', 'env/prod-1', 'release-1.2']) checkBranch(branch);
    for (const branch of ['', '-f', 'a..b', 'a//b', 'a.lock', 'a b', 'refs/', 'a:b', '+main', 'a^', '@{-1}', 'a.']) {
      assert.throws(() => checkBranch(branch), { reason: 'BranchRefused' }, branch);
    }
  });

  test('a path that leaves the folder reaches no commit', async (t) => {
    const remote = givenRemote(t);
    const writer = await givenWriter(t, remote);
    await assert.rejects(writer.submit(submission('orders', { '../billing/x.yaml': 'a: 1' })), {
      reason: 'PathRefused',
    });
    await assert.rejects(writer.submit(submission('..', { 'x.yaml': 'a: 1' })), { reason: 'PathRefused' });
    assert.equal(remote.commits(), 0);
  });

  for (const at of [
    'clusters',
    'clusters/prod/shop',
    'clusters/prod/shop/orders',
    'clusters/prod/shop/orders/Service.orders.yaml',
  ]) {
    test(`a link at ${at} is neither followed nor replaced, and hinders no other database`, async (t) => {
      const remote = givenRemote(t);
      remote.somebodyPushes({ 'README.md': 'hello', [at]: { target: '/tmp' } });
      const writer = await givenWriter(t, remote);
      await assert.rejects(writer.submit(database('orders')), {
        reason: 'PathBlocked',
        message: new RegExp(`^A link at ${at} is in the way of shop/orders`),
      });
      assert.equal(remote.commits(), 1);
      if (at.includes('orders')) assert.equal((await writer.submit(database('billing'))).isNew, true);
    });
  }

  test("somebody's folder where a file has to be, or file where a folder has to be, is not replaced", async (t) => {
    const remote = givenRemote(t);
    const folder = 'clusters/prod/shop/orders';
    remote.somebodyPushes({ [`${folder}/a.yaml/notes.txt`]: 'mine', [`${folder}/sub`]: 'mine too' });
    const writer = await givenWriter(t, remote);
    await assert.rejects(writer.submit(submission('orders', { 'a.yaml': 'a: 1' })), {
      message: /^A folder at .*a\.yaml is/,
    });
    await assert.rejects(writer.submit(submission('orders', { 'sub/b.yaml': 'a: 1' })), {
      message: /^A file at .*sub is/,
    });
    assert.equal(remote.commits(), 1);
  });
});
