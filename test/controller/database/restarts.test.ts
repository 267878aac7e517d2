import assert from 'node:assert/strict';
import test from 'node:test';
import type { Child } from '../../../controller/database/child.ts';
import { restartsInWords, restartsOf } from '../../../controller/database/restarts.ts';
import { resource, seen } from './given.ts';

const head = (name: string, revision?: string) => ({
  name,
  namespace: 'shop',
  labels: {
    'plumbline.dev/database': 'orders',
    ...(revision === undefined ? {} : { 'controller-revision-hash': revision }),
  },
});

/** The StatefulSet, whose newest template has the revision `b`. */
const set = (isObserved: boolean): Child =>
  seen({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { ...head('orders'), generation: 2 },
    spec: { replicas: 3 },
    status: { observedGeneration: isObserved ? 2 : 1, updateRevision: 'b' },
  });
const pod = (ordinal: number, revision: string): Child =>
  seen({ apiVersion: 'v1', kind: 'Pod', metadata: head(`orders-${ordinal}`, revision) });

const image = { object: 'StatefulSet/orders', field: 'spec.template.spec.containers[name=postgres].image' };
const replicas = { object: 'StatefulSet/orders', field: 'spec.replicas' };
const schedule = { object: 'CronJob/orders-backup', field: 'spec.jobTemplate.spec.template.spec.nodeSelector' };
const byKubernetes = resource({ upgrade: { rollout: 'StatefulSet' } });

const rows: readonly (readonly [
  what: string,
  drifts: readonly (typeof image)[],
  children: readonly Child[],
  database: typeof byKubernetes,
  done: string | undefined,
  left: string | undefined,
])[] = [
  ['what is no template', [replicas, schedule], [set(true), pod(0, 'b')], resource(), undefined, undefined],
  [
    'a template that nothing was made from',
    [image],
    [set(true), pod(0, 'a'), pod(1, 'a')],
    resource(),
    'No member restarts for that.',
    'To put it back restarts no member.',
  ],
  [
    'a template that Kubernetes has not looked at',
    [image],
    [set(false), pod(0, 'b')],
    resource(),
    'No member restarts for that.',
    'To put it back restarts no member.',
  ],
  [
    'a template that one was made from',
    [replicas, image],
    [set(true), pod(0, 'a'), pod(1, 'b')],
    resource(),
    'That restarts the member that was made from it (orders-1).',
    'To put it back restarts the member that was made from it (orders-1).',
  ],
  [
    'a template that several were made from',
    [image],
    [set(true), pod(1, 'b'), pod(0, 'b'), pod(2, 'a')],
    resource(),
    'That restarts the 2 members that were made from it (orders-0, orders-1), replicas first.',
    'To put it back restarts the 2 members that were made from it (orders-0, orders-1), replicas first.',
  ],
  [
    'a template that Kubernetes rolls out',
    [image],
    [set(true), pod(0, 'a')],
    byKubernetes,
    'Kubernetes restarts the members for that.',
    'To put it back restarts the members.',
  ],
];

for (const [what, drifts, children, database, done, left] of rows) {
  test(`the cost of putting back ${what}: ${done ?? 'none is said'}`, () => {
    const restarts = restartsOf(database, children);
    assert.equal(restartsInWords(drifts, restarts, true), done);
    assert.equal(restartsInWords(drifts, restarts, false), left);
  });
}
