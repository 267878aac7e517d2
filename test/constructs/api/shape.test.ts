import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sentence } from '../../../constructs/api/problem.ts';
import type { Node } from '../../../constructs/api/schema-node.ts';
import { shapeProblems } from '../../../constructs/api/shape.ts';
import { storedForm } from '../../../constructs/api/stored-form.ts';
import { unknownFields } from '../../../constructs/api/unknown-fields.ts';

const schema: Node = {
  type: 'object',
  required: ['name', 'size'],
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 5, pattern: '^[a-z]*$', description: 'The name, such as orders.' },
    size: { 'x-kubernetes-int-or-string': true, pattern: '^[0-9]+Gi$', description: 'A size, such as 10Gi.' },
    count: { type: 'integer', minimum: 1, maximum: 3, default: 1 },
    kind: { type: 'string', enum: ['Big', 'Small'] },
    flag: { type: 'boolean' },
    list: {
      type: 'array',
      minItems: 1,
      maxItems: 2,
      items: { type: 'object', properties: { a: { type: 'string', default: 'x' } } },
    },
    map: { type: 'object', maxProperties: 2, additionalProperties: { type: 'string' } },
  },
};

const valid = { name: 'abc', size: '10Gi' };

describe('the shape of a value', () => {
  const cases: readonly [value: Record<string, unknown>, ...sentences: string[]][] = [
    [{ ...valid, count: 3, kind: 'Big', flag: false, list: [{ a: 'b' }], map: { k: 'v' } }],
    [{ ...valid, size: 10 }],
    [{ ...valid, name: '😀😀😀😀😀😀' }, 'f.name: "😀😀😀😀😀😀" must be at most 5 characters long'],
    [{ name: 'abc' }, 'f.size: is required; such as 10Gi'],
    [{}, 'f.name: is required; such as orders', 'f.size: is required; such as 10Gi'],
    [{ ...valid, name: '' }, 'f.name: "" must not be empty; such as orders'],
    [{ ...valid, name: 'ABC' }, 'f.name: "ABC" must match ^[a-z]*$; such as orders'],
    [{ ...valid, name: 17 }, 'f.name: 17 must be text; write it in quotes: "17"'],
    [{ ...valid, name: ['a'] }, 'f.name: ["a"] must be text'],
    [{ ...valid, size: 1.5 }, 'f.size: 1.5 must be text or a whole number; write it in quotes: "1.5"'],
    [{ ...valid, size: true }, 'f.size: true must be text or a whole number; write it in quotes: "true"'],
    [{ ...valid, count: 0 }, 'f.count: 0 must be at least 1'],
    [{ ...valid, count: 4 }, 'f.count: 4 must be at most 3'],
    [{ ...valid, count: '3' }, 'f.count: "3" must be a whole number; write 3 without quotes'],
    [{ ...valid, count: 2 ** 64 }, 'f.count: 18446744073709552000 must be a whole number'],
    [{ ...valid, kind: 'big' }, 'f.kind: "big" must be one of Big, Small; did you mean Big?'],
    [{ ...valid, kind: 'Huge' }, 'f.kind: "Huge" must be one of Big, Small'],
    [{ ...valid, flag: 'true' }, 'f.flag: "true" must be true or false'],
    [{ ...valid, list: [] }, 'f.list: [] must have at least 1 entry; or leave the field out'],
    [{ ...valid, list: [{}, {}, {}] }, 'f.list: [{},{},{}] must have at most 2 entries'],
    [{ ...valid, list: [null] }, 'f.list[0]: null must be an object'],
    [{ ...valid, list: {} }, 'f.list: {} must be a list'],
    [
      { ...valid, map: { a: 1, 'b c': 2 } },
      'f.map.a: 1 must be text; write it in quotes: "1"',
      'f.map[b c]: 2 must be text; write it in quotes: "2"',
    ],
    [{ ...valid, map: { a: '', b: '', c: '' } }, 'f.map: must have at most 2 entries'],
  ];
  for (const [value, ...sentences] of cases)
    test(JSON.stringify(value), () => assert.deepEqual(shapeProblems(schema, value, 'f').map(sentence), sentences));
});

test('a long value is shortened in the message', () => {
  const [problem] = shapeProblems({ type: 'string', maxLength: 1 }, 'x'.repeat(1000), 'f');
  assert.equal(problem?.value, `"${'x'.repeat(79)}…`);
});

describe('unknown fields', () => {
  const cases: readonly [value: unknown, ...sentences: string[]][] = [
    [{ sise: 1 }, 'f.sise: 1 is not a known field; did you mean size?'],
    [{ list: [{ b: 1 }] }, 'f.list[0].b: 1 is not a known field; known here: a'],
    [{ name: { a: 1 } }, 'f.name.a: 1 is not a known field'],
    [{ map: { a: { b: 1 } } }, 'f.map.a.b: 1 is not a known field'],
    [
      { constructor: null },
      'f.constructor: null is not a known field; known here: name, size, count, kind, flag, list, map',
    ],
    [{ map: { constructor: '' }, list: 'x' }],
  ];
  for (const [value, ...sentences] of cases)
    test(JSON.stringify(value), () => assert.deepEqual(unknownFields(schema, value, 'f').map(sentence), sentences));
});

describe('what the API server stores', () => {
  const cases: readonly [name: string, value: unknown, stored: unknown][] = [
    ['defaults are filled in', { name: 'a' }, { name: 'a', count: 1 }],
    ['a null is absent', { name: null, map: { a: null, b: '' } }, { map: { b: '' }, count: 1 }],
    ['a null with a default has the default', { count: null }, { count: 1 }],
    ['a null in a list stays', { list: [null, {}] }, { list: [null, { a: 'x' }], count: 1 }],
    [
      'a key of Object stays',
      JSON.parse('{"map":{"__proto__":"a"}}'),
      JSON.parse('{"map":{"__proto__":"a"},"count":1}'),
    ],
  ];
  for (const [name, value, stored] of cases) test(name, () => assert.deepEqual(storedForm(schema, value), stored));
});
