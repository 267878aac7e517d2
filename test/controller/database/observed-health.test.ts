import assert from 'node:assert/strict';
import test from 'node:test';
import type { Child } from '../../../controller/database/child.ts';
import { observedHealth } from '../../../controller/database/observed-health.ts';
import { resource, seen, statedOf, live } from './given.ts';

const database = resource({ replicas: 2 });
const labels = { 'plumbline.dev/database': 'orders' };
const pod = (name: string, message: string): Child =>
  seen({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'shop', labels },
    status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }] },
  });
const set = (name: string, replicas: number): Child => {
  const object = live(statedOf(database, 'StatefulSet/orders'), { fields: { status: { replicas } } });
  return seen({ ...object, metadata: { ...object.metadata, name } });
};
const [second, tenth] = [pod('orders-2', 'second'), pod('orders-10', 'tenth')];

test('of members in trouble the first by number is told, in whatever order their events come', () => {
  for (const children of [
    [second, tenth],
    [tenth, second],
  ]) {
    const { health } = observedHealth(database, children, undefined, undefined);
    assert.equal(health.ready.message, '0 of 2 members are ready. orders-2 finds no node: Unschedulable: second');
  }
});

test('what somebody else gives our label is no member, and no StatefulSet of the database', () => {
  const strangers = [set('orders-copy', 7), pod('orders-backup-x1', 'stranger'), pod('other-0', 'stranger')];
  const { health, replicas } = observedHealth(database, [...strangers, set('orders', 2)], undefined, undefined);
  assert.deepEqual([replicas, health.ready.message], [2, '0 of 2 members are ready.']);
});

test('of a spec that breaks every rule the health can be told all the same', () => {
  const broken = { ...database, spec: undefined } as unknown as typeof database;
  assert.equal(observedHealth(broken, [], undefined, undefined).health.phase, 'Provisioning');
});
