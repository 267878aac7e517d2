import assert from 'node:assert/strict';
import test from 'node:test';
import { readFileSync, readdirSync } from 'node:fs';
import { blockerOf } from '../../../controller/database/blocker.ts';
import { reasons } from '../../../controller/health/reasons.ts';
import { ConnectionError, KubeError, type KubeErrorFacts } from '../../../controller/kube/index.ts';

const tried = { verb: 'apply', kind: 'Service', object: 'shop/orders' };
const error = (facts: Partial<KubeErrorFacts>): KubeError => new KubeError({ tried, message: 'its words', ...facts });
const forbidden = { status: 403, reason: 'Forbidden' };

const rows: readonly (readonly [what: string, error: unknown, reason: string, isStalled: boolean, next: string])[] = [
  [
    'a namespace that is being deleted',
    error({ ...forbidden, details: { causes: [{ reason: 'NamespaceTerminating' }] } }),
    'NamespaceTerminating',
    true,
    'wait',
  ],
  [
    'a namespace that is gone',
    error({ status: 404, reason: 'NotFound', details: { kind: 'namespaces', name: 'shop', causes: [] } }),
    'NamespaceTerminating',
    true,
    'wait',
  ],
  [
    'a quota',
    error({ ...forbidden, message: 'exceeded quota: q, requested: services=1' }),
    'QuotaExceeded',
    true,
    'look-again',
  ],
  ['a missing right', error(forbidden), 'Forbidden', true, 'look-again'],
  [
    'a policy that refuses',
    error({
      status: 422,
      reason: 'Invalid',
      message: "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
    }),
    'AdmissionDenied',
    true,
    'look-again',
  ],
  ['a kind that is not served', error({ status: 404, reason: 'NotFound' }), 'KindMissing', true, 'look-again'],
  [
    'a port that another manager holds under its old number',
    error({ status: 422, reason: 'Invalid', details: { causes: [{ reason: 'FieldValueDuplicate' }] } }),
    'HeldByOthers',
    true,
    'look-again',
  ],
  [
    'a field that cannot be changed',
    error({ status: 422, reason: 'Invalid', message: 'field is immutable' }),
    'Refused',
    true,
    'look-again',
  ],
  ['an object that is not valid', error({ status: 422, reason: 'Invalid' }), 'Refused', true, 'look-again'],
  ['a busy server', error({ status: 429, reason: 'TooManyRequests' }), 'ApiUnreachable', false, 'retry'],
  ['a server in trouble', error({ status: 503, reason: 'ServiceUnavailable' }), 'ApiUnreachable', false, 'retry'],
  ['no answer', error({ reason: 'ClientTimeout' }), 'ApiUnreachable', false, 'retry'],
  ['no connection', new ConnectionError('unreachable', 'its words'), 'ApiUnreachable', false, 'retry'],
  ['a mistake in the program', new TypeError('its words'), 'InternalError', false, 'retry'],
];

for (const [what, thrown, reason, isStalled, next] of rows) {
  test(`${what} → ${reason}`, () => {
    const blocker = blockerOf(thrown, 'Service orders');
    assert.deepEqual([blocker.reason, blocker.isStalled, blocker.next.kind], [reason, isStalled, next]);
    assert(blocker.message.startsWith('Service orders: '), blocker.message);
    const words = thrown instanceof KubeError ? thrown.serverMessage : 'its words';
    assert(blocker.message.endsWith(words), blocker.message);
  });
}

test('what was called final is looked at seldom', () => {
  assert.deepEqual(blockerOf(error({ status: 422, reason: 'Invalid' }), 'x').next, {
    kind: 'look-again',
    isSeldom: true,
  });
  assert.deepEqual(blockerOf(error(forbidden), 'x').next, { kind: 'look-again' });
});

test('the longest message of a server fits into a condition', () => {
  assert(blockerOf(error({ status: 422, message: 'x'.repeat(100_000) }), 'Service orders').message.length <= 2_000);
});

test('where a field cannot be changed the command is said whole, however long the server talks', () => {
  const set = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'orders', namespace: 'shop' } };
  const immutable = error({ status: 422, message: `field is immutable ${'x'.repeat(100_000)}` });
  const { message } = blockerOf(immutable, 'StatefulSet orders', set);
  assert(message.length <= 2_000);
  const command = 'kubectl -n shop delete statefulset orders --cascade=orphan';
  assert(message.endsWith(`Run \`${command}\`, and Plumbline makes it again.`), message);
});

test('of what nobody could make again, a deletion is never proposed', () => {
  const immutable = error({ status: 422, message: 'type: field is immutable' });
  for (const kind of ['Secret', 'PersistentVolumeClaim']) {
    const object = { apiVersion: 'v1', kind, metadata: { name: 'orders', namespace: 'shop' } };
    assert.equal(blockerOf(immutable, `${kind} orders`, object).message, `${kind} orders: type: field is immutable`);
  }
});

test('every reason is said somewhere, and explained in a sentence', () => {
  const folder = new URL('../../../controller/', import.meta.url);
  const sources = ['database', 'health', 'rollout']
    .flatMap((name) => readdirSync(new URL(`${name}/`, folder)).map((file) => `${name}/${file}`))
    .filter((file) => !file.endsWith('reasons.ts'))
    .map((file) => readFileSync(new URL(file, folder), 'utf8'))
    .join('\n');
  for (const [reason, explained] of Object.entries(reasons)) {
    assert(sources.includes(`'${reason}'`), `${reason} is never said`);
    assert.match(explained, /^[A-Za-z].*\.$/, reason);
  }
});
