import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { connectionUri, credentialsSecret, systemSecret } from '../../../constructs/postgresql/credentials.ts';
import { patterns } from '../../../constructs/api/patterns.ts';
import { render } from '../../../constructs/render.ts';
import { everything, orders } from './orders.ts';

function decoded(data: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(data as Record<string, string>).map(([key, value]) => [
      key,
      Buffer.from(value, 'base64').toString(),
    ]),
  );
}

const nasty = `p@ss:w/o?r#d%41 '"\\$x{}`;

test('applications find everything that they need in the Secret', () => {
  const secret = credentialsSecret(orders({ database: 'Order-Data', username: 'app-user' }), nasty);
  assert.deepEqual(secret.metadata, {
    name: 'orders-credentials',
    namespace: 'shop',
    labels: { 'app.kubernetes.io/managed-by': 'plumbline', 'plumbline.dev/database': 'orders' },
  });
  assert.deepEqual(decoded(secret['data']), {
    username: 'app-user',
    password: nasty,
    dbname: 'Order-Data',
    host: 'orders.shop.svc',
    port: '5432',
    uri: 'postgresql://app-user:p%40ss%3Aw%2Fo%3Fr%23d%2541%20%27%22%5C%24x%7B%7D@orders.shop.svc:5432/Order-Data?sslmode=require',
  });
});

test('the passwords of the system have a Secret of their own', () => {
  const passwords = { superuser: 'a', replication: 'b', rewind: 'c', restapi: 'd' };
  const secret = systemSecret(orders(), passwords);
  assert.equal(secret.metadata.name, 'orders-system');
  assert.deepEqual(decoded(secret['data']), passwords);
});

test('Secrets are stated in data, so that their owner can be told', () => {
  for (const secret of [credentialsSecret(orders(), 'x'), systemSecret(orders(), passwordsOf('x'))]) {
    assert.deepEqual(Object.keys(secret).sort(), ['apiVersion', 'data', 'kind', 'metadata', 'type']);
    assert.equal(secret['type'], 'Opaque');
  }
});

function passwordsOf(text: string) {
  return { superuser: text, replication: text, rewind: text, restapi: text };
}

test('any password, and every name that the schema allows, come back from the URI (apache/superset#13456)', () => {
  const names = fc.stringMatching(new RegExp(patterns.sqlName));
  fc.assert(
    fc.property(names, fc.string({ unit: 'grapheme' }), (name, password) => {
      const uri = new URL(connectionUri({ username: name, password, host: 'h', port: '5432', dbname: name }));
      assert.equal(decodeURIComponent(uri.username), name);
      assert.equal(decodeURIComponent(uri.password), password);
      assert.equal(decodeURIComponent(uri.pathname.slice(1)), name);
      assert.equal(uri.host, 'h:5432');
    }),
  );
});

test('render() makes no Secret', () => {
  assert.ok(render(orders(everything)).every(({ kind }) => kind !== 'Secret'));
});
