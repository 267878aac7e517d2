import type { V1PodDisruptionBudget, V1Service, V1StatefulSet, V1NetworkPolicy } from '@kubernetes/client-node';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { render } from '../../../constructs/render.ts';
import { everything, orders, podTemplates, rendered } from './orders.ts';

type Labels = Readonly<Record<string, string>>;

const database = orders(everything);
const [members, backup] = ['StatefulSet/orders', 'CronJob/orders-backup'].map(
  (owner) => podTemplates(database).find((template) => template.owner === owner)?.metadata.labels ?? {},
);

function matches(selector: Labels | undefined, labels: Labels | undefined): boolean {
  assert.ok(selector && labels && Object.keys(selector).length > 0);
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}

/** As Patroni stamps it. */
const asRole = (role: string): Labels => ({ ...members, 'plumbline.dev/role': role });

/** Every selector of the members. */
const selectors = (): ReadonlyMap<string, Labels> => {
  const statefulSet = rendered<V1StatefulSet>(database, 'StatefulSet', 'orders').spec;
  const spread = statefulSet?.template.spec?.topologySpreadConstraints ?? [];
  return new Map([
    ...['orders', 'orders-ro', 'orders-members'].map(
      (name) => [`Service ${name}`, rendered<V1Service>(database, 'Service', name).spec?.selector ?? {}] as const,
    ),
    ['StatefulSet', statefulSet?.selector.matchLabels ?? {}],
    [
      'PodDisruptionBudget',
      rendered<V1PodDisruptionBudget>(database, 'PodDisruptionBudget', 'orders').spec?.selector?.matchLabels ?? {},
    ],
    [
      'NetworkPolicy',
      rendered<V1NetworkPolicy>(database, 'NetworkPolicy', 'orders').spec?.podSelector?.matchLabels ?? {},
    ],
    ...spread.map((rule) => [`spread by ${rule.topologyKey}`, rule.labelSelector?.matchLabels ?? {}] as const),
    ['Patroni', { 'plumbline.dev/patroni': 'orders-patroni' }],
  ]);
};

test('the pod of a backup matches no selector of the members (zalando/postgres-operator#593)', () => {
  for (const [name, selector] of selectors()) assert.equal(matches(selector, backup), false, name);
});

test('a primary matches every selector of the members but that of the replicas', () => {
  for (const [name, selector] of selectors()) {
    assert.equal(matches(selector, asRole('primary')), name !== 'Service orders-ro', name);
  }
});

test('a replica matches every selector of the members but that of the primary', () => {
  for (const [name, selector] of selectors()) {
    assert.equal(matches(selector, asRole('replica')), name !== 'Service orders', name);
  }
});

test('a member without a role is led to by neither Service', () => {
  const all = selectors();
  assert.equal(matches(all.get('Service orders'), members), false);
  assert.equal(matches(all.get('Service orders-ro'), members), false);
  assert.equal(matches(all.get('Service orders-members'), members), true);
});

test('no selector matches the members of another database', () => {
  const other = podTemplates(orders(everything, 'orders-ro'))[0]?.metadata.labels;
  for (const [name, selector] of selectors()) assert.equal(matches(selector, other), false, name);
});

test('selectors use labels of Plumbline alone, so that a GitOps tool may overwrite every other (argo-cd#5431)', () => {
  for (const [name, selector] of selectors()) {
    for (const key of Object.keys(selector)) assert.match(key, /^plumbline\.dev\//, name);
  }
});

test('the role is not in the pod template: it is Patroni that writes it', () => {
  assert.equal(members?.['plumbline.dev/role'], undefined);
});

test('what must outlive its owner carries no label that Argo CD tracks by (argo-cd#12388)', () => {
  const claims = render(database).filter(({ kind }) => kind === 'PersistentVolumeClaim');
  const template = rendered<V1StatefulSet>(database, 'StatefulSet', 'orders').spec?.volumeClaimTemplates?.[0];
  assert.equal(claims.length, 1);
  for (const labels of [claims[0]?.metadata.labels, template?.metadata?.labels]) {
    assert.equal(labels?.['app.kubernetes.io/instance'], undefined);
  }
  assert.deepEqual(template?.metadata?.labels, { 'plumbline.dev/database': 'orders' });
});

test('everything that is rendered says that Plumbline manages it, and of which database it is', () => {
  for (const { kind, metadata } of render(database)) {
    assert.equal(metadata.labels?.['app.kubernetes.io/managed-by'], 'plumbline', `${kind} ${metadata.name}`);
    assert.equal(metadata.labels['plumbline.dev/database'], 'orders', `${kind} ${metadata.name}`);
  }
});
