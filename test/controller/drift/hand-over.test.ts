import assert from 'node:assert/strict';
import test from 'node:test';
import { fieldsOf, handOver } from '../../../controller/drift/index.ts';
import type { FieldTree } from '../../../controller/drift/owned-fields.ts';
import { applied, entryOf, ours } from './live.ts';

const spy = ['f:spec', 'f:template', 'f:spec', 'f:containers', 'k:{"name":"spy"}'];
const whole = { '.': {}, 'f:image': {}, 'f:name': {} };
const theirs = (more: object = {}) =>
  entryOf('kubectl-patch', 'Update', {
    ...more,
    'f:spec': { 'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"spy"}': whole } } } },
  });

test('the fields at a path become ours, and an entry of which nothing is left goes', () => {
  const [own, ...others] = handOver(applied(undefined, [theirs()]), ours, [spy]);
  const containers = spy.slice(0, -1).reduce<FieldTree>((tree, step) => tree[step] ?? {}, fieldsOf(own));
  assert.deepEqual(Object.keys(containers), ['k:{"name":"postgres"}', 'k:{"name":"spy"}']);
  assert.deepEqual(containers['k:{"name":"spy"}'], whole);
  assert.deepEqual(others, []);
});

test('what else he owns stays his', () => {
  const label = { 'f:metadata': { 'f:labels': { 'f:team': {} } } };
  const [, his] = handOver(applied(undefined, [theirs(label)]), ours, [spy]);
  assert.deepEqual(his?.fieldsV1, label);
});

test('what was written through a subresource stays its writer’s', () => {
  const scale = entryOf('autoscaler', 'Update', { 'f:spec': { 'f:replicas': {} } }, undefined, 'scale');
  const [, his] = handOver(applied(undefined, [scale]), ours, [['f:spec', 'f:replicas']]);
  assert.deepEqual(his, scale);
});

test('a path that nobody else has changes nothing', () => {
  const live = applied(undefined, [theirs()]);
  assert.deepEqual(handOver(live, ours, [['f:spec', 'f:replicas']]), live.metadata.managedFields);
});
