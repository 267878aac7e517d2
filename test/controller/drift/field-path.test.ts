import assert from 'node:assert/strict';
import test from 'node:test';
import { field, item, readable } from '../../../controller/drift/field-path.ts';

const rows: readonly (readonly [what: string, path: readonly string[], text: string])[] = [
  ['fields are joined by dots', ['f:spec', 'f:replicas'], 'spec.replicas'],
  [
    'an item of a list is named by its key',
    ['f:spec', 'f:containers', 'k:{"name":"postgres"}', 'f:image'],
    'spec.containers[name=postgres].image',
  ],
  [
    'so is one with two keys',
    ['f:spec', 'f:ports', 'k:{"port":5432,"protocol":"TCP"}'],
    'spec.ports[port=5432,protocol=TCP]',
  ],
  ['a name that is no plain word is bracketed', ['f:metadata', 'f:labels', 'f:a.b/c'], 'metadata.labels[a.b/c]'],
  ['so is a key of data', ['f:data', 'f:member.json'], 'data[member.json]'],
  ['a value of a set shows as it is', ['f:metadata', 'f:finalizers', 'v:"a/b"'], 'metadata.finalizers["a/b"]'],
  ['an index shows as it is', ['f:spec', 'i:0'], 'spec[0]'],
  ['the whole object has no field', [], ''],
];

for (const [what, path, text] of rows) {
  test(`${what}: ${text === '' ? 'empty' : text}`, () => assert.equal(readable(path), text));
}

test('keys of an item stand in the order of the alphabet, as the API server writes them', () => {
  assert.equal(item({ protocol: 'TCP', containerPort: 5432 }), 'k:{"containerPort":5432,"protocol":"TCP"}');
  assert.equal(field('spec'), 'f:spec');
});
