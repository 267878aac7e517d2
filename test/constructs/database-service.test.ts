import { App, Chart } from 'cdk8s';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DatabaseService } from '../../constructs/index.ts';
import type { DatabaseServiceSpec } from '../../constructs/api/spec.ts';
import { render } from '../../constructs/render.ts';
import { everything, orders } from './postgresql/orders.ts';

function chart(): Chart {
  return new Chart(new App(), 'chart');
}

test('the construct makes what render() makes', () => {
  // GIVEN
  const { metadata, spec } = orders(everything);
  const scope = chart();
  // WHEN
  new DatabaseService(scope, 'orders', { metadata, spec });
  // THEN
  assert.deepEqual(scope.toJson(), render(orders(everything)));
});

test('names and selectors do not follow the construct’s path: moving it changes nothing', () => {
  const { metadata, spec } = orders(everything);
  const outer = chart();
  const moved = new Chart(outer, 'elsewhere');
  new DatabaseService(moved, 'under-another-name', { metadata, spec });
  assert.deepEqual(moved.toJson(), render(orders(everything)));
});

test('other constructs learn where to connect and which Secret to mount', () => {
  const { metadata, spec } = orders();
  const database = new DatabaseService(chart(), 'orders', { metadata, spec });
  assert.deepEqual(database.endpoints, { readWrite: 'orders', readOnly: 'orders-ro', port: 5432 });
  assert.equal(database.credentialsSecret, 'orders-credentials');
  assert.equal(database.systemSecret, 'orders-system');
});

test('other constructs learn which Secret clients verify by', () => {
  const secretOf = (changes: Partial<DatabaseServiceSpec>) => {
    const { metadata, spec } = orders(changes);
    return new DatabaseService(chart(), 'orders', { metadata, spec }).certificateSecret;
  };
  assert.equal(secretOf({}), 'orders-tls');
  assert.equal(secretOf({ tls: { mode: 'Existing', secretName: 'mine' } }), 'mine');
  assert.equal(secretOf({ tls: { mode: 'Off' } }), undefined);
});

test('an existing Secret is the one to mount', () => {
  const { metadata, spec } = orders({ credentials: { source: 'Existing', secretName: 'login' } });
  assert.equal(new DatabaseService(chart(), 'orders', { metadata, spec }).credentialsSecret, 'login');
});

test('wrong props are refused with the construct’s path, every field and what to do', () => {
  const { metadata, spec } = orders();
  const wrong = { ...spec, version: 17, replicas: 99 } as unknown as DatabaseServiceSpec;
  assert.throws(
    () => new DatabaseService(chart(), 'orders', { metadata, spec: wrong }),
    (error: Error) => {
      assert.match(error.message, /DatabaseService at chart\/orders is not valid/);
      assert.match(error.message, /spec\.version/);
      assert.match(error.message, /spec\.replicas/);
      return true;
    },
  );
});

test('two databases live in one chart', () => {
  const scope = chart();
  for (const name of ['orders', 'bills']) {
    const { metadata, spec } = orders(everything, name);
    new DatabaseService(scope, name, { metadata, spec });
  }
  assert.equal(scope.toJson().length, 2 * render(orders(everything)).length);
});

test('isDatabaseService knows them', () => {
  const { metadata, spec } = orders();
  const scope = chart();
  assert.ok(DatabaseService.isDatabaseService(new DatabaseService(scope, 'orders', { metadata, spec })));
  for (const other of [scope, {}, null, undefined, 'orders'])
    assert.equal(DatabaseService.isDatabaseService(other), false);
});
