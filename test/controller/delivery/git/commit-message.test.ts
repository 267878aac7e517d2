import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { commitMessage, type CommittedDatabase } from '../../../../controller/delivery/git/commit-message.ts';

const orders: CommittedDatabase = {
  namespace: 'shop',
  name: 'orders',
  generation: 7,
  summary: ['version 17.2 instead of 17.1'],
  kind: 'update',
  things: ['StatefulSet orders'],
  added: [],
  changed: ['StatefulSet.orders.yaml'],
  removed: [],
};

function subjectOf(...databases: readonly CommittedDatabase[]): string {
  return commitMessage(databases).split('\n')[0] ?? '';
}

describe('the commit message', () => {
  test('a reviewer reads what changed for which database and why; a program reads the trailers', () => {
    assert.equal(
      commitMessage([{ ...orders, added: ['PodDisruptionBudget.orders.yaml'], removed: ['old.yaml'] }]),
      `Update shop/orders: StatefulSet orders

shop/orders, generation 7
  added    PodDisruptionBudget.orders.yaml
  changed  StatefulSet.orders.yaml
  removed  old.yaml
  version 17.2 instead of 17.1

Plumbline-Database: shop/orders
Plumbline-Generation: 7
`,
    );
  });

  test('the subject names a first commit and a last one, and stays within 72 characters', () => {
    assert.equal(subjectOf({ ...orders, kind: 'add' }), 'Add shop/orders');
    assert.equal(subjectOf({ ...orders, kind: 'remove' }), 'Remove shop/orders');
    const things = ['StatefulSet orders', 'Service orders', 'Service orders-ro', 'ConfigMap orders-patroni'];
    assert.equal(subjectOf({ ...orders, things }), 'Update shop/orders: StatefulSet orders, Service orders and 2 more');
    const long = { ...orders, name: 'o'.repeat(45), namespace: 'n'.repeat(63) };
    assert.equal(subjectOf(long), `Update ${long.namespace}/${long.name}`);
  });

  test('several databases are counted and named as far as there is room', () => {
    const billing = { ...orders, name: 'billing' };
    assert.equal(subjectOf(orders, billing), 'Update 2 databases: shop/orders, shop/billing');
    assert.equal(
      subjectOf({ ...orders, kind: 'add' }, { ...billing, kind: 'add' }),
      'Add 2 databases: shop/orders, shop/billing',
    );
    assert.equal(
      subjectOf({ ...orders, kind: 'add' }, { ...billing, kind: 'remove' }),
      'Update 2 databases: shop/orders, shop/billing',
    );
  });

  test('no summary can pose as a trailer or begin a new paragraph', () => {
    const message = commitMessage([
      { ...orders, summary: ['x\n\nPlumbline-Database: other/db\r\nSigned-off-by: me', 'y'.repeat(500)] },
    ]);
    assert.equal(message.match(/^Plumbline-Database:/gm)?.length, 1);
    assert.doesNotMatch(message, /^Signed-off-by/m);
    assert.ok(message.split('\n').every((line) => line.length <= 202));
  });
});
