import assert from 'node:assert/strict';
import test from 'node:test';
import type { StoredDatabaseService } from '../../../constructs/api/resource.ts';
import { behind, comparisonOf, driftsIn, type Comparison } from '../../../controller/database/comparison.ts';
import { fieldManager, watchedHash } from '../../../controller/database/child.ts';
import { Children } from '../../../controller/database/children.ts';
import { stated as statedAs, type Stated } from '../../../controller/database/stated.ts';
import { inWords, episodes, statedTree } from '../../../controller/drift/index.ts';
import type { KubeObject, ManagedFieldsEntry } from '../../../controller/kube/index.ts';
import { live, noon, resource, statedOf, type Live } from './given.ts';

const database = resource({ delivery: { apply: false } });
const service = statedOf(database, 'Service/orders');
const config = statedOf(database, 'ConfigMap/orders-patroni');

/** What of an object a manager holds. */
function entry({ object }: Stated, manager: string, more: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry {
  return { manager, operation: 'Apply', time: noon, fieldsV1: statedTree(object), ...more };
}

/** The object as Argo CD has applied it: nothing of it is ours, and no owner is. */
function applied(stated: Stated, more: Live = {}): KubeObject {
  const object = live(stated, { managedFields: [entry(stated, 'argocd-controller')], ...more });
  const { ownerReferences: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** A controller that sees one object, again and again. */
class Given {
  readonly children = new Children(() => undefined);
  comparison: Comparison = new Map();
  readonly #resource: StoredDatabaseService;

  constructor(resource = database) {
    this.#resource = resource;
  }

  /** Compares with what is stated, as a run does. */
  look(stated: Stated, object?: KubeObject): string {
    if (object !== undefined) this.children.upsert(object);
    const find = (key: string) => this.children.get(key);
    this.comparison = comparisonOf({ resource: this.#resource, stated: [stated], find, before: this.comparison });
    const suspect = find(stated.key)?.suspect;
    if (suspect !== undefined) this.children.accept(suspect, watchedHash);
    const told = [...driftsIn(this.comparison).values()].flatMap((drifts) => episodes(drifts).map(inWords));
    return [behind(this.comparison).join() || 'same', ...told].join(': ');
  }
}

const selector = { app: 'x' };
const changed = (stated: Stated, fields: object): Stated =>
  statedAs({ ...stated.object, spec: { ...(stated.object['spec'] as object), ...fields } });
/** Somebody's hand on the selector. */
const edited = (resourceVersion: string) =>
  applied(service, {
    resourceVersion,
    fields: { spec: { ...(service.object['spec'] as object), selector } },
    managedFields: [
      entry(statedAs({ ...service.object, spec: {} }), 'argocd-controller'),
      {
        manager: 'kubectl-edit',
        operation: 'Update',
        time: noon,
        fieldsV1: { 'f:spec': { 'f:selector': {} } },
      },
    ],
  });

test('what the tool has yet to make is behind, and is the same once it is made', () => {
  const given = new Given();
  assert.equal(given.look(service), 'Service orders');
  assert.equal(given.look(service, applied(service)), 'same');
  assert.equal(given.look(service), 'same');
});

test('a change of the spec is behind until the tool has applied it, and that is no drift', () => {
  const given = new Given();
  given.look(service, applied(service));
  const next = changed(service, { sessionAffinity: 'ClientIP' });
  assert.equal(given.look(next), 'Service orders');
  assert.equal(given.look(next, applied(service, { resourceVersion: '101' })), 'Service orders');
  assert.equal(given.look(next, applied(next, { resourceVersion: '102' })), 'same');
});

test('a change that is taken back before the tool has seen it leaves all as it is', () => {
  const given = new Given();
  given.look(service, applied(service));
  given.look(changed(service, { sessionAffinity: 'ClientIP' }));
  assert.equal(given.look(service, applied(service, { resourceVersion: '101' })), 'same');
});

test('a tool that applies something older is behind, and that is no drift', () => {
  const given = new Given();
  given.look(service, applied(service));
  const older = applied(changed(service, { selector }), { resourceVersion: '101' });
  assert.equal(given.look(service, older), 'Service orders');
});

test('an edit by somebody else is told with his name, until the tool has put it back', () => {
  const given = new Given();
  given.look(service, applied(service));
  const told = given.look(service, edited('101'));
  assert.match(told, /^Service orders: kubectl-edit changed .*spec\.selector/);
  assert.equal(given.look(service), told);
  assert.equal(given.look(service, applied(service, { resourceVersion: '102' })), 'same');
});

test('so is a deletion', () => {
  const given = new Given();
  given.look(service, applied(service));
  given.children.delete('Service', 'shop/orders', { uid: 'uid-Service', isSeen: true });
  for (let look = 0; look < 2; look++)
    assert.equal(given.look(service), 'Service orders: Somebody deleted Service/orders.');
});

test('each write of a kind without a generation is looked at, whoever owns what', () => {
  const given = new Given();
  given.look(config, applied(config));
  const data = Object.fromEntries(Object.keys(config.object['data'] as object).map((key) => [key, 'older']));
  const older = applied(config, { resourceVersion: '101', fields: { data } });
  assert.equal(given.look(config, older), 'ConfigMap orders-patroni');
});

for (const [what, status, told] of [
  ['that was synced before, an edit is told', 'True', /: kubectl-edit changed/],
  ['that was not, nobody is accused', 'False', /^Service orders$/],
] as const) {
  test(`after a restart, of a generation ${what}`, () => {
    const condition = { type: 'Synced', status, reason: 'x', message: '', lastTransitionTime: noon };
    const given = new Given({ ...database, status: { conditions: [{ ...condition, observedGeneration: 1 }] } });
    assert.match(given.look(service, edited('100')), told);
  });
}

test('the marks of a tool are no difference: an annotation, or the label by which Argo CD tracks', () => {
  const labels = { ...service.object.metadata.labels, 'app.kubernetes.io/instance': 'prod.shop.orders' };
  const annotations = { 'argocd.argoproj.io/tracking-id': 'x' };
  const marked = statedAs({ ...service.object, metadata: { ...service.object.metadata, labels, annotations } });
  const object = applied(marked, { managedFields: [entry(marked, 'argocd-controller')] });
  assert.equal(new Given().look(service, object), 'same');
});

test('what the tool still has and is not rendered any more is behind', () => {
  const more = changed(service, { loadBalancerClass: 'x' });
  assert.equal(new Given().look(service, applied(more)), 'Service orders');
});

test('what Plumbline applied until now is the same before the tool has applied anything', () => {
  const given = new Given();
  given.children.accept(live(service), service.hash);
  assert.equal(given.look(service), 'same');
  assert.equal(given.look(changed(service, { sessionAffinity: 'ClientIP' })), 'Service orders');
  assert.equal(live(service).metadata.managedFields?.[0]?.manager, fieldManager);
});

test('what a manager of drift.allowManagers changes below spec is his to change', () => {
  const drift = { allowManagers: ['kubectl-edit'] };
  const given = new Given(resource({ delivery: { apply: false }, drift }));
  given.look(service, applied(service));
  assert.equal(given.look(service, edited('101')), 'same');
});
