import assert from 'node:assert/strict';
import test from 'node:test';
import { appliedEntry, covers, fingerprint, leaves } from '../../../controller/drift/owned-fields.ts';
import type { KubeObject } from '../../../controller/kube/index.ts';
import { applied, changed, disowned, entryOf, ours, treeOf } from './live.ts';

const image = ['f:spec', 'f:template', 'f:spec', 'f:containers', 'k:{"name":"postgres"}', 'f:image'];

test('ours is the entry of our applies, not of our updates, not of a subresource, not of somebody else', () => {
  const entries = [
    entryOf('plumbline-status', 'Apply', {}),
    entryOf(ours, 'Update', {}),
    entryOf(ours, 'Apply', {}, undefined, 'status'),
  ];
  const object: KubeObject = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a', managedFields: entries } };
  assert.equal(appliedEntry(object, ours), undefined);
  const entry = entryOf(ours, 'Apply', { 'f:spec': {} });
  const metadata = { ...object.metadata, managedFields: [...entries, entry] };
  assert.equal(appliedEntry({ ...object, metadata }, ours), entry);
});

test('an object without managedFields has no entry of ours', () => {
  assert.equal(appliedEntry({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'a' } }, ours), undefined);
});

test('leaves are the fields that are owned; a dot marks the node itself', () => {
  const tree = { 'f:a': { '.': {}, 'f:b': {}, 'f:c': { '.': {} } }, 'f:d': {} };
  assert.deepEqual([...leaves(tree)], [['f:a', 'f:b'], ['f:a', 'f:c'], ['f:d']]);
});

test('a tree covers what it reaches, and what is below a leaf of it', () => {
  const tree = { 'f:spec': { 'f:selector': {}, 'f:ports': { 'k:{"port":1}': { '.': {}, 'f:name': {} } } } };
  const rows: readonly (readonly [readonly string[], boolean])[] = [
    [['f:spec', 'f:selector'], true],
    [['f:spec', 'f:selector', 'f:app'], true],
    [['f:spec', 'f:ports'], true],
    [['f:spec', 'f:ports', 'k:{"port":1}', 'f:name'], true],
    [['f:spec', 'f:ports', 'k:{"port":1}', 'f:targetPort'], false],
    [['f:spec', 'f:type'], false],
    [['f:data'], false],
  ];
  for (const [path, expected] of rows) assert.equal(covers(tree, path), expected, path.join(' '));
  assert.equal(covers({}, ['f:spec']), false, 'an empty tree covers nothing');
});

const live = applied();
const foreign = entryOf('kubectl-edit', 'Update', treeOf(['f:metadata', 'f:labels', 'f:team']), '2026-01-02T00:00:00Z');
const untouched: readonly (readonly [string, KubeObject])[] = [
  ['a status', { ...live, status: { replicas: 3 } }],
  ["somebody's own label", changed(applied(undefined, [foreign]), ['metadata', 'labels', 'team'], 'a')],
  ['another version of the object', changed(live, ['metadata', 'resourceVersion'], '77')],
];
for (const [what, object] of untouched) {
  test(`${what} leaves the fingerprint as it is`, () =>
    assert.equal(fingerprint(object, ours), fingerprint(live, ours)));
}

const touched: readonly (readonly [string, KubeObject])[] = [
  ['a field that somebody else took over', disowned(live, image)],
  ['a wipe of managedFields', changed(live, ['metadata', 'managedFields'], [])],
  ['a later apply under our own name', changed(live, ['metadata', 'managedFields', 0, 'time'], '2026-01-01T00:00:09Z')],
];
for (const [what, object] of touched) {
  test(`${what} changes the fingerprint`, () => assert.notEqual(fingerprint(object, ours), fingerprint(live, ours)));
}
