import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { commitMessage, type CommittedDatabase } from '../../../../controller/delivery/git/commit-message.ts';
import { hiddenValue, type Difference } from '../../../../controller/drift/index.ts';

const orders: CommittedDatabase = {
  namespace: 'shop',
  name: 'orders',
  generation: 7,
  renderHash: 'd1ff',
  summary: ['version 17.2 instead of 17.1'],
  kind: 'update',
  things: ['StatefulSet orders'],
  added: [],
  changed: [{ path: 'StatefulSet.orders.yaml', fields: [] }],
  removed: [],
};

function subjectOf(...databases: readonly CommittedDatabase[]): string {
  return commitMessage(databases).split('\n')[0] ?? '';
}

const image = 'spec.template.spec.containers[name=postgres].image';

function withFields(...fields: readonly Difference[]): CommittedDatabase {
  return { ...orders, changed: [{ path: 'StatefulSet.orders.yaml', fields }] };
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
Plumbline-Render-Hash: d1ff
`,
    );
  });

  test('the fields stand below their file, with short values before and after', () => {
    const message = commitMessage([
      withFields(
        { field: image, was: 'pg:17.1', now: 'pg:17.2' },
        { field: 'spec.replicas', was: '2', now: '3' },
        { field: 'metadata.labels.team', was: undefined, now: 'shop' },
        { field: 'spec.paused', was: 'true', now: undefined },
        { field: 'spec.template.spec.containers[name=postgres].env[name=A].value', was: hiddenValue, now: hiddenValue },
        { field: 'spec.long', was: 'x'.repeat(61), now: 'y' },
      ),
    ]);
    assert.ok(
      message.includes(`
  changed  StatefulSet.orders.yaml
    ${image}: pg:17.1 → pg:17.2
    spec.replicas: 2 → 3
    metadata.labels.team is new: shop
    spec.paused is gone: true
    spec.template.spec.containers[name=postgres].env[name=A].value
    spec.long
  version 17.2 instead of 17.1
`),
      message,
    );
  });

  test('of many fields the first twelve are shown, and how many more there are', () => {
    const fields = Array.from({ length: 30 }, (_, index) => ({ field: `spec.a${index}`, was: '1', now: '2' }));
    const changed = [
      { path: 'a.yaml', fields },
      { path: 'b.yaml', fields: fields.slice(0, 1) },
    ];
    const lines = commitMessage([{ ...orders, changed }]).split('\n');
    assert.equal(lines.filter((line) => line.includes('→')).length, 12);
    assert.ok(lines.includes('    18 more fields'));
    assert.equal(lines[lines.indexOf('  changed  b.yaml') + 1], '    1 field');
  });

  test('the subject of a change of fields names these, and the values of a single one', () => {
    const replicas = { field: 'spec.replicas', was: '2', now: '3' };
    assert.equal(subjectOf(withFields(replicas)), 'Update shop/orders: replicas 2 → 3');
    const long = { field: image, was: 'a'.repeat(40), now: 'b'.repeat(40) };
    assert.equal(subjectOf(withFields(long)), 'Update shop/orders: image');
    assert.equal(subjectOf(withFields(long, replicas, replicas)), 'Update shop/orders: image, replicas');
    const script = { field: 'data[setup.sh]', was: hiddenValue, now: hiddenValue };
    assert.equal(subjectOf(withFields(script)), 'Update shop/orders: data[setup.sh]');
    assert.equal(subjectOf({ ...withFields(script), added: ['b.yaml'] }), 'Update shop/orders: StatefulSet orders');
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
      withFields({ field: 'spec.a', was: 'x\n\nSigned-off-by: me', now: 'x\n\nPlumbline-Database: other/db' }),
    ]);
    assert.deepEqual(message.match(/^Plumbline-Database: .*/gm), Array(2).fill('Plumbline-Database: shop/orders'));
    assert.doesNotMatch(message, /^Signed-off-by/m);
    assert.ok(message.split('\n').every((line) => line.length <= 202));
  });
});
