import assert from 'node:assert/strict';
import test from 'node:test';
import { handBack, statedTree } from '../../../controller/drift/index.ts';
import type { KubeObject, ManagedFieldsEntry } from '../../../controller/kube/index.ts';

const rendered: KubeObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'orders', namespace: 'shop', labels: { a: 'b' } },
  spec: { selector: { a: 'b' }, type: 'ClusterIP', publishNotReadyAddresses: false },
};
/** As the API server stores it: without what is false, and with what was stated once. */
const stored: KubeObject = {
  ...rendered,
  spec: { selector: { a: 'b' }, type: 'ClusterIP', loadBalancerClass: 'x' },
};
const reference = { apiVersion: 'v1', kind: 'A', name: 'b', uid: 'u' };
const whole = statedTree(rendered);
const entry = (manager: string, more: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry => ({
  manager,
  operation: 'Apply',
  fieldsV1: whole,
  ...more,
});
const owner = { 'f:metadata': { 'f:ownerReferences': { 'k:{"uid":"u"}': {} } } };
const old = { 'f:spec': { 'f:loadBalancerClass': {} } };
const ours = entry('plumbline');
const status = entry('plumbline', { subresource: 'status' });
const tool = entry('argocd-controller');
const union = (more: Readonly<Record<string, object>>) => ({
  fieldsV1: { ...whole, 'f:spec': { ...whole['f:spec'], ...more['f:spec'] } },
});

const rows: readonly (readonly [what: string, entries: readonly ManagedFieldsEntry[], left: string])[] = [
  ['nobody else applies it', [ours], 'nothing'],
  ['the tool has come to own all', [ours, tool], 'argocd-controller'],
  ['whose status it is stays as it is', [status, tool, ours], 'plumbline,argocd-controller'],
  ['the tool owns a part', [ours, entry('argocd-controller', { fieldsV1: owner })], 'nothing'],
  [
    'of what we have, the tool owns all',
    [entry('plumbline', { fieldsV1: { 'f:spec': { 'f:type': {} } } }), tool],
    'argocd-controller',
  ],
  ['somebody has updated all of it', [ours, entry('kubectl-replace', { operation: 'Update' })], 'nothing'],
  ['nothing of it is ours', [tool], 'nothing'],
  [
    'what is not stored is nobody’s',
    [ours, entry('argocd-controller', { fieldsV1: { ...whole, 'f:spec': { 'f:selector': {}, 'f:type': {} } } })],
    'argocd-controller',
  ],
  ['we have more that is not stated any more', [entry('plumbline', union(old)), tool], 'argocd-controller and a rest'],
  ['so has the tool', [entry('plumbline', union(old)), entry('argocd-controller', union(old))], 'argocd-controller'],
];
for (const [what, managedFields, left] of rows) {
  test(`what is handed back: ${what}`, () => {
    const live = { ...stored, metadata: { ...rendered.metadata, managedFields } };
    const back = handBack(live, 'plumbline', rendered);
    const names = back?.managedFields.map(({ manager }) => manager).join() ?? 'nothing';
    assert.equal(`${names}${back?.hasRest === true ? ' and a rest' : ''}`, left);
  });
}

test('an owner that we state goes with us, and is no rest', () => {
  const kept = { ...rendered, metadata: { ...rendered.metadata, ownerReferences: [reference] } };
  const managedFields = [
    entry('plumbline', { fieldsV1: { ...whole, 'f:metadata': { ...whole['f:metadata'], ...owner['f:metadata'] } } }),
    tool,
  ];
  const live = { ...kept, metadata: { ...kept.metadata, managedFields } };
  assert.equal(handBack(live, 'plumbline', rendered, kept)?.hasRest, false);
});
