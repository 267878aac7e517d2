import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { placeKey } from '../../../../controller/delivery/destinations/place.ts';

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
