import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { authorOf, parseTouches } from '../../../../controller/delivery/git/last-touch.ts';

const [first, second, third] = ['a', 'b', 'c'].map((digit) => digit.repeat(40)) as [string, string, string];

/** As `git log -z --name-only` prints it. */
function entry(commit: string, name: string, seconds: number | string, ...paths: string[]): string {
  return `\u0001${commit}\0${name}\0${name}@example.org\0${seconds}\0\0\n${paths.map((path) => `${path}\0`).join('')}\0`;
}

describe('the last commit of a file', () => {
  test('is the newest that names it, whatever its name', () => {
    const touches = parseTouches(
      entry(second, 'jane', 60, 'a b/c.yaml', 'd\ne') + entry(first, 'joe', 0, 'a b/c.yaml', 'f'),
      new Set(),
    );
    assert.deepEqual(
      [...touches].map(([path, { commit, time }]) => [path, commit, time]),
      [
        ['a b/c.yaml', second, '1970-01-01T00:01:00Z'],
        ['d\ne', second, '1970-01-01T00:01:00Z'],
        ['f', first, '1970-01-01T00:00:00Z'],
      ],
    );
  });

  test('is none of those whose parents are not at hand, for they seem to add everything', () => {
    assert.equal(parseTouches(entry(first, 'joe', 0, 'f'), new Set([first])).size, 0);
  });

  test('is none that cannot be read, and those after it count', () => {
    const odd = entry('no hash', 'x', 1, 'f') + entry(second, 'x', 'soon', 'f') + entry(third, '', 1, 'f');
    assert.equal(parseTouches(odd, new Set()).get('f')?.commit, third);
    assert.equal(parseTouches('', new Set()).size, 0);
  });

  test('has an author of one line, of bounded length', () => {
    const touch = { commit: first, name: `a\n\u001b[2J${'b'.repeat(300)}`, email: 'a@example.org', time: '' };
    assert.match(authorOf(touch), /^a \[2Jb{1,}$/);
    assert.equal(authorOf(touch).length, 120);
    assert.equal(authorOf({ ...touch, name: 'Jane' }), 'Jane <a@example.org>');
  });
});
