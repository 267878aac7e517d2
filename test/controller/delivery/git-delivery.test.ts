import assert from 'node:assert/strict';
import test from 'node:test';
import { GitDelivery } from '../../../controller/delivery/git-delivery.ts';
import type { GitTarget } from '../../../controller/delivery/git-target.ts';
import { GitDeliveryError } from '../../../controller/delivery/git/git-delivery-error.ts';
import type { GitSubmission } from '../../../controller/delivery/git/submission.ts';
import type { GitDelivery as Delivered } from '../../../controller/delivery/git/writer.ts';
import { VirtualClock } from '../../virtual-clock.ts';
import { noon, resource } from '../database/given.ts';

const key = 'shop/orders';
const finalizer = (destination: string) => `git.plumbline.dev/${destination}`;
const path = 'clusters/prod/shop/orders';

/** Repositories that answer when a test says so, by the names of their destinations. */
class Given {
  readonly clock = new VirtualClock();
  readonly woken: string[] = [];
  readonly asked: string[] = [];
  readonly submitted: Omit<GitSubmission, 'folder'>[] = [];
  /** Folders by destination, where they are not the same. */
  readonly places: Record<string, string> = {};
  readonly missing = new Set<string>();
  way = 'by a push';
  readonly #open: PromiseWithResolvers<Delivered>[] = [];
  readonly delivery = new GitDelivery({
    targetOf: ({ spec }) => {
      const name = spec.delivery?.git?.destination;
      return name === undefined ? undefined : this.#target(name);
    },
    targetIn: (_, one) => this.#target(one.slice(finalizer('').length)),
    passwordsOf: async () => [],
    clock: this.clock,
    signal: new AbortController().signal,
    wake: (one) => void this.woken.push(one),
  });

  #target(name: string): GitTarget {
    if (this.missing.has(name)) return { kind: 'unusable', failure: `There is no ${name}.` };
    const submit = (submission: Omit<GitSubmission, 'folder'>) => {
      this.submitted.push(submission);
      this.asked.push(`${submission.files === undefined ? 'remove from' : 'write to'} ${name}`);
      const answer = Promise.withResolvers<Delivered>();
      this.#open.push(answer);
      return answer.promise;
    };
    return { kind: 'place', id: this.places[name] ?? name, way: this.way, finalizer: finalizer(name), submit };
  }

  async answers(answer: Delivered = { commit: 'abc', path, isNew: true }): Promise<void> {
    await this.clock.advance(0);
    for (const { resolve } of this.#open.splice(0)) resolve(answer);
    await this.clock.advance(0);
  }

  /** @param of `remove`: removals alone, so that what is to be written is taken */
  async fails(error = new Error('The repository is away.'), of = ''): Promise<void> {
    await this.clock.advance(0);
    const asked = this.asked.slice(-this.#open.length);
    for (const [i, { resolve, reject }] of this.#open.splice(0).entries()) {
      if (asked[i]?.startsWith(of) === true) reject(error);
      else resolve({ commit: 'abc', path, isNew: true });
    }
    await this.clock.advance(0);
  }
}

const inGit = (destination?: string, ...finalizers: string[]) =>
  resource(destination === undefined ? {} : { delivery: { git: { destination } } }, {
    finalizers: finalizers.map(finalizer),
  });
const deleted = resource({}, { deletionTimestamp: '2026-01-01T00:00:00Z' });

test('it says that the repository has not taken it yet, and then what the commit is', async () => {
  const given = new Given();
  assert.deepEqual(given.delivery.deliver(inGit('a'), false), { isPending: true });
  assert.deepEqual(given.delivery.deliver(inGit('a'), false), { isPending: true });
  await given.answers();
  assert.deepEqual(given.woken, [key]);
  assert.deepEqual(given.delivery.deliver(inGit('a'), false), { commit: 'abc', path });
  assert.deepEqual(given.asked, ['write to a']);
});

test('what goes another way to the same folder is delivered again, and nothing is removed', async () => {
  const given = new Given();
  given.delivery.deliver(inGit('a', 'a'), false);
  await given.answers();
  given.way = 'by a pull request';
  given.delivery.deliver(inGit('a', 'a'), false);
  await given.answers();
  given.delivery.deliver(inGit('a', 'a'), false);
  assert.deepEqual(given.asked, ['write to a', 'write to a']);
});

test('a removal is asked for once, is tried again after a failure, and is told when it is done', async () => {
  const given = new Given();
  const withdraw = () => given.delivery.withdraw(deleted, finalizer('a'), 'it was deleted');
  assert.deepEqual([withdraw(), withdraw()], [{ kind: 'pending' }, { kind: 'pending' }]);
  await given.fails();
  for (let look = 0; look < 3; look++)
    assert.deepEqual(withdraw(), { kind: 'failed', failure: 'The repository is away.' });
  assert.deepEqual(given.asked, ['remove from a']);
  await given.clock.advance(60_000);
  assert.deepEqual(withdraw(), { kind: 'failed', failure: 'The repository is away.' });
  await given.answers();
  assert.deepEqual(withdraw(), { kind: 'gone' });
  assert.deepEqual(given.asked, ['remove from a', 'remove from a']);
});

test('one that bears the finalizer of its old place is withdrawn from there, and not removed twice', async () => {
  const given = new Given();
  given.delivery.deliver(inGit('a'), false);
  await given.answers();
  given.delivery.deliver(inGit('b', 'a', 'b'), false);
  await given.clock.advance(0);
  assert.deepEqual(given.delivery.withdraw(inGit('b', 'a', 'b'), finalizer('a'), 'moved'), { kind: 'pending' });
  assert.deepEqual(given.asked, ['write to a', 'write to b', 'remove from a']);
});

test('one that bears none is removed from its old place all the same', async () => {
  const given = new Given();
  given.delivery.deliver(inGit('a'), false);
  await given.answers();
  given.delivery.deliver(inGit(), false);
  assert.deepEqual(given.asked, ['write to a', 'remove from a']);
});

test('a folder before that cannot be removed is told until it is', async () => {
  const given = new Given();
  given.delivery.deliver(inGit('a'), false);
  await given.answers();
  given.delivery.deliver(inGit('b'), false);
  await given.fails(new GitDeliveryError('PushRefused', 'The repository does not want that.'), 'remove');
  const { remains } = given.delivery.deliver(inGit('b'), false) ?? {};
  assert.equal(
    remains,
    "Its files in the folder before can't be removed: The repository does not want that. It is tried again.",
  );
  await given.clock.advance(60_000);
  await given.answers();
  assert.equal(given.delivery.deliver(inGit('b'), false)?.remains, undefined);
});

test('two destinations may mean one folder: from there nothing is removed', async () => {
  const given = new Given();
  given.places['b'] = 'a';
  given.delivery.deliver(inGit('b', 'a', 'b'), false);
  await given.clock.advance(0);
  assert.deepEqual(given.delivery.withdraw(inGit('b', 'a', 'b'), finalizer('a'), 'moved'), { kind: 'gone' });
  assert.deepEqual(given.asked, ['write to b']);
});

test('from a destination that is not there nothing can be removed, before it is there', async () => {
  const given = new Given();
  given.missing.add('a');
  const withdraw = () => given.delivery.withdraw(deleted, finalizer('a'), 'it was deleted');
  assert.deepEqual(withdraw(), { kind: 'failed', failure: 'There is no a.' });
  given.missing.clear();
  assert.deepEqual(withdraw(), { kind: 'pending' });
});

test('what was forgotten is removed by nobody, and what was not by whoever sees that it is gone', async () => {
  for (const [isForgotten, asked] of [
    [true, ['write to a']],
    [false, ['write to a', 'remove from a']],
  ] as const) {
    const given = new Given();
    given.delivery.deliver(inGit('a'), false);
    await given.answers();
    if (isForgotten) given.delivery.forget(key);
    given.delivery.remove(key);
    assert.deepEqual(given.asked, asked);
  }
});

test('one that goes there and back is removed when it goes again', async () => {
  const given = new Given();
  const withdraw = () => given.delivery.withdraw(inGit('b', 'a', 'b'), finalizer('a'), 'moved');
  given.delivery.deliver(inGit('b', 'a', 'b'), false);
  withdraw();
  given.delivery.deliver(inGit('a', 'a', 'b'), false);
  await given.answers();
  given.delivery.deliver(inGit('b', 'a', 'b'), false);
  assert.deepEqual(withdraw(), { kind: 'pending' });
});

test('one that is deleted before its files are handed over is not written after their removal', async () => {
  const given = new Given();
  given.delivery.deliver(inGit('a', 'a'), false);
  given.delivery.withdraw(deleted, finalizer('a'), 'it was deleted');
  await given.clock.advance(0);
  assert.deepEqual(given.asked, ['remove from a']);
});

test('the files of a status that says so count as there, and other files do not', async () => {
  for (const [reason, generation, expected] of [
    ['Pushed', 1, true],
    ['EditedInGit', 1, true],
    ['CommitPending', 1, false],
    ['Pushed', 2, false],
  ] as const) {
    const given = new Given();
    const committed = { type: 'Committed', status: 'True', reason, message: '', lastTransitionTime: noon } as const;
    const known = { ...inGit('a'), status: { conditions: [{ ...committed, observedGeneration: generation }] } };
    // The status that is written while the destination is not known says less.
    given.missing.add('a');
    given.delivery.deliver(known, true);
    given.missing.clear();
    given.delivery.deliver(inGit('a'), true);
    await given.answers();
    const next = inGit('a');
    const [metadata, spec] = [
      { ...next.metadata, generation: 2 },
      { ...next.spec, replicas: 2 },
    ];
    given.delivery.deliver({ ...next, metadata }, false);
    given.delivery.deliver({ ...next, metadata, spec }, true);
    await given.answers();
    given.delivery.deliver({ ...next, metadata }, false);
    await given.answers();
    const found = given.submitted.map(({ wasThere, foreign }) => [wasThere, foreign]);
    assert.deepEqual(
      found,
      [
        [expected, 'left'],
        [false, 'left'],
        [expected, 'restored'],
      ],
      reason,
    );
  }
});

test('an edit that is left, or was undone, is part of what is known; whether it is left makes it another delivery', async () => {
  const given = new Given();
  const edits = [
    {
      object: `File/${path}/a.yaml`,
      field: '',
      was: undefined,
      now: undefined,
      editor: { manager: 'Jane', operation: 'Commit abc', time: noon },
    },
  ];
  given.delivery.deliver(inGit('a'), true);
  await given.answers({ commit: undefined, path, isNew: false, edits });
  assert.deepEqual(given.delivery.deliver(inGit('a'), true), { path, edits });
  given.delivery.deliver(inGit('a'), false);
  await given.answers({ commit: 'def', path, isNew: true, restored: edits });
  const state = { path, commit: 'def', restored: { commit: 'def', edits } };
  assert.deepEqual(given.delivery.deliver(inGit('a'), false), state);
  const review = { kind: 'open', branch: 'plumbline/prod', target: 'main' } as const;
  given.delivery.redeliver(key);
  given.delivery.deliver(inGit('a'), false);
  await given.answers({ commit: 'fed', path, isNew: true, review });
  assert.deepEqual(given.delivery.deliver(inGit('a'), false), { path, commit: 'fed', review });
  assert.deepEqual(
    given.submitted.map(({ foreign }) => foreign),
    ['left', 'restored', 'restored'],
  );
});
