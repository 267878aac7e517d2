import assert from 'node:assert/strict';
import test from 'node:test';
import { covers, fieldsOf, handOver, hasOldHands, leaves, type FieldTree } from '../../../controller/drift/index.ts';
import type { ManagedFieldsEntry } from '../../../controller/kube/index.ts';
import { applied, changed, entryOf, ours, treeOf } from './live.ts';

const spy = ['f:spec', 'f:template', 'f:spec', 'f:containers', 'k:{"name":"spy"}'];
const whole = { '.': {}, 'f:image': {}, 'f:name': {} };
const theirs = (more: object = {}) =>
  entryOf('kubectl-patch', 'Update', {
    ...more,
    'f:spec': { 'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"spy"}': whole } } } },
  });

const below = (steps: readonly string[], fields: object) =>
  steps.reduceRight<object>((tree, step) => ({ [step]: tree }), fields);

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

test('a finalizer that was written with a status becomes ours, and the status stays its writer’s', () => {
  const status = { 'f:status': { 'f:replicas': {} } };
  const tree = { 'f:metadata': { 'f:finalizers': { '.': {}, 'v:"example.com/kept"': {} } }, ...status };
  const live = applied(undefined, [entryOf('kubectl-patch', 'Update', tree, undefined, 'status')]);
  const path = ['f:metadata', 'f:finalizers', 'v:"example.com/kept"'];
  const [own, his] = handOver(live, ours, [path]);
  assert(covers(fieldsOf(own), path));
  assert.deepEqual(his?.fieldsV1, status);
});

test('a path that nobody else has changes nothing', () => {
  const live = applied(undefined, [theirs()]);
  assert.deepEqual(handOver(live, ours, [['f:spec', 'f:replicas']]), live.metadata.managedFields);
});

test('of old hands, what we state becomes ours, and the rest stays theirs', () => {
  const own = fieldsOf(applied().metadata.managedFields?.[0]);
  const last = { 'f:annotations': { 'f:kubectl.kubernetes.io/last-applied-configuration': {} } };
  const tree = { ...own, 'f:metadata': { ...(own['f:metadata'] as object), ...last } };
  const hands = entryOf('kubectl-client-side-apply', 'Update', tree);
  const live = changed(applied(), ['metadata', 'managedFields'], [hands]);
  const [ourEntry, his, ...others] = handOver(live, ours, [], own);
  assert.deepEqual([ourEntry?.manager, ourEntry?.operation, others], [ours, 'Apply', []]);
  assert.deepEqual(
    [...leaves(fieldsOf(ourEntry))].length,
    [...leaves(own)].length - 1,
    'all but the annotation of ours',
  );
  assert.deepEqual(his?.fieldsV1, { 'f:metadata': last });
});

test('of a former name all becomes ours', () => {
  const former = entryOf('plumbline-controller', 'Apply', treeOf(['f:spec', 'f:paused']));
  const [own, ...others] = handOver(applied(undefined, [former]), ours, [], {});
  assert.deepEqual(others, []);
  assert(covers(fieldsOf(own), ['f:spec', 'f:paused']));
});

const ownTree = fieldsOf(applied().metadata.managedFields?.[0]);
const noName = { apiVersion: 'apps/v1', fieldsType: 'FieldsV1' } as const;

test('after a wipe all that we state is ours', () => {
  const live = changed(applied(), ['metadata', 'managedFields'], undefined);
  assert.deepEqual(handOver(live, ours, [], ownTree), [
    { ...noName, manager: ours, operation: 'Apply', fieldsV1: ownTree },
  ]);
});

test('after a wipe, what others had added is of somebody unknown, but for defaults and what is everybody’s', () => {
  const container = ['spec', 'template', 'spec', 'containers'];
  const spied = changed(applied(), [...container, 1], {
    name: 'spy',
    image: 'spy:1',
    terminationMessagePolicy: 'File',
  });
  const filled = changed(spied, ['spec', 'template', 'spec', 'dnsPolicy'], 'ClusterFirst');
  const live = changed(
    changed(filled, ['metadata', 'labels', 'team'], 'a'),
    ['metadata', 'managedFields'],
    [
      entryOf('kube-controller-manager', 'Update', { 'f:status': {} }, undefined, 'status'),
      entryOf('kubectl-label', 'Update', treeOf(['f:metadata', 'f:labels', 'f:team'])),
    ],
  );
  const entries = handOver(live, ours, [], ownTree);
  const whole = { '.': {}, 'f:name': {}, 'f:image': {}, 'f:terminationMessagePolicy': {} };
  assert.deepEqual(
    entries.map(({ manager }) => manager),
    [ours, 'kube-controller-manager', 'kubectl-label', 'unknown'],
  );
  assert.deepEqual(entries.at(-1)?.fieldsV1, below(spy, whole));
  const [own, ...others] = handOver(live, ours, [spy], ownTree);
  assert(covers(fieldsOf(own), [...spy, 'f:image']), 'to be removed it becomes ours');
  assert(!others.some(({ manager }) => manager === 'unknown'));
});

test('old hands are seen where they share a field of ours, and where nobody owns anything', () => {
  const shared = entryOf('kubectl-client-side-apply', 'Update', treeOf(['f:spec', 'f:replicas']));
  const beside = entryOf('kubectl-client-side-apply', 'Update', treeOf(['f:metadata', 'f:annotations', 'f:x']));
  const edit = entryOf('kubectl-edit', 'Update', treeOf(['f:spec', 'f:replicas']));
  const only = (entry: ManagedFieldsEntry) => changed(applied(), ['metadata', 'managedFields'], [entry]);
  const rows = [applied(), applied(undefined, [shared]), applied(undefined, [beside]), applied(undefined, [edit])];
  assert.deepEqual(
    [...rows, only(edit), changed(applied(), ['metadata', 'managedFields'], [])].map((live) => hasOldHands(live, ours)),
    [false, true, false, false, true, true],
  );
});
