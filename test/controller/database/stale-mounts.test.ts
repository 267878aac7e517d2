import assert from 'node:assert/strict';
import test from 'node:test';
import { staleMounts } from '../../../controller/database/stale-mounts.ts';
import type { Child } from '../../../controller/database/child.ts';
import { podFacts } from '../health/given.ts';
import { resource, seen } from './given.ts';

const made = Date.parse('2026-01-01T12:00:00Z');
const labels = { 'plumbline.dev/database': 'orders' };

/** A Secret that was changed so many seconds after the members were made. */
function secret(name: string, version: string, changedAfter: number): Child {
  const time = new Date(made + changedAfter * 1_000).toISOString();
  const metadata = { name, namespace: 'shop', uid: name, resourceVersion: version, labels, managedFields: [{ time }] };
  return seen({ apiVersion: 'v1', kind: 'Secret', metadata });
}

function pod(name: string, refreshed: Readonly<Record<string, string>> = {}): Child {
  const child = seen({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'shop', uid: name, labels } });
  return { ...child, facts: podFacts({ createdAt: made, refreshed }) };
}

const system = secret('orders-system', '5', -1);

for (const [what, secrets, refreshed, isStale] of [
  ['a Secret that is older than the member', [secret('orders-credentials', '7', -1)], {}, false],
  ['one that was made within the same second', [secret('orders-credentials', '7', 0)], {}, false],
  ['one that was changed since', [secret('orders-credentials', '7', 1)], {}, true],
  ['a change that the kubelet knows of', [secret('orders-credentials', '7', 1)], { 'orders-credentials': '7' }, false],
  ['a change after that', [secret('orders-credentials', '8', 9)], { 'orders-credentials': '7' }, true],
  ['one that was put back', [secret('orders-credentials', '8', -5)], { 'orders-credentials': '7' }, true],
  ['one that is gone', [], { 'orders-credentials': '7' }, false],
  ['the certificate', [secret('orders-tls', '7', 1)], {}, true],
  ['the authority, which nothing mounts', [secret('orders-tls-ca', '7', 1)], {}, false],
  ['a Secret of somebody else that bears the label', [secret('mine', '7', 1)], {}, false],
] as const) {
  test(`what a member mounts, with ${what}: ${isStale ? 'stale' : 'up to date'}`, () => {
    const { pods, versions } = staleMounts(resource(), [system, ...secrets, pod('orders-0', refreshed)]);
    assert.deepEqual(
      pods.map(({ name }) => name),
      isStale ? ['orders-0'] : [],
    );
    assert.equal(versions['orders-system'], '5');
  });
}

test('a Secret of the user counts when it bears the label', () => {
  const database = resource({ credentials: { source: 'Existing', secretName: 'mine' } });
  const { pods, versions } = staleMounts(database, [secret('mine', '7', 1), pod('orders-0')]);
  assert.deepEqual([pods.length, versions], [1, { mine: '7' }]);
});

test('a pod that is no member, or leaves, or has ended, is left alone', () => {
  const leaving = { ...pod('orders-0'), isDeleting: true };
  const ended = { ...pod('orders-1'), facts: podFacts({ createdAt: made, isEnded: true }) };
  const changed = secret('orders-credentials', '7', 1);
  assert.deepEqual(staleMounts(resource(), [changed, leaving, ended, pod('orders-backup-1')]).pods, []);
});
