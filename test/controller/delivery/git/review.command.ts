import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import type { GitWriter, GitWriterOptions } from '../../../../controller/delivery/git/writer.ts';
import { database, givenRemote, givenWriter, patientClock, submission } from './given.ts';
import type { Remote } from './remote.ts';

const branch = 'plumbline/prod';
const fileOf = (name: string): string => `clusters/prod/shop/${name}/StatefulSet.${name}.yaml`;
const open = { kind: 'open', branch, target: 'main' };
const merged = { ...open, kind: 'merged' };
const declined = { ...open, kind: 'declined' };

/** Each has a repository of its own, and waits for git most of the time. */
const atOnce = { concurrency: 4 };

interface Given {
  readonly remote: Remote;
  readonly writer: GitWriter;
  /** Databases that were lost since this was asked last. */
  readonly lost: () => readonly string[];
  /** Looks at the repository, and resolves when that is done. */
  readonly look: () => Promise<void>;
  /** Files that a pull request shows. */
  readonly shown: () => readonly string[];
  readonly parents: () => number;
  /** Does something between the next look and the push that follows. */
  readonly between: (act: () => void) => void;
  readonly image: (name: string, at?: string) => string | undefined;
}

/** A repository that takes nothing by force, with a main branch, and a writer of a branch for review. */
async function givenReview(context: TestContext, options: Partial<GitWriterOptions> = {}): Promise<Given> {
  const remote = givenRemote(context);
  remote.inRemote('config', 'receive.denyNonFastForwards', 'true');
  remote.somebodyPushes({ 'README.md': 'hello\n' });
  return { remote, ...(await givenReviewer(context, remote, options)) };
}

async function givenReviewer(
  context: TestContext,
  remote: Remote,
  options: Partial<GitWriterOptions> = {},
): Promise<Omit<Given, 'remote'>> {
  let told = Promise.withResolvers<void>();
  let keys: string[] = [];
  let asked = 0;
  let act: (() => void) | undefined;
  // It is asked before a look and before a push.
  const mayWrite = (): boolean => {
    if (act === undefined || ++asked < 2) return true;
    const due = act;
    act = undefined;
    due();
    return true;
  };
  const writer = await givenWriter(context, remote, {
    reviewBranch: branch,
    clock: patientClock,
    windowMs: 0,
    onBatch: () => told.resolve(),
    mayWrite,
    ...options,
  });
  writer.whenLost((key) => void keys.push(key));
  return {
    writer,
    lost: () => {
      const all = keys.toSorted();
      keys = [];
      return all;
    },
    look: async () => {
      told = Promise.withResolvers();
      writer.look();
      await told.promise;
    },
    shown: () => remote.inRemote('diff', '--name-only', `main...${branch}`).split('\n').filter(Boolean),
    between: (one) => {
      asked = 0;
      act = one;
    },
    parents: () => remote.inRemote('log', '-1', '--format=%P', branch).split(' ').length,
    image: (name, at = branch) => /image: "(.*)"/.exec(remote.read(fileOf(name), at))?.[1],
  };
}

function removeBranch(remote: Remote, name = branch): void {
  remote.inRemote('update-ref', '-d', `refs/heads/${name}`);
}

describe('changes that people merge', atOnce, () => {
  for (const [how, kept] of [
    ['merge', [true]],
    ['squash', [true, false]],
    ['rebase', [true]],
  ] as const) {
    for (const isKept of kept) {
      test(`go on from what main has, after a ${how}, with the branch ${isKept ? 'kept' : 'deleted'}`, async (t) => {
        // GIVEN two commits on a branch that begins at main
        const { remote, writer, look, lost, shown, image } = await givenReview(t);
        const first = await writer.submit(database('orders'));
        assert.deepEqual([first.review, first.isNew], [open, true]);
        const second = await writer.submit(database('orders', '18', 2));
        assert.equal(remote.commits(), 1);
        assert.equal(remote.inRemote('rev-list', '--count', `main..${branch}`), '2');
        assert.equal(second.commit, remote.inRemote('rev-parse', branch));
        // WHEN it is merged
        remote.somebodyMerges(branch, how);
        if (!isKept) removeBranch(remote);
        await look();
        // THEN that is seen, and told with main's commit
        assert.deepEqual(lost(), ['shop/orders']);
        const again = await writer.submit(database('orders', '18', 2));
        assert.deepEqual(again, {
          ...again,
          review: merged,
          isNew: false,
          commit: remote.inRemote('rev-parse', 'main'),
        });
        // AND the next change is on top of main, with nothing of the one before
        const next = await writer.submit(database('orders', '19', 3));
        assert.deepEqual(next.review, open);
        assert.equal(remote.inRemote('merge-base', 'main', branch), remote.inRemote('rev-parse', 'main'));
        assert.deepEqual(shown(), [fileOf('orders')]);
        assert.deepEqual([image('orders'), image('orders', 'main')], ['19', '18']);
        assert.equal(writer.stats.rejections, 0);
      });
    }
  }

  test('are seen to be merged without a change, by looking again', async (t) => {
    const { remote, writer, lost } = await givenReview(t, { lookAgainMs: 100 });
    await writer.submit(database('orders'));
    const seen = Promise.withResolvers<string>();
    writer.whenLost(seen.resolve);
    remote.somebodyMerges(branch);
    assert.equal(await seen.promise, 'shop/orders');
    assert.deepEqual((await writer.submit(database('orders'))).review, merged);
    assert.deepEqual(lost(), []);
  });

  test('are asked for no second time after a restart', async (t) => {
    const { remote, writer } = await givenReview(t);
    await writer.submit(database('orders'));
    await writer.stop();
    const { writer: next } = await givenReviewer(t, remote, { directory: join(remote.root, 'another') });
    assert.deepEqual(await next.submit(database('orders')), {
      commit: undefined,
      path: 'clusters/prod/shop/orders',
      isNew: false,
      review: open,
    });
    assert.equal(remote.commits(branch), 2);
  });

  test('are given up when the spec goes back to what main has; a removal waits as well', async (t) => {
    const { remote, writer, shown } = await givenReview(t);
    await writer.submit(database('orders'));
    remote.somebodyMerges(branch);
    await writer.submit(database('orders', '18', 2));
    const back = await writer.submit(database('orders', '17', 3));
    assert.deepEqual([back.review, back.isNew, shown()], [merged, true, []]);
    // WHEN
    const removal = await writer.submit(submission('orders', undefined, 4));
    // THEN
    assert.deepEqual(removal.review, open);
    assert.ok(remote.files().includes(fileOf('orders')));
    assert.deepEqual(remote.files(branch), ['README.md']);
    remote.somebodyMerges(branch, 'squash');
    assert.deepEqual(remote.files(), ['README.md']);
  });
});

describe('commits of others on the branch for review', atOnce, () => {
  test('stay, also when somebody is faster, and a fix beside our files goes along', async (t) => {
    const { remote, writer, shown, between } = await givenReview(t);
    await writer.submit(database('orders'));
    between(() => remote.somebodyPushes({ 'docs/orders.md': 'why' }, branch));
    await writer.submit(database('orders', '18', 2));
    assert.equal(writer.stats.rejections, 1);
    assert.deepEqual(remote.inRemote('log', '--format=%an', `main..${branch}`).split('\n'), [
      'Plumbline',
      'Some Body',
      'Plumbline',
    ]);
    assert.ok(shown().includes('docs/orders.md'));
  });

  test('stay when the branch was squashed, kept and written again', async (t) => {
    const { remote, writer, shown } = await givenReview(t);
    await writer.submit(database('orders'));
    remote.somebodyPushes({ 'docs/orders.md': 'why' }, branch);
    const theirs = remote.inRemote('rev-parse', branch);
    remote.somebodyMerges(branch, 'squash');
    remote.somebodyPushes({ 'docs/orders.md': 'why not' }, branch);
    await writer.submit(database('orders', '18', 2));
    remote.inRemote('merge-base', '--is-ancestor', theirs, branch);
    assert.equal(remote.read('docs/orders.md', branch), 'why not');
    assert.ok(shown().includes('docs/orders.md'));
  });

  test('an edit of our file is in the history, and the next commit states the file again', async (t) => {
    const { remote, writer, look, lost, image } = await givenReview(t);
    await writer.submit(database('orders'));
    remote.somebodyPushes({ [fileOf('orders')]: 'image: "16"\n' }, branch);
    await look();
    assert.deepEqual(lost(), ['shop/orders']);
    assert.equal((await writer.submit(database('orders'))).isNew, true);
    assert.equal(image('orders'), '17');
    assert.equal(remote.inRemote('rev-list', '--count', '--author=Some Body', `main..${branch}`), '1');
  });

  test('a branch that somebody makes before us is gone on with', async (t) => {
    const { remote, writer, between } = await givenReview(t);
    between(() => {
      remote.inRemote('branch', branch, 'main');
      remote.somebodyPushes({ 'docs/plan.md': 'a plan' }, branch);
    });
    await writer.submit(database('orders'));
    assert.equal(remote.read('docs/plan.md', branch), 'a plan');
    assert.equal(writer.stats.rejections, 1);
  });
});

describe('main moves while a change waits', atOnce, () => {
  test('elsewhere: nothing is done for that alone, and the next commit has it', async (t) => {
    const { remote, writer, look, lost, shown, parents } = await givenReview(t);
    await writer.submit(database('orders'));
    remote.somebodyPushes({ 'README.md': 'hello again\n' });
    await look();
    assert.deepEqual([lost(), remote.commits(branch)], [[], 2]);
    await writer.submit(database('billing'));
    assert.equal(parents(), 2);
    assert.equal(remote.read('README.md', branch), 'hello again\n');
    assert.ok(!shown().includes('README.md'));
  });

  test('in a file of ours: what is stated is asked for, and can be merged', async (t) => {
    const { remote, writer, look, lost, image } = await givenReview(t);
    await writer.submit(database('orders'));
    remote.somebodyMerges(branch, 'squash');
    await writer.submit(database('billing'));
    remote.somebodyPushes({ [fileOf('orders')]: remote.read(fileOf('orders')).replace('17', '16') });
    await look();
    assert.deepEqual(lost(), ['shop/orders']);
    assert.deepEqual((await writer.submit(database('orders'))).review, open);
    remote.somebodyMerges(branch);
    assert.equal(image('orders', 'main'), '17');
  });

  test('in the lines that wait: the conflict is resolved with what is stated, also with the change of another database', async (t) => {
    const { remote, writer, look, lost, image } = await givenReview(t);
    await writer.submit(database('orders'));
    remote.somebodyMerges(branch);
    await writer.submit(database('orders', '18', 2));
    // WHEN
    remote.somebodyPushes({ [fileOf('orders')]: remote.read(fileOf('orders')).replace('17', '16') });
    assert.throws(() => remote.somebodyMerges(branch));
    await look();
    assert.deepEqual(lost(), ['shop/orders']);
    const billing = await writer.submit(database('billing'));
    // THEN
    assert.deepEqual(billing.review, open);
    assert.deepEqual((await writer.submit(database('orders', '18', 2))).review, open);
    remote.somebodyMerges(branch);
    assert.equal(image('orders', 'main'), '18');
  });

  test('so that a file of ours is gone there: the conflict is resolved', async (t) => {
    const { remote, writer, image } = await givenReview(t);
    await writer.submit(database('orders'));
    remote.somebodyMerges(branch);
    await writer.submit(database('orders', '18', 2));
    remote.somebodyPushes({ [fileOf('orders')]: undefined });
    await writer.submit(database('billing'));
    remote.somebodyMerges(branch);
    assert.equal(image('orders', 'main'), '18');
  });

  test('against what somebody has on our branch: it is told, ours goes on, and it ends when they resolve it', async (t) => {
    const { remote, writer, look, lost, image } = await givenReview(t);
    await writer.submit(database('orders'));
    remote.somebodyPushes({ 'README.md': 'one\n' }, branch);
    remote.somebodyPushes({ 'README.md': 'two\n' });
    await look();
    assert.deepEqual(lost(), ['shop/orders']);
    const { review } = await writer.submit(database('orders', '18', 2));
    assert.deepEqual(review, {
      ...open,
      obstacle: 'It conflicts with main in README.md: merge main into it, or delete it, and it is made anew.',
    });
    assert.deepEqual([image('orders'), remote.read('README.md', branch)], ['18', 'one\n']);
    await writer.submit(database('billing'));
    assert.equal(image('orders'), '18');
    // WHEN
    remote.somebodyPushes({ 'README.md': 'two\n' }, branch);
    remote.somebodyMerges('main', 'merge', branch);
    await look();
    // THEN
    assert.deepEqual(lost(), ['shop/billing', 'shop/orders']);
    assert.deepEqual((await writer.submit(database('orders', '18', 2))).review, open);
    assert.equal(remote.read('README.md', branch), 'two\n');
  });

  test('to another history: it is told, and the branch is made anew when it was deleted', async (t) => {
    const { remote, writer, look, lost, shown } = await givenReview(t);
    await writer.submit(database('orders'));
    remote.inRemote('update-ref', 'refs/heads/main', remote.orphan('main'));
    await look();
    const { review } = await writer.submit(database('orders', '18', 2));
    assert.match(review?.obstacle ?? '', /shares no history with main any more/);
    removeBranch(remote);
    await look();
    lost();
    assert.deepEqual((await writer.submit(database('orders', '18', 2))).review, open);
    assert.equal(shown().length, 2);
  });

  test('so that a link stands where a file of ours waits: it is told, and the changes of others go on', async (t) => {
    const { remote, writer, image } = await givenReview(t);
    await writer.submit(database('orders'));
    remote.somebodyMerges(branch);
    await writer.submit(database('orders', '18', 2));
    remote.somebodyPushes({ [fileOf('orders')]: { target: '/etc/passwd' } });
    const { review } = await writer.submit(database('billing'));
    assert.match(review?.obstacle ?? '', /^It conflicts with main in clusters\/prod\/shop\/orders\//);
    assert.deepEqual([image('billing'), image('orders')], ['17', '18']);
    assert.ok(!remote.files(branch).some((path) => path.includes('~')), 'nothing of a merge that failed is in it');
  });

  test('away: it is told as such, and goes on when it is back', async (t) => {
    const { remote, writer } = await givenReview(t);
    const main = remote.inRemote('rev-parse', 'main');
    removeBranch(remote, 'main');
    await assert.rejects(writer.submit(database('orders')), {
      reason: 'BranchMissing',
      message: /^The branch main that plumbline\/prod is to be merged into does not exist\./,
    });
    remote.inRemote('update-ref', 'refs/heads/main', main);
    assert.deepEqual((await writer.submit(database('orders'))).review, open);
  });
});

describe('a branch that is deleted without a merge', atOnce, () => {
  test('does not come back by a push that was under way', async (t) => {
    const { remote, writer, between, shown } = await givenReview(t);
    await writer.submit(database('orders'));
    between(() => removeBranch(remote));
    assert.deepEqual((await writer.submit(database('billing'))).review, open);
    assert.ok(
      shown().every((path) => path.includes('/billing/')),
      'what was declined stays away',
    );
    assert.equal(writer.stats.rejections, 1);
  });

  test('declines what was on it, until that changes or the branch is restored', async (t) => {
    const { remote, writer, look, lost, shown, image } = await givenReview(t);
    await writer.submit(database('orders'));
    const theirs = remote.inRemote('rev-parse', branch);
    // WHEN
    removeBranch(remote);
    await look();
    // THEN
    assert.deepEqual(lost(), ['shop/orders']);
    assert.deepEqual((await writer.submit(database('orders'))).review, declined);
    assert.equal(remote.commits(branch), 0);
    // WHEN it is restored
    remote.inRemote('branch', branch, theirs);
    await look();
    assert.deepEqual(lost(), ['shop/orders']);
    assert.deepEqual((await writer.submit(database('orders'))).review, open);
    // WHEN it is declined once more, and another database changes
    removeBranch(remote);
    await look();
    lost();
    assert.deepEqual((await writer.submit(database('orders'))).review, declined);
    await writer.submit(database('billing'));
    assert.ok(
      shown().every((path) => path.includes('/billing/')),
      'what was declined stays away',
    );
    // WHEN its spec changes
    assert.deepEqual((await writer.submit(database('orders', '18', 2))).review, open);
    assert.equal(image('orders'), '18');
  });
});

describe('what is between us and the server', atOnce, () => {
  test('push options tell a forge to open the pull request, and a server without them refuses', async (t) => {
    const pushOptions = ['merge_request.create'];
    const { remote, writer } = await givenReview(t, { pushOptions: () => pushOptions });
    await assert.rejects(writer.submit(database('orders')), { reason: 'PushRefused', message: /push options/ });
    remote.inRemote('config', 'receive.advertisePushOptions', 'true');
    pushOptions.push('merge_request.target=main');
    remote.hook('post-receive', `echo "$GIT_PUSH_OPTION_0 $GIT_PUSH_OPTION_1" > "${remote.root}/options"`);
    await writer.submit(database('orders'));
    assert.equal(
      readFileSync(join(remote.root, 'options'), 'utf8'),
      'merge_request.create merge_request.target=main\n',
    );
  });

  test('a copy that is damaged is made anew, with both branches', async (t) => {
    const { remote, writer, shown } = await givenReview(t);
    await writer.submit(database('orders'));
    rmSync(join(remote.root, 'clone', 'repository.git'), { recursive: true });
    remote.somebodyPushes({ 'README.md': 'hello again\n' });
    await writer.submit(database('billing'));
    assert.equal(shown().length, 4);
    rmSync(join(remote.root, 'clone', 'repository.git', 'objects'), { recursive: true });
    await writer.submit(database('billing', '18', 2));
    assert.equal(remote.commits(branch), 5);
  });
});
