import assert from 'node:assert/strict';
import test from 'node:test';
import { Children } from '../../../controller/database/children.ts';
import { isSettled, planOne } from '../../../controller/database/plan.ts';
import type { KubeObject } from '../../../controller/kube/index.ts';
import { changed, disowned } from '../drift/live.ts';
import { live, observed, resource, statedOf, type Live } from './given.ts';

const service = statedOf(resource(), 'Service/orders');
const key = service.key;
const at = (resourceVersion: string, more: Live = {}): KubeObject => live(service, { resourceVersion, ...more });
/** Somebody changed the selector. */
const editedAt = (version: string): KubeObject =>
  disowned(changed(at(version), ['spec', 'selector'], { app: 'x' }), ['f:spec', 'f:selector']);
const podAt = (version: string, ready: 'True' | 'False'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'orders-0',
    namespace: 'shop',
    uid: 'pod',
    resourceVersion: version,
    labels: { 'plumbline.dev/database': 'orders' },
  },
  status: { conditions: [{ type: 'Ready', status: ready }] },
});
const seenDeletion = { uid: 'uid-Service', isSeen: true };

class Given {
  readonly changes: string[] = [];
  readonly children = new Children((database, change) => this.changes.push(`${change} ${database}`));

  /** What has woken databases since the last look. */
  get woken(): readonly string[] {
    return this.changes.splice(0);
  }

  get isSuspect(): boolean | undefined {
    const child = this.children.get(key);
    return child && child.suspect !== undefined;
  }
}

test('an object that a watch shows first is to be looked at', () => {
  const given = new Given();
  given.children.upsert(at('10'));
  assert.deepEqual([given.woken, given.isSuspect], [['object shop/orders'], true]);
});

test('what is there at the start wakes nobody: every database is looked at then', () => {
  const given = new Given();
  given.children.upsert(at('10'), true);
  assert.deepEqual([given.woken, given.isSuspect], [[], true]);
});

test('the echo of our own apply wakes nobody, whether it comes after the answer or before', () => {
  const after = new Given();
  after.children.accept(at('10'), service.hash);
  after.children.upsert(at('10'));
  assert.deepEqual([after.woken, after.isSuspect], [[], false]);
  const before = new Given();
  before.children.upsert(at('10'));
  before.children.accept(at('10'), service.hash);
  assert.equal(before.isSuspect, false);
});

test('an edit wakes its database, and the whole object is kept until it is accepted', () => {
  const given = new Given();
  given.children.accept(at('10'), service.hash);
  given.children.upsert(editedAt('11'));
  assert.deepEqual([given.woken, given.isSuspect], [['object shop/orders'], true]);
  given.children.accept(at('12'), service.hash);
  assert.equal(given.isSuspect, false);
});

test('a watch that lags shows what was before our repair: it is passed over', () => {
  const given = new Given();
  given.children.accept(at('12'), service.hash);
  given.children.upsert(at('10'));
  given.children.upsert(editedAt('11'));
  assert.deepEqual([given.woken, given.isSuspect], [[], false]);
});

test('an edit that comes while our apply is under way stays suspect', () => {
  const given = new Given();
  given.children.accept(at('10'), service.hash);
  given.children.upsert(editedAt('13'));
  given.children.accept(at('12'), service.hash);
  assert.equal(given.isSuspect, true);
});

/** An apply of ours changes the selector, as its answer says. */
const nextAt = (version: string): KubeObject => changed(editedAt(version), ['spec', 'selector'], { app: 'next' });

test('what is as before our apply when its answer comes is not true any more', () => {
  const given = new Given();
  given.children.accept(at('10'), service.hash);
  given.children.upsert(nextAt('11'));
  given.children.upsert(at('12'));
  given.children.accept(nextAt('11'), 'next');
  assert.equal(given.children.get(key)?.suspect?.metadata.resourceVersion, '12');
});

test('the same where a list has shown only the newer state: the database is woken, and is not settled', () => {
  const given = new Given();
  given.children.accept(at('10'), service.hash);
  given.children.upsert(at('12'));
  assert.deepEqual(given.woken, []);
  given.children.accept(nextAt('11'), 'next');
  assert.deepEqual(given.woken, ['object shop/orders']);
  const child = given.children.get(key);
  assert(child);
  const now = observed(resource(), [child], { known: new Set([key]) });
  assert.equal(isSettled(now, 1), false);
  assert.equal(planOne(now, service, child).kind, 'apply');
  given.children.accept(at('13'), service.hash);
  const after = given.children.get(key);
  assert(after);
  assert.equal(isSettled(observed(resource(), [after], { known: new Set([key]) }), 1), true);
});

test("a status of somebody else's that comes before our answer does not make it suspect", () => {
  const given = new Given();
  given.children.upsert(at('13', { fields: { status: { loadBalancer: {} } } }));
  given.children.accept(at('12'), service.hash);
  assert.deepEqual([given.isSuspect, given.children.get(key)?.resourceVersion], [false, '13']);
});

test('the answer to an apply does not bring back what was deleted meanwhile', () => {
  const given = new Given();
  given.children.upsert(at('10'));
  given.children.delete('Service', 'shop/orders', seenDeletion);
  given.children.accept(at('11'), service.hash);
  assert.equal(given.children.get(key), undefined);
});

test('an object that lost its label and has it again is there again', () => {
  const given = new Given();
  given.children.accept(at('10'), service.hash);
  given.children.delete('Service', 'shop/orders', seenDeletion);
  given.children.upsert(at('12'));
  given.children.accept(at('12'), service.hash);
  assert.equal(given.isSuspect, false);
});

test('an object without our label is not kept, for no watch would tell of it', () => {
  const given = new Given();
  given.children.accept(at('10', { metadata: { labels: {} } }), service.hash);
  assert.equal(given.children.get(key), undefined);
});

test('the late news of an earlier object does not remove the one that has its name now', () => {
  const given = new Given();
  given.children.accept(at('10', { uid: 'new' }), service.hash);
  given.children.delete('Service', 'shop/orders', { uid: 'old', isSeen: true });
  assert.equal(given.children.get(key)?.uid, 'new');
});

test('what was accepted of an object says nothing of another with its name', () => {
  const given = new Given();
  given.children.accept(at('10', { uid: 'old' }), service.hash);
  given.children.upsert(at('11', { uid: 'new' }));
  assert.deepEqual([given.isSuspect, given.children.get(key)?.accepted], [true, undefined]);
});

test('a deletion that was seen wakes; one that a list found makes the database doubtful too', () => {
  const given = new Given();
  given.children.upsert(at('10'), true);
  given.children.delete('Service', 'shop/orders', seenDeletion);
  given.children.upsert(at('11'), true);
  given.children.delete('Service', 'shop/orders', { uid: 'uid-Service', isSeen: false });
  assert.deepEqual(given.woken, ['object shop/orders', 'absence shop/orders']);
});

test('one that has lost its owner makes the database doubtful: it may be on its way out, and leave what it owns', () => {
  const given = new Given();
  given.children.accept(at('10'), service.hash);
  const orphan = at('11', { metadata: { ownerReferences: [] } });
  given.children.upsert(disowned(orphan, ['f:metadata', 'f:ownerReferences']));
  assert.deepEqual(given.woken, ['absence shop/orders']);
});

test('what we wrote while the watch was cut off, and the next list does not show, is gone', () => {
  const given = new Given();
  given.children.accept(at('10'), service.hash);
  given.children.listed('Service', undefined, { version: '9', keys: new Set() });
  given.children.listed('Service', undefined, { version: '12', keys: new Set(['shop/orders']) });
  given.children.listed('ConfigMap', undefined, { version: '12', keys: new Set() });
  given.children.listed('Service', 'finance', { version: '12', keys: new Set() });
  assert.notEqual(given.children.get(key), undefined, 'the list is older, shows it, or is of others');
  given.children.listed('Service', undefined, { version: '12', keys: new Set() });
  assert.deepEqual([given.woken, given.children.get(key)], [['absence shop/orders'], undefined]);
});

test('what a watch has shown goes when the watch says so, and not before', () => {
  const given = new Given();
  given.children.upsert(at('10'), true);
  given.children.listed('Service', undefined, { version: '12', keys: new Set() });
  assert.notEqual(given.children.get(key), undefined);
});

test('an object whose label names another database wakes both', () => {
  const given = new Given();
  given.children.accept(at('10'), service.hash);
  given.children.upsert(at('11', { metadata: { labels: { 'plumbline.dev/database': 'or' } }, managedFields: [] }));
  assert.deepEqual(given.woken, ['object shop/orders', 'object shop/or']);
});

test('a pod wakes when its health changes, and not by anything else', () => {
  const given = new Given();
  given.children.upsert(podAt('1', 'False'));
  given.children.upsert(podAt('2', 'False'));
  given.children.upsert(podAt('3', 'True'));
  assert.deepEqual(given.woken, ['health shop/orders', 'health shop/orders']);
});

test('who waits for a name is woken when it is free, once', () => {
  const given = new Given();
  given.children.upsert(at('10', { metadata: { labels: { 'plumbline.dev/database': 'or' } } }), true);
  given.children.await('shop/orders', [key]);
  given.children.delete('Service', 'shop/orders', seenDeletion);
  assert.deepEqual(given.woken, ['object shop/or', 'object shop/orders']);
  given.children.await('shop/orders', []);
  given.children.delete('Service', 'shop/orders', seenDeletion);
  assert.deepEqual(given.woken, []);
});

test('what is left as it is stays out of memory, and every change of it is looked at', () => {
  const given = new Given();
  given.children.upsert(editedAt('11'), true);
  given.children.accept(editedAt('11'), service.hash, true);
  assert.equal(given.isSuspect, false);
  const putBack = changed(editedAt('12'), ['spec', 'selector'], at('1')['spec']);
  given.children.upsert(putBack);
  assert.deepEqual([given.woken, given.isSuspect], [['object shop/orders'], true]);
});

test('after a restored backup an older version is taken in', () => {
  const echoed = new Given();
  echoed.children.accept(at('50'), service.hash);
  echoed.children.upsert(at('50'));
  echoed.children.upsert(editedAt('40'));
  assert.equal(echoed.isSuspect, true, 'the watch had shown our write, so it does not lag');
  const waiting = new Given();
  waiting.children.accept(at('50'), service.hash);
  waiting.children.forgetVersions('Service');
  waiting.children.upsert(editedAt('40'));
  assert.equal(waiting.isSuspect, true, 'the reflector has said that versions went back');
});

test('of a Secret a change of its data is looked at and is no drift, a change of its labels is one', () => {
  const secret = statedOf(resource(), 'Secret/orders-system');
  const given = new Given();
  given.children.accept(live(secret, { managedFields: [] }), secret.hash);
  given.children.upsert(live(secret, { managedFields: [], resourceVersion: '101', fields: { data: { a: 'Yg==' } } }));
  assert.deepEqual(given.woken, ['health shop/orders']);
  assert.equal(given.children.get(secret.key)?.suspect, undefined);
  given.children.upsert(
    live(secret, {
      managedFields: [],
      resourceVersion: '102',
      metadata: { labels: { 'plumbline.dev/database': 'orders' } },
    }),
  );
  assert.deepEqual(given.woken, ['object shop/orders']);
});

test('how a pod ended is told by the next one of its name, until that is ready', () => {
  const given = new Given();
  const ended = { ...podAt('20', 'False'), status: { phase: 'Failed', reason: 'Evicted', message: 'too much' } };
  const next = (version: string, ready: 'True' | 'False'): KubeObject => {
    const pod = podAt(version, ready);
    return { ...pod, metadata: { ...pod.metadata, uid: 'next' } };
  };
  const told = (): string | undefined => given.children.get('Pod/shop/orders-0')?.predecessor?.reason;

  given.children.upsert(ended);
  given.children.delete('Pod', 'shop/orders-0', { uid: 'pod', isSeen: true });
  given.children.upsert(next('21', 'False'));
  assert.equal(told(), 'Evicted');
  given.children.upsert(next('22', 'True'));
  given.children.upsert(next('23', 'False'));
  assert.equal(told(), undefined);
});

test('of a pod that somebody has deleted nothing is to be told, nor of a database that is gone', () => {
  const given = new Given();
  const status = { phase: 'Succeeded' };
  const pod = podAt('20', 'False');
  const deleted = { ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' }, status };
  given.children.upsert(deleted);
  assert.equal(given.children.get('Pod/shop/orders-0')?.predecessor, undefined);

  given.children.upsert({ ...podAt('21', 'False'), status });
  given.children.forget('shop/orders');
  given.children.upsert(podAt('22', 'False'));
  assert.equal(given.children.get('Pod/shop/orders-0')?.predecessor, undefined);
});
