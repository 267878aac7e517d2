import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { GitDeliveryError } from '../../../../controller/delivery/git/git-delivery-error.ts';
import { inspectFile } from '../../../../controller/delivery/git/gate.ts';
import { database, givenRemote, givenWriter, submission } from './given.ts';

const refused: readonly (readonly [string, string])[] = [
  ['a Secret with data', 'kind: Secret\ndata: {password: cGFzcw==}'],
  ['a Secret with stringData', 'apiVersion: v1\nkind: "Secret"\nstringData:\n  password: hunter2'],
  ['the second document', 'kind: Service\n---\nkind: Secret\ndata: {a: Yg==}'],
  ['an item of a List', 'kind: List\nitems:\n- kind: Secret\n  data: {a: Yg==}'],
  ['JSON', '{"kind":"Secret","data":{"a":"Yg=="}}'],
  ['a merge key', 'x: &x {kind: Secret}\nmanifest:\n  <<: *x\n  data: {a: Yg==}'],
  ['an explicit tag', 'kind: !!str Secret\ndata: {a: Yg==}'],
  ['data that is no map', 'kind: Secret\ndata: hunter2'],
];

const allowed: readonly (readonly [string, string, string])[] = [
  ['a StatefulSet', 'kind: StatefulSet\nmetadata: {name: orders}', 'StatefulSet orders'],
  ['a Secret without values', 'kind: Secret\nmetadata: {name: s}\ndata: {}', 'Secret s'],
  [
    'an ExternalSecret',
    'kind: ExternalSecret\nmetadata: {name: s}\nspec: {data: [{secretKey: a}]}',
    'ExternalSecret s',
  ],
  ['a reference to a Secret', 'kind: Pod\nmetadata: {name: p}\nspec: {ref: {kind: Secret, name: s}}', 'Pod p'],
  ['anchors in a circle', 'a: &a [*a]', 'x.yaml'],
  ['an empty file', '', 'x.yaml'],
];

describe('the last gate before Git', () => {
  for (const [what, content] of refused) {
    test(`a Secret with values is refused: ${what}`, () => {
      assert.throws(() => inspectFile('x.yaml', content), {
        reason: 'SecretRefused',
        message: /^x\.yaml holds a Secret/,
      });
    });
  }

  const password = 'Tr0ub4dor&3-and-more';
  for (const [what, content] of [
    ['in a value', `kind: ConfigMap\ndata: {a: 'user=app password=${password}'}`],
    ['in a key', `kind: ConfigMap\ndata: {'${password}': a}`],
    ['with escapes', 'kind: ConfigMap\ndata: {a: "\\x54r0ub4dor&3-and-more"}'],
    ['in base64', `kind: ConfigMap\ndata: {a: ${Buffer.from(password).toString('base64')}}`],
    ['in a URI', `kind: ConfigMap\ndata: {a: 'postgresql://app:${encodeURIComponent(password)}@host'}`],
    ['in a comment', `kind: ConfigMap # ${password}`],
  ] as const) {
    test(`a known password is refused ${what}, and not quoted`, () => {
      assert.throws(
        () => inspectFile('x.yaml', content, ['another-password', password]),
        ({ reason, message }: GitDeliveryError) =>
          reason === 'SecretRefused' && message.startsWith('x.yaml holds a password') && !message.includes(password),
      );
    });
  }

  test('what is no known password passes', () => {
    assert.equal(inspectFile('x.yaml', 'kind: A\nmetadata: {name: b}', [password]), 'A b');
  });

  for (const [what, content, thing] of allowed) {
    test(`passes: ${what}`, () => assert.equal(inspectFile('x.yaml', content), thing));
  }

  test('a manifest that nobody can read is refused without a quotation of it; a text file need not be YAML', () => {
    const content = 'kind: Secret\nkind: Service\nstringData: {password: hunter2}';
    assert.throws(
      () => inspectFile('x.yaml', content),
      (error: Error) => {
        assert.match(error.message, /can't be read as YAML/);
        assert.doesNotMatch(JSON.stringify([error.message, error.stack, error.cause]), /hunter2/);
        return true;
      },
    );
    assert.equal(inspectFile('README.md', '# Orders: {'), 'README.md');
  });

  test('a database with a Secret reaches no commit, and the others of the same second are not held up', async (t) => {
    const remote = givenRemote(t);
    const writer = await givenWriter(t, remote);
    const [bad, good] = await Promise.allSettled([
      writer.submit(submission('orders', { 's.yaml': 'kind: Secret\nstringData: {password: hunter2}' })),
      writer.submit(database('billing')),
    ]);
    assert.equal(bad.status, 'rejected');
    assert.equal(good.status, 'fulfilled');
    assert.doesNotMatch(remote.inRemote('log', '-p', 'main'), /hunter2/);
  });
});
