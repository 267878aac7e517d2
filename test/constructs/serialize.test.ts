import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { load } from 'js-yaml';
import { parse } from 'yaml';
import { serialize } from '../../constructs/serialize.ts';

/** As Go reads it (kubectl, Argo CD), and as everything newer does. */
const readers: readonly [name: string, read: (text: string) => unknown][] = [
  ['yaml 1.1', (text) => parse(text, { version: '1.1' })],
  ['yaml 1.1 without merge keys', (text) => parse(text, { version: '1.1', merge: false })],
  ['yaml 1.2', (text) => parse(text, { version: '1.2' })],
  ['js-yaml', (text) => load(text)],
];

function wrapped(text: string): object {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: text, annotations: { [text]: text } },
    list: [text, [text]],
  };
}

function assertSame(text: string): void {
  const manifest = wrapped(text);
  const written = serialize(manifest);
  for (const [name, read] of readers) assert.deepEqual(read(written), manifest, `${name}: ${JSON.stringify(text)}`);
}

// oxfmt-ignore
const nasty = [
  // What is a boolean, a null, a number, a time or a merge in one version or the other.
  'on', 'yes', 'n', 'Y', 'true', 'False', 'NULL', 'null', '~', '', '=', '<<', '.inf', '-.INF', '.nan', '0o17', '0o17_0', '0600', '1:30',
  ' a\nb\n \n', '1e3', '1.10', '1_000', '0x1F', '0b1', '+1', '.', '..', '.5', '08', '190:20:30', '2026-01-01', '2026-01-01T00:00:00Z', '1.e3', '-',
  // Values of settings, and characters that are line breaks or blanks in one version or the other.
  '$user', '"$user", public', '%m [%p] ', '\u0085', 'a\u0085b', '\u2028', '\ufeff', '\u00a0', '😀', 'é',
  // Text of many lines.
  'a\nb', 'a\nb\n', '\n', '\n\na', 'a\n\n', '  a\n b', 'a\n  b', 'a\n\tb', ' \n', '#\na', 'a\n# b', 'a\r\nb', '\r',
  // Blanks at the edges, and what is syntax.
  ' lead', 'trail ', 'a\tb', '\ta', '---', '--- a', '...', '#', 'a #b', 'a: b', 'a:', '- a', '? a', '|', '>', '@a', '`a', '!a', '&a',
  '*a', '"q"', "'q'", '\\', '{', '[', ']', '}', ',', '%a', '\u0000', '\u001b', '\u007f',
  // Long lines.
  'x'.repeat(5000), 'word '.repeat(500),
];

for (const text of nasty) {
  test(`${JSON.stringify(text).slice(0, 40)} is read as itself by YAML 1.1 and 1.2`, () => {
    assertSame(text);
  });
}

test('any text is read as itself by YAML 1.1 and 1.2', () => {
  const words = fc.constantFrom(...nasty, 'a', ' ', ':', '-', '#', '\n', '\t', "'", '"', '0', '.', 'e');
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.array(words, { maxLength: 6 }).map((parts) => parts.join('')),
  );
  fc.assert(fc.property(text, assertSame), { numRuns: 2000 });
});

test('keys are sorted, and their order in the object changes nothing', () => {
  assert.equal(serialize({ b: 1, a: { d: 1, c: 2 } }), serialize({ a: { c: 2, d: 1 }, b: 1 }));
  assert.equal(serialize({ b: 1, a: { d: 1, c: 2 } }), 'a:\n  c: 2\n  d: 1\nb: 1\n');
});

test('an object that stands in two places is written twice: no anchors', () => {
  const shared = { a: ['b'] };
  assert.equal(serialize({ b: shared, c: shared }), 'b:\n  a:\n  - b\nc:\n  a:\n  - b\n');
});

test('lines are never wrapped, and text of many lines is a block', () => {
  assert.equal(serialize({ a: 'word '.repeat(100).trim() }).split('\n').length, 2);
  assert.equal(serialize({ script: '#!/bin/sh\necho "a: $b"\n' }), 'script: |\n  #!/bin/sh\n  echo "a: $b"\n');
});

test('numbers and booleans stay what they are', () => {
  assert.equal(serialize({ a: 1, b: true, c: '1', d: 'true' }), "a: 1\nb: true\nc: '1'\nd: 'true'\n");
});
