import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { StoredGitDestination } from '../../../../constructs/api/git-destination/resource.ts';
import { placeKey, placeOf, writtenKey } from '../../../../controller/delivery/destinations/place.ts';

const same: readonly (readonly string[])[] = [
  ['https://git.example/team/x.git', 'https://git.example/team/x', 'https://GIT.example:443//team/x/'],
  ['ssh://git@git.example/team/x.git', 'git@git.example:team/x', 'ssh://git@git.example:22/team/x'],
  ['file:///srv/x.git', 'file:///srv/x.git/'],
];

const different: readonly string[] = [
  'https://git.example/team/x',
  'https://git.example/team/y',
  'https://git.example/Team/x',
  'https://git.example:8443/team/x',
  'https://other.example/team/x',
  'http://git.example/team/x',
  'ssh://git@git.example/team/x',
  'ssh://other@git.example/team/x',
  'ssh://git@git.example:2222/team/x',
];

const destination = (name: string, spec: object) =>
  ({ metadata: { name }, spec: { url: 'https://git.example/x', ...spec } }) as unknown as StoredGitDestination;

const branches: readonly (readonly [spec: object, branch: string, reviewBranch: string | undefined])[] = [
  [{}, 'main', undefined],
  [{ branch: 'prod' }, 'prod', undefined],
  [{ pullRequest: {} }, 'main', 'plumbline/east/orders'],
  [{ branch: 'prod', pullRequest: { branch: 'bot/<cluster>/databases' } }, 'prod', 'bot/east/databases'],
];

describe('the branches of a destination', () => {
  for (const [spec, branch, reviewBranch] of branches) {
    test(`with ${JSON.stringify(spec)} are ${branch} and ${reviewBranch ?? 'no other one'}`, () => {
      const place = placeOf(destination('orders', spec), 'east');
      assert.deepEqual([place.branch, place.reviewBranch], [branch, reviewBranch]);
    });
  }

  test('tell writers of one branch apart by what it is merged into', () => {
    const [a, b] = ['main', 'prod'].map((branch) =>
      placeOf(destination('x', { branch, pullRequest: { branch: 'changes' } }), 'east'),
    );
    assert.ok(a !== undefined && b !== undefined);
    assert.notEqual(placeKey(a), placeKey(b));
    assert.equal(writtenKey(a), writtenKey(b));
    assert.equal(writtenKey(a), placeKey({ url: a.url, branch: 'changes' }));
  });
});

describe('repositories', () => {
  for (const urls of same) {
    test(`are one whatever its spelling: ${urls.join(', ')}`, () => {
      assert.equal(new Set(urls.map((url) => placeKey({ url, branch: 'main' }))).size, 1);
    });
  }

  test('that are others, and other branches, are told apart', () => {
    const keys = different.flatMap((url) => ['main', 'prod'].map((branch) => placeKey({ url, branch })));
    assert.equal(new Set(keys).size, keys.length);
  });
});
