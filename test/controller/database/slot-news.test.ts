import assert from 'node:assert/strict';
import test from 'node:test';
import type { Child } from '../../../controller/database/child.ts';
import { slotNews, type KnownSlots } from '../../../controller/database/slot-news.ts';
import { live, seen, statedOf, resource } from './given.ts';

interface Stated {
  readonly isPrimary?: boolean;
  readonly own?: readonly string[];
  readonly synced?: readonly string[];
}

/** Undefined for a pod whose steward has not spoken. */
function pod(name: string, stated: Stated | undefined): Child {
  const { isPrimary = false, own = [], synced = [] } = stated ?? {};
  const slots = own.map((slot) => ({ name: slot, database: 'app', plugin: 'pgoutput', failover: true }));
  const annotations = stated === undefined ? {} : { 'plumbline.dev/slots': JSON.stringify({ own: slots, synced }) };
  const labels = { 'plumbline.dev/database': 'orders', 'plumbline.dev/role': isPrimary ? 'primary' : 'replica' };
  const status = { conditions: [{ type: 'Ready', status: 'True' }] };
  return seen({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'shop', labels, annotations }, status });
}

function look(before: KnownSlots | undefined, members: readonly (Stated | undefined)[], wanted = members.length) {
  const set = statedOf(resource({ replicas: wanted }), 'StatefulSet/orders');
  const children = [seen(live(set)), ...members.map((stated, i) => pod(`orders-${i}`, stated))];
  const { known, news } = slotNews('orders', before, children);
  return { known, told: news.map(({ reason, message }) => `${reason}: ${message}`) };
}

const leads = { isPrimary: true } as const;
const peace = look(undefined, [{ ...leads, own: ['cdc'] }, { synced: ['cdc'] }]);

test('at first, and as long as nothing happens, nothing is told', () => {
  assert.deepEqual(peace.told, []);
  assert.deepEqual(look(peace.known, [{ ...leads, own: ['cdc'] }, { synced: ['cdc'] }]).told, []);
});

test('a slot that its owner makes or drops on the primary is his own business', () => {
  assert.deepEqual(look(peace.known, [{ ...leads, own: ['cdc', 'etl'] }, {}]).told, []);
  assert.deepEqual(look(peace.known, [{ ...leads }, {}]).told, []);
});

test('a failover to a member that has the slot in step loses nothing; then the outdated copy is named when it goes', () => {
  const over = look(peace.known, [{ own: ['cdc'] }, { ...leads, synced: ['cdc'] }]);
  assert.deepEqual(over.told, []);
  const restated = look(over.known, [{ own: ['cdc'] }, { ...leads, own: ['cdc'] }]);
  assert.deepEqual(restated.told, []);
  assert.deepEqual(look(restated.known, [{ synced: ['cdc'] }, { ...leads, own: ['cdc'] }]).told, [
    'SlotCopyDropped: The outdated copy of logical slot cdc (database app, plugin pgoutput) on orders-0 is gone; orders-1 has the slot.',
  ]);
});

test('a failover that loses the slot is told, also while the old primary is away', () => {
  const before = look(undefined, [{ ...leads, own: ['cdc'] }, {}]);
  const away = look(before.known, [undefined, {}]);
  assert.deepEqual(away.told, []);
  const over = look(away.known, [undefined, leads]);
  assert.equal(over.told.length, 1);
  assert.match(
    over.told[0] ?? '',
    /^SlotLost: orders-1 is the primary now and does not have logical slot cdc .* of orders-0/,
  );
  assert.deepEqual(look(over.known, [{ own: ['cdc'] }, leads]).told, [], 'once');
});

test('a copy that goes with the data of a member is named', () => {
  const before = look(undefined, [{ own: ['cdc'] }, leads]);
  assert.match(look(before.known, [{}, leads]).told[0] ?? '', /^SlotGone: orders-0 does not have logical slot cdc/);
});

test('a slot of a member that the spec takes away is named; one that is only made anew keeps its own', () => {
  const before = look(undefined, [leads, { own: ['cdc'] }]);
  assert.deepEqual(look(before.known, [leads, undefined]).told, []);
  assert.match(look(before.known, [leads], 1).told[0] ?? '', /^SlotGone: orders-1 does not have logical slot cdc/);
});

test('one on a replica is told, as in a database that was created again on its volumes', () => {
  const { told, known } = look(undefined, [{ own: ['cdc'] }, leads]);
  assert.match(told[0] ?? '', /^SlotOnReplica: orders-0 is no primary and has logical slot cdc .* Drop it there/);
  assert.deepEqual(look(known, [{ own: ['cdc'] }, leads]).told, []);
});

test('without a StatefulSet nothing is taken for gone', () => {
  const { known } = look(undefined, [leads, { own: ['cdc'] }]);
  assert.deepEqual(slotNews('orders', known, []).news, []);
});
