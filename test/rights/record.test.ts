import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditedRequest } from '../constructs/install/audit-log.ts';
import { recordOf } from './record.ts';

function request(verb: string, namespace: string, more: Partial<AuditedRequest> = {}): AuditedRequest {
  const userAgent = 'plumbline/1';
  return {
    verb,
    apiGroup: '',
    resource: 'secrets',
    namespace,
    name: '',
    status: 200,
    at: 0,
    userAgent,
    isDenied: false,
    ...more,
  };
}

const denied = { isDenied: true, status: 403 };

test('what a controller was refused is no right that it used', () => {
  const record = recordOf([[request('get', 'shop'), request('list', 'shop', denied)]]);
  assert.deepEqual(record, { used: ['get secrets'], refused: ['list secrets'] });
});

test('a right that goes while Plumbline is uninstalled is not lacking; one to another namespace is, and one of another user', () => {
  assert.deepEqual(recordOf([[request('get', 'shop'), request('get', 'shop', denied)]]).refused, []);
  assert.deepEqual(recordOf([[request('get', 'shop'), request('get', 'bank', denied)]]).refused, ['get secrets']);
  assert.deepEqual(recordOf([[request('get', 'shop')], [request('get', 'shop', denied)]]).refused, ['get secrets']);
});

test('what a test asks for by kubectl is nothing that a controller asked for', () => {
  const userAgent = 'kubectl/v1.36.3';
  assert.deepEqual(
    recordOf([[request('get', 'shop', { userAgent }), request('list', 'shop', { ...denied, userAgent })]]),
    {
      used: [],
      refused: [],
    },
  );
});
