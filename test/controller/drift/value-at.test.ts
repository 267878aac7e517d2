import assert from 'node:assert/strict';
import test from 'node:test';
import { without, type FieldPath } from '../../../controller/drift/index.ts';
import { valueAt } from '../../../controller/drift/value-at.ts';

const object = {
  spec: {
    ports: [
      { port: 1, protocol: 'TCP', name: 'a' },
      { port: 2, protocol: 'TCP' },
    ],
  },
  metadata: { finalizers: ['x', 'y'] },
};
const port = (number: number): FieldPath => ['f:spec', 'f:ports', `k:{"port":${number},"protocol":"TCP"}`];

test('a value is found by field, by key and by value', () => {
  assert.equal(valueAt(object, [...port(1), 'f:name']), 'a');
  assert.equal(valueAt(object, ['f:metadata', 'f:finalizers', 'v:"y"']), 'y');
  assert.equal(valueAt(object, ['f:spec', 'f:ports', 'i:1', 'f:port']), 2);
  assert.equal(valueAt(object, port(3)), undefined);
  assert.equal(valueAt(object, ['f:spec', 'f:toString']), undefined);
});

test('a copy lacks what is at the paths, and the object keeps it', () => {
  const copy = without(object, [port(2), [...port(1), 'f:name'], ['f:metadata', 'f:labels', 'f:x']]);
  assert.deepEqual(copy.spec.ports, [{ port: 1, protocol: 'TCP' }]);
  assert.equal(object.spec.ports.length, 2);
});
