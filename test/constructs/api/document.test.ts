import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readDocuments } from '../../../constructs/api/document.ts';

function only(source: string | Uint8Array) {
  const { documents, problems } = readDocuments(source);
  assert.deepEqual(problems, []);
  assert.equal(documents.length, 1);
  return documents[0] ?? assert.fail();
}

const value = (source: string | Uint8Array): unknown => only(source).value;

describe('a document has the value that the API server reads', () => {
  const cases: readonly [name: string, text: string, expected: unknown][] = [
    ['keys become text', 'on: a\n17: b\n1.10: c\n0x10: d\n', { true: 'a', 17: 'b', '1.1': 'c', 16: 'd' }],
    ['quotes keep text', 'a: \'on\'\nb: "17"\n', { a: 'on', b: '17' }],
    ['aliases', 'a: &x {b: 1}\nc: *x\n', { a: { b: 1 }, c: { b: 1 } }],
    ['an anchor that is named twice', 'a: &x 1\nb: *x\nc: &x 2\nd: *x\n', { a: 1, b: 1, c: 2, d: 2 }],
    ['merge keys', 'a: &x {b: 1}\nc: {<<: *x, d: 2}\n', { a: { b: 1 }, c: { b: 1, d: 2 } }],
    [
      'merge of several',
      'a: &x {b: 1}\nc: &y {d: 2}\ne: {<<: [*x, *y]}\n',
      { a: { b: 1 }, c: { d: 2 }, e: { b: 1, d: 2 } },
    ],
    ['a merge key in quotes is a key', "a: {'<<': {b: 1}}\n", { a: { '<<': { b: 1 } } }],
    ['folded and literal blocks', 'a: >-\n  b\n  c\nd: |\n  e\n  f\n', { a: 'b c', d: 'e\nf\n' }],
    ['line ends of Windows', 'a: |\r\n  b\r\n  c\r\n', { a: 'b\nc\n' }],
    ['line ends of old Macs', 'a: 1\rb: 2\r', { a: 1, b: 2 }],
    ['an escaped carriage return stays', 'a: "b\\r"\n', { a: 'b\r' }],
    [
      'a key of Object stays a key',
      '__proto__: {a: 1}\nconstructor: 2\n',
      JSON.parse('{"__proto__":{"a":1},"constructor":2}'),
    ],
    ['JSON', '{"a":[1,"b",null,true]}', { a: [1, 'b', null, true] }],
    ['a byte order mark', '\uFEFFa: 1\n', { a: 1 }],
  ];
  for (const [name, text, expected] of cases) test(name, () => assert.deepEqual(value(text), expected));

  test('UTF-16 with a byte order mark, as PowerShell writes it', () => {
    const little = Buffer.from('\uFEFFa: größe\n', 'utf16le');
    assert.deepEqual(value(little), { a: 'größe' });
    assert.deepEqual(value(Buffer.from(little).swap16()), { a: 'größe' });
  });
});

describe('what a document may not have', () => {
  const cases: readonly [name: string, text: string, field: string, line: number, message: RegExp][] = [
    ['a key twice', 'a: 1\nb: {c: 1,\n  c: 2}\n', 'b.c', 3, /twice/],
    ['a key twice in two spellings', 'on: 1\ntrue: 2\n', 'true', 2, /twice/],
    ['a key that a merge brought', 'a: &x {b: 1}\nc:\n  <<: *x\n  b: 2\n', 'c.b', 4, /twice/],
    ['a key that comes before the merge', 'a: &x {b: 1}\nc:\n  b: 2\n  <<: *x\n', 'c.b', 1, /twice/],
    ['an unknown anchor', 'a: 1\nb: *x\n', 'b', 2, /anchor x/],
    ['an anchor in itself', 'a: &x\n  b: *x\n', 'a.b', 2, /contains itself/],
    ['a merge of a number', 'a: &x 1\nb: {<<: *x}\n', 'b', 2, /names no map/],
    ['a null as key', 'a: {~: 1}\n', 'a', 1, /a key/],
    ['a list as key', 'a:\n  ? [b]\n  : 1\n', 'a', 2, /a key/],
    ['infinity', 'a: .inf\n', 'a', 1, /number/],
    ['a tag that does not fit', 'a: !!int b\n', 'a', 1, /no int/],
    ['half a character', 'a: "\\ud83d\\ude00"\n', 'a', 1, /half a character/],
    ['a question mark inside braces', 'a: {b: c?d}\n', 'a.b', 1, /in quotes/],
    ['a colon in the next line', 'x: 1\na\n  :\n  b: 1\n', 'a', 2, /same line/],
    ['a colon without a blank inside braces', 'a: {b:, c: 1}\n', 'a.b', 1, /blank behind/],
  ];
  for (const [name, text, field, line, message] of cases) {
    test(name, () => {
      const [problem] = only(text).problems;
      assert.deepEqual({ field: problem?.field, line: problem?.line }, { field, line });
      assert.match(problem?.rule ?? '', message);
    });
  }
});

describe('what is no document', () => {
  const cases: readonly [name: string, source: string | Uint8Array, message: RegExp][] = [
    ['nothing', '', /holds no document/],
    ['only comments and markers', '# hello\n---\n---\n', /holds no document/],
    ['broken YAML', 'a: [1\nb: 2\n', /is not YAML/],
    ['a tab', 'a:\n\tb: 1\n', /is not YAML/],
    ['2 MB', `a: "${'x'.repeat(2 * 1024 * 1024)}"\n`, /larger than 1024 KiB/],
    ['a control character', 'a: 1\nb: "\u0007"\n', /U\+0007/],
    ['a line separator, which Go takes for an end of line', 'a: b\u2028c\n', /U\+2028/],
    ['bytes that are no UTF-8', Uint8Array.of(0x61, 0x3a, 0x20, 0xff, 0x0a), /UTF-8/],
    ['nested without end', '['.repeat(100_000), /not YAML|nested too deeply/],
    ['maps nested without end', '{a: '.repeat(50_000), /not YAML|nested too deeply/],
  ];
  for (const [name, source, message] of cases) {
    test(name, () => {
      const { documents, problems } = readDocuments(source);
      assert.deepEqual(documents, []);
      assert.match(problems[0]?.rule ?? '', message);
    });
  }

  test('a file that grows by its aliases is not followed to the end', () => {
    const lines = Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`);
    const { problems } = only(['a0: &a0 x', ...lines].join('\n'));
    assert.match(problems[0]?.rule ?? '', /more than 1000 aliases/);
  });
});

test('several documents are read one by one; empty ones are none', () => {
  const { documents } = readDocuments('---\na: 1\n---\n# nothing\n---\na: 2\n...\n');
  assert.deepEqual(
    documents.map((document) => document.value),
    [{ a: 1 }, { a: 2 }],
  );
});

test('a broken document does not hide the others', () => {
  const { documents, problems } = readDocuments('a: [\n---\na: 2\n');
  assert.deepEqual(
    documents.map((document) => document.value),
    [{ a: 2 }],
  );
  assert.match(problems[0]?.rule ?? '', /is not YAML/);
});

test('fields know their line and how they are written', () => {
  const document = only('spec:\n  version: 17.10\n  list:\n    - a: 1\n    - {b: 0x1F}\n  "a.b": on\n');
  const at = (field: string) => [document.line(field), document.source(field)];
  assert.deepEqual(at('spec'), [1, undefined]);
  assert.deepEqual(at('spec.version'), [2, '17.10']);
  assert.deepEqual(at('spec.list[1].b'), [5, '0x1F']);
  assert.deepEqual(at('spec[a.b]'), [6, 'on']);
  assert.deepEqual(at('spec.list[1].missing.deeper'), [5, undefined]);
  assert.deepEqual(at('nothing'), [1, undefined]);
});
