import assert from 'node:assert/strict';
import test from 'node:test';
import { knownPasswords } from '../../../controller/delivery/known-passwords.ts';
import type { StoredSpec } from '../../../constructs/api/spec.ts';
import { KubeError, type Kube } from '../../../controller/kube/index.ts';
import { resource } from '../database/given.ts';

const owner = 'an-owner-password-of-32-letters-';
const superuser = 'a-superuser-password-of-the-same';
const never = new AbortController().signal;

/** Secrets by name, each with its values. */
function given(all: Readonly<Record<string, Readonly<Record<string, string>>>>) {
  const read: string[] = [];
  const get = async (_type: unknown, { name }: { readonly name: string }) => {
    read.push(name);
    const values = all[name];
    if (values === undefined) {
      const tried = { verb: 'get', kind: 'Secret', object: name };
      const details = { name, causes: [] };
      throw new KubeError({ tried, message: 'not found', status: 404, reason: 'NotFound', details });
    }
    const data = Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
    return { metadata: { name }, data: Object.fromEntries(data) } as never;
  };
  return { kube: { get } as Partial<Kube> as Kube, read };
}

const all = {
  'orders-credentials': { username: 'a-user-of-many-letters', password: owner, port: '5432' },
  'orders-system': { superuser, rewind: 'short' },
};
const long: Partial<StoredSpec> = { parameters: { log_line_prefix: '%m [%p] %q%u@%d ' } };

test('a spec without a text as long as a password costs no request', async () => {
  const { kube, read } = given(all);
  assert.deepEqual(await knownPasswords(kube, resource({ scheduling: { nodeSelector: { disk: 'fast' } } }), never), []);
  assert.deepEqual(read, []);
});

test('of any other the passwords are read, of at least 16 characters', async () => {
  const { kube, read } = given(all);
  assert.deepEqual(await knownPasswords(kube, resource(long), never), [owner, superuser]);
  assert.deepEqual(read, ['orders-credentials', 'orders-system']);
});

test('the Secret of the user is the one that is named', async () => {
  const { kube, read } = given({});
  const credentials = { source: 'Existing', secretName: 'orders-login' } as const;
  assert.deepEqual(await knownPasswords(kube, resource({ ...long, credentials }), never), []);
  assert.deepEqual(read, ['orders-login', 'orders-system']);
});
