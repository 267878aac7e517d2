import assert from 'node:assert/strict';
import test from 'node:test';
import type { Action } from '../../../controller/database/action.ts';
import { unstatedHash, type Child } from '../../../controller/database/child.ts';
import { Children } from '../../../controller/database/children.ts';
import { plan, planOne, type Observed } from '../../../controller/database/plan.ts';
import { stateWithSecrets } from '../../../controller/database/stated.ts';
import { statedTree } from '../../../controller/drift/index.ts';
import type { KubeObject, ManagedFieldsEntry } from '../../../controller/kube/index.ts';
import { changed, disowned } from '../drift/live.ts';
import { accepted, live, noon, observed, resource, seen, settledStatus, statedOf } from './given.ts';

const orders = resource();
const settled = resource({}, {}, settledStatus);
const report = resource({ drift: { policy: 'Report' } });
const settledReport = resource({ drift: { policy: 'Report' } }, {}, settledStatus);
const service = statedOf(orders, 'Service/orders');
const secret = statedOf(orders, 'Secret/orders-credentials');
const stalled = {
  type: 'Stalled',
  status: 'True',
  reason: 'CredentialsMissing',
  message: '',
  lastTransitionTime: noon,
} as const;
const lostStatus = { observedGeneration: 1, conditions: [stalled] };
const known = new Set([service.key, secret.key]);

const selector = ['f:spec', 'f:selector'];
const label = ['f:metadata', 'f:labels', 'f:app.kubernetes.io/name'];
const kubectl: ManagedFieldsEntry = {
  manager: 'kubectl-edit',
  operation: 'Update',
  time: noon,
  fieldsV1: { 'f:spec': { 'f:selector': {} } },
};
const ours = live(service);
/** The selector was changed by kubectl-edit. */
const edited = changed(
  disowned(changed(ours, ['spec', 'selector'], { app: 'x' }), selector),
  ['metadata', 'managedFields', 1],
  kubectl,
);
const labelField = 'metadata.labels[app.kubernetes.io/name]';
const unlabelled = disowned(changed(ours, ['metadata', 'labels', 'app.kubernetes.io/name'], undefined), label);
const editedAndUnlabelled = disowned(
  changed(edited, ['metadata', 'labels', 'app.kubernetes.io/name'], undefined),
  label,
);
const name = 'plumbline.dev/database';
const relabelled = disowned(changed(ours, ['metadata', 'labels', name], 'or'), ['f:metadata', 'f:labels', `f:${name}`]);
const relabelledSecret = live(secret, {
  metadata: { labels: { ...secret.object.metadata.labels, [name]: 'or' } },
  managedFields: [{ manager: 'plumbline-credentials', operation: 'Update' }],
});
const restored = disowned(ours, selector);
const wiped = changed(ours, ['metadata', 'managedFields'], []);
const mutated = changed(ours, ['metadata', 'labels', 'app.kubernetes.io/name'], 'by-admission');
/** Another port, by kubectl-patch. */
const port = { name: 'extra', port: 9999, protocol: 'TCP', targetPort: 9999 };
const added = changed(changed(ours, ['spec', 'ports', 1], port), ['metadata', 'managedFields', 1], {
  manager: 'kubectl-patch',
  operation: 'Update',
  time: noon,
  fieldsV1: { 'f:spec': { 'f:ports': { 'k:{"port":9999,"protocol":"TCP"}': { '.': {}, 'f:port': {} } } } },
});
const extra = 'spec.ports[port=9999,protocol=TCP]';
const foreignApply = live(service, { managedFields: [{ manager: 'kubectl', operation: 'Apply', fieldsV1: {} }] });
/** Everything in it was written by `kubectl replace --force`. */
const sameAgain = live(service, {
  managedFields: (ours.metadata.managedFields ?? []).map((entry) => ({
    ...entry,
    manager: 'kubectl-replace',
    operation: 'Update',
  })),
});
const remade = changed(sameAgain, ['spec', 'selector'], { app: 'x' });

const ownerField = ['f:metadata', 'f:ownerReferences', 'k:{"uid":"uid-orders"}'];
const owner = (kind: string, name: string, uid: string) => ({
  metadata: { ownerReferences: [{ apiVersion: 'v1', kind, name, uid, controller: true }] },
});
const person = seen(live(service, { metadata: { labels: {}, ownerReferences: [] }, managedFields: [] }));
const claim = (hasData: boolean): Child =>
  seen({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: 'data-orders-0',
      namespace: 'shop',
      labels: { 'plumbline.dev/database': 'orders' },
      annotations: hasData ? { 'plumbline.dev/system-identifier': '7' } : {},
    },
  });
const backupClaim = (): Child => {
  const database = resource({ backup: { schedule: '@daily', volume: { size: '1Gi' } } });
  return accepted(statedOf(database, 'PersistentVolumeClaim/orders-backup'));
};
const set = accepted(statedOf(orders, 'StatefulSet/orders'));

/** Somebody scaled it up by hand. */
const scaled = live(statedOf(orders, 'StatefulSet/orders'));
const grown = changed(
  disowned(changed(scaled, ['spec', 'replicas'], 3), ['f:spec', 'f:replicas']),
  ['metadata', 'managedFields', 1],
  {
    manager: 'kubectl',
    operation: 'Update',
    subresource: 'scale',
    time: noon,
    fieldsV1: { 'f:spec': { 'f:replicas': {} } },
  },
);
const setOfThree = statedOf(resource({ replicas: 3 }), 'StatefulSet/orders');
const grownAndHeld = (): Child => {
  const children = new Children(() => undefined);
  children.accept(grown, setOfThree.hash);
  const child = children.get(setOfThree.key);
  assert(child);
  return child;
};

const paused: Partial<Observed> = { restraint: () => ({ kind: 'paused', until: 0 }) };
const contestOver = (...fields: readonly string[]): Partial<Observed> => {
  const editor = { manager: 'autoscaler', operation: 'Update', time: noon };
  const contests = fields.map((field) => {
    const drift = { object: 'Service/orders', field, was: 'a', now: 'b', editor };
    return { drift, flips: [], rivals: ['autoscaler'], rests: 1, until: Date.parse(noon) };
  });
  return { restraint: () => ({ kind: 'contested', contests }) };
};

interface Row {
  readonly what: string;
  readonly database?: typeof orders;
  readonly stated?: typeof service;
  readonly child?: Child;
  readonly more?: Partial<Observed>;
  readonly others?: readonly Child[];
  /** The action, with the drifts as `field by manager`. */
  readonly expected: string;
}

const rows: readonly Row[] = [
  { what: 'nothing has the name', expected: 'create' },
  { what: 'it was there and is gone', more: { known }, expected: 'create:  by unknown' },
  { what: 'it went while nobody looked', database: settled, expected: 'create:  by unknown' },
  { what: 'it is gone, and drift is only reported', database: report, more: { known }, expected: 'lack:  by unknown' },
  {
    what: 'it went while nobody looked, and drift is only reported',
    database: settledReport,
    expected: 'lack:  by unknown',
  },
  { what: 'it never was, and drift is only reported', database: report, expected: 'create' },
  {
    what: 'somebody added members, and fewer have to wait',
    stated: setOfThree,
    child: seen(grown, set),
    more: { isHeld: true },
    expected: 'accept',
  },
  {
    what: 'somebody added members while fewer had to wait, and now there may be fewer',
    stated: statedOf(orders, 'StatefulSet/orders'),
    child: grownAndHeld(),
    expected: 'apply: spec.replicas by kubectl',
  },
  {
    what: 'somebody added members while fewer had to wait, and the spec has come to ask for them',
    stated: { ...setOfThree, hash: 'another' },
    child: grownAndHeld(),
    expected: 'apply',
  },
  { what: 'it is what we state', child: accepted(service), expected: 'keep' },
  { what: 'a watch shows it as we state it', child: seen(ours), expected: 'accept' },
  { what: 'the spec has changed', child: accepted({ ...service, hash: 'before' }), expected: 'apply' },
  {
    what: 'somebody changed a field',
    child: seen(edited, accepted(service)),
    expected: 'repair: spec.selector by kubectl-edit',
  },
  {
    what: 'somebody removed a label',
    child: seen(unlabelled, accepted(service)),
    expected: 'repair: metadata.labels[app.kubernetes.io/name] by unknown',
  },
  { what: 'an edit was undone by somebody', child: seen(restored, accepted(service)), expected: 'repair' },
  {
    what: 'managedFields were wiped',
    child: seen(wiped, accepted(service)),
    expected: 'repair: metadata.managedFields by unknown',
  },
  {
    what: 'somebody applied other values under our name',
    child: seen(changed(mutated, ['metadata', 'managedFields', 0, 'time'], 'later'), accepted(service)),
    expected: 'repair',
  },
  {
    what: 'somebody changed a field while the controller was down',
    database: settled,
    child: seen(edited),
    expected: 'repair: spec.selector by kubectl-edit',
  },
  {
    what: 'somebody removed a label while the controller was down',
    database: settled,
    child: seen(unlabelled),
    expected: 'repair: metadata.labels[app.kubernetes.io/name] by unknown',
  },
  { what: 'the spec got a label while the controller was down', child: seen(unlabelled), expected: 'apply' },
  {
    what: 'the spec got a field, and somebody changed another',
    child: seen(changed(edited, ['metadata', 'labels', 'x'], undefined), accepted({ ...service, hash: 'before' })),
    expected: 'apply: spec.selector by kubectl-edit',
  },
  { what: 'all is ours but one value, after a restart', child: seen(mutated), expected: 'verify' },
  { what: 'a GitOps tool applied it before us', child: seen(foreignApply), expected: 'apply' },
  {
    what: 'it was deleted and made again with another value while the controller was down',
    database: settled,
    child: seen(remade),
    expected: 'repair: spec.selector by kubectl-replace',
  },
  {
    what: 'the same, after it could not be put back',
    child: seen(remade),
    more: {
      known,
      left: new Map([
        [
          service.key,
          [
            {
              object: 'Service/orders',
              field: 'spec.selector',
              was: '',
              now: '',
              editor: { manager: 'kubectl-replace', operation: 'Update', time: noon },
            },
          ],
        ],
      ]),
    },
    expected: 'repair: spec.selector by kubectl-replace',
  },
  {
    what: 'the same, and drift is only reported',
    database: settledReport,
    child: seen(remade),
    expected: 'leave: spec.selector by kubectl-replace',
  },
  {
    what: 'it was deleted and somebody made another',
    child: seen(foreignApply),
    more: { known },
    expected: 'apply:  by unknown',
  },
  {
    what: 'somebody changed a field, and drift is only reported',
    database: report,
    child: seen(edited, accepted(service)),
    expected: 'leave: spec.selector by kubectl-edit',
  },
  {
    what: 'the same after a restart',
    database: settledReport,
    child: seen(edited),
    expected: 'leave: spec.selector by kubectl-edit',
  },
  {
    what: 'the same after a restart, with the status lost',
    database: report,
    child: seen(edited),
    expected: 'leave: spec.selector by kubectl-edit',
  },
  {
    what: 'a removal after a restart, with the status lost: it may as well be a new field of the spec',
    database: report,
    child: seen(unlabelled),
    expected: 'apply',
  },
  {
    what: 'what is left alone has not changed since',
    database: report,
    child: accepted(service, {}, true),
    expected: 'leave',
  },
  {
    what: 'what was left alone is true again',
    database: report,
    child: seen(ours, accepted(service, {}, true)),
    expected: 'accept',
  },
  {
    what: 'what was left alone has its value again, by another hand',
    database: report,
    child: seen(restored, accepted(service, {}, true)),
    expected: 'repair',
  },
  {
    what: 'managedFields were wiped, and drift is only reported: no value changes',
    database: report,
    child: seen(wiped, accepted(service)),
    expected: 'repair: metadata.managedFields by unknown',
  },
  {
    what: 'the spec changes an object that somebody changed, and drift is only reported',
    database: report,
    child: seen(unlabelled, accepted({ ...service, hash: 'before' })),
    expected: 'apply',
  },
  {
    what: 'drift.policy becomes Correct',
    child: accepted(service, {}, true),
    more: {
      left: new Map([
        [
          service.key,
          [
            {
              object: 'Service/orders',
              field: 'x',
              was: '',
              now: '',
              editor: { manager: 'helm', operation: 'Update', time: noon },
            },
          ],
        ],
      ]),
    },
    expected: 'repair: x by helm',
  },
  {
    what: 'somebody changed a field, in a pause',
    child: seen(edited, accepted(service)),
    more: paused,
    expected: 'leave: spec.selector by kubectl-edit',
  },
  { what: 'it is gone, in a pause', more: { ...paused, known }, expected: 'lack:  by unknown' },
  {
    what: 'what was left in a pause that is over',
    child: accepted(service, {}, true),
    expected: 'repair',
  },
  {
    what: 'somebody applied other values under our name, again and again',
    child: seen(changed(mutated, ['metadata', 'managedFields', 0, 'time'], 'later'), accepted(service)),
    more: contestOver(labelField),
    expected: 'leave: metadata.labels[app.kubernetes.io/name] by plumbline',
  },
  {
    what: 'the same, and others fight about another field',
    child: seen(changed(mutated, ['metadata', 'managedFields', 0, 'time'], 'later'), accepted(service)),
    more: contestOver('spec.selector'),
    expected: 'repair',
  },
  {
    what: 'the field of a fight was changed',
    child: seen(edited, accepted(service)),
    more: contestOver('spec.selector'),
    expected: 'leave: spec.selector by kubectl-edit',
  },
  {
    what: 'a part of the field of a fight was changed',
    child: seen(edited, accepted(service)),
    more: contestOver('spec.selector[app]'),
    expected: 'leave: spec.selector by kubectl-edit',
  },
  {
    what: 'a field was changed, and others fight about another one that is as it was',
    child: seen(edited, accepted(service)),
    more: contestOver(labelField),
    expected: 'repair: spec.selector by kubectl-edit',
  },
  {
    what: 'a field was changed, and the field of a fight too',
    child: seen(editedAndUnlabelled, accepted(service)),
    more: contestOver(labelField),
    expected: `repair: spec.selector by kubectl-edit, but for ${labelField} by unknown`,
  },
  {
    what: 'the same, after a restart',
    child: seen(editedAndUnlabelled),
    more: { ...contestOver(labelField), applied: new Map([[service.key, service.hash]]) },
    expected: `repair: spec.selector by kubectl-edit, but for ${labelField} by unknown`,
  },
  {
    what: 'the same, and drift is only reported',
    database: report,
    child: seen(editedAndUnlabelled, accepted(service)),
    more: contestOver(labelField),
    expected: `leave: ${labelField} by unknown`,
  },
  {
    what: 'a field was changed, and somebody applies another under our name again and again: ours cannot be left out',
    child: seen(changed(edited, ['metadata', 'labels', 'app.kubernetes.io/name'], 'x'), accepted(service)),
    more: contestOver(labelField),
    expected: 'leave: spec.selector by kubectl-edit',
  },
  {
    what: 'a field was changed in an object that somebody deletes again and again',
    child: seen(edited, accepted(service)),
    more: contestOver(''),
    expected: 'leave: spec.selector by kubectl-edit',
  },
  {
    what: 'the same within the second of our own apply',
    child: seen(changed(mutated, ['metadata', 'generation'], 2), accepted(service, { metadata: { generation: 1 } })),
    expected: 'repair',
  },
  {
    what: 'managedFields are wiped again and again',
    child: seen(wiped, accepted(service)),
    more: contestOver('metadata.managedFields'),
    expected: 'leave: metadata.managedFields by unknown',
  },
  {
    what: 'a field is taken from us again and again, and says the same',
    child: seen(restored, accepted(service)),
    more: contestOver('spec.selector'),
    expected: 'leave',
  },
  { what: 'somebody added a port', child: seen(added, accepted(service)), expected: 'accept' },
  {
    what: 'somebody added a port, and additions are removed',
    database: resource({ drift: { additions: 'Remove' } }),
    child: seen(added, accepted(service)),
    expected: `repair: ${extra} by kubectl-patch`,
  },
  {
    what: 'the same, by an allowed manager',
    database: resource({ drift: { additions: 'Remove', allowManagers: ['kubectl-patch'] } }),
    child: seen(added, accepted(service)),
    expected: 'accept',
  },
  {
    what: 'the same, and drift is only reported',
    database: resource({ drift: { additions: 'Remove', policy: 'Report' } }),
    child: seen(added, accepted(service)),
    expected: 'accept',
  },
  {
    what: 'drift.additions becomes Remove',
    database: resource({ drift: { additions: 'Remove' } }),
    child: accepted(service, { metadata: added.metadata, fields: { spec: added['spec'] } }),
    expected: `repair: ${extra} by kubectl-patch`,
  },
  {
    what: 'an allowed manager has changed a field',
    database: resource({ drift: { allowManagers: ['kubectl-edit'] } }),
    child: seen(edited, accepted(service)),
    expected: 'accept',
  },
  {
    what: 'it is being deleted',
    child: accepted(service, { metadata: { deletionTimestamp: noon } }),
    expected: 'await',
  },
  { what: "a person's own object has the name", child: person, expected: 'refuse somebody who is not Plumbline' },
  {
    what: 'another database has the name',
    child: seen(live(service, { metadata: { labels: { 'plumbline.dev/database': 'or' }, ownerReferences: [] } })),
    expected: 'refuse DatabaseService or, watched',
  },
  {
    what: 'it lost its owner, and bears the label of another database that does not state it',
    child: seen(changed(relabelled, ['metadata', 'ownerReferences'], []), accepted(service)),
    more: { states: () => false },
    expected: 'repair: metadata.labels[plumbline.dev/database] by unknown',
  },
  {
    what: 'a Secret bears the label of another database that does not state it',
    database: settled,
    stated: secret,
    child: seen(relabelledSecret),
    more: { states: () => false },
    expected: 'repair: metadata.labels[plumbline.dev/database] by unknown',
  },
  {
    what: 'something else owns it, whatever its label says',
    child: seen(live(service, owner('Deployment', 'web', 'u9'))),
    expected: 'refuse Deployment web, watched',
  },
  {
    what: 'something else was made its owner',
    child: seen(disowned(live(service, owner('Deployment', 'web', 'u9')), ownerField)),
    more: { known },
    expected: 'refuse Deployment web, watched: metadata.ownerReferences[uid=uid-orders] by unknown',
  },
  {
    what: 'it was deleted and something else has the name',
    child: seen(live(service, { ...owner('Deployment', 'web', 'u9'), managedFields: [kubectl] })),
    more: { known },
    expected: 'refuse Deployment web, watched:  by unknown',
  },
  {
    what: 'the label of ours names another database',
    child: seen(relabelled, accepted(service)),
    expected: 'repair: metadata.labels[plumbline.dev/database] by unknown',
  },
  {
    what: 'it is from an earlier life of this database',
    child: seen(live(statedOf(resource({}, { uid: 'uid-before' }), 'Service/orders'))),
    expected: 'apply',
  },
  { what: 'a Secret, when there is nothing', stated: secret, expected: 'create' },
  {
    what: 'a Secret, when a GitOps tool has made the rest',
    stated: secret,
    others: [set, claim(false)],
    expected: 'create',
  },
  {
    what: 'a Secret, when a backup is left of an earlier life',
    stated: secret,
    others: [backupClaim()],
    expected: 'create',
  },
  { what: 'a Secret, when claims hold data', stated: secret, others: [claim(true)], expected: 'miss' },
  {
    what: 'a lost certificate, for a new one does as well',
    stated: statedOf(orders, 'Secret/orders-tls'),
    more: { known: new Set(['Secret/shop/orders-tls']) },
    others: [set, claim(true)],
    expected: 'create:  by unknown',
  },
  {
    what: 'a lost authority, for which the same holds',
    stated: statedOf(orders, 'Secret/orders-tls-ca'),
    others: [claim(true)],
    expected: 'create',
  },
  { what: 'a Secret that was there, with members', stated: secret, more: { known }, others: [set], expected: 'miss' },
  {
    what: 'a Secret that was there before a restart, with members',
    database: settled,
    stated: secret,
    others: [set],
    expected: 'miss',
  },
  {
    what: 'a Secret that the status says is lost, after a restart',
    database: resource({}, {}, lostStatus),
    stated: secret,
    others: [set],
    expected: 'miss',
  },
  {
    what: 'a Secret that was there, when nothing but a backup is left',
    stated: secret,
    more: { known },
    others: [backupClaim()],
    expected: 'create:  by unknown',
  },
  {
    what: 'a Secret that was there, with nothing made of it',
    stated: secret,
    more: { known },
    expected: 'create:  by unknown',
  },
  {
    what: 'a Secret as it was created',
    stated: secret,
    child: seen(live(secret, { managedFields: [] })),
    expected: 'accept',
  },
  {
    what: 'a Secret with other labels beside ours',
    stated: secret,
    child: seen(
      live(secret, { metadata: { labels: { ...secret.object.metadata.labels, team: 'a' } }, managedFields: [] }),
    ),
    expected: 'accept',
  },
  {
    what: 'a Secret without a label of ours',
    stated: secret,
    child: seen(
      live(secret, { metadata: { labels: { 'plumbline.dev/database': 'orders' } }, managedFields: [] }),
      accepted(secret),
    ),
    expected: 'repair: metadata.labels[app.kubernetes.io/managed-by] by unknown',
  },
];

function inShort(action: Action): string {
  const drifts = 'drifts' in action ? action.drifts.map(({ field, editor }) => `${field} by ${editor.manager}`) : [];
  const list = drifts.length > 0 ? `: ${drifts[0]}` : '';
  if (action.kind === 'refuse') return `refuse ${action.holder}${action.isWatched ? ', watched' : ''}${list}`;
  const [left] = (action.kind === 'apply' && action.contested) || [];
  const rest = left === undefined ? '' : `, but for ${left.field} by ${left.editor.manager}`;
  return (action.kind === 'apply' && action.isRepair ? 'repair' : action.kind) + list + rest;
}

for (const { what, database = orders, stated = service, child, more, others = [], expected } of rows) {
  test(`${what} → ${expected}`, () => {
    const view = observed(database, child === undefined ? others : [child, ...others], more);
    assert.equal(inShort(planOne(view, stated, view.find(stated.key))), expected);
  });
}

const twoHands = changed(sameAgain, ['metadata', 'managedFields', 1], { ...kubectl, time: '2026-01-01T12:00:05Z' });
const madeAt = (object: KubeObject, time: string) => changed(object, ['metadata', 'creationTimestamp'], time);
/** The status of a database that was whole at noon. */
const wholeAtNoon = { ...settledStatus, lastReconcileTime: noon };
const goneReceipt = {
  time: noon,
  object: 'Service/orders',
  field: '',
  manager: 'unknown',
  operation: 'Delete',
  action: 'Reported',
} as const;
const hinderedAtOne = {
  ...wholeAtNoon,
  lastReconcileTime: '2026-01-01T13:00:00Z',
  drift: { corrected: 0, receipts: [goneReceipt] },
};
const deleted = 'unknown Delete ';
const selected = 'kubectl-replace Update spec.selector';
const madeAgain: readonly (readonly [
  what: string,
  live: KubeObject,
  database: typeof orders,
  more: Partial<Observed>,
  kind: Action['kind'],
  drifts: readonly string[],
])[] = [
  ['with another value', remade, orders, { known }, 'apply', [deleted, selected]],
  ['with the same values', sameAgain, orders, { known }, 'apply', [deleted, 'kubectl-replace Create ']],
  [
    'with the same values, and edited since',
    twoHands,
    orders,
    { known },
    'apply',
    [deleted, 'kubectl-replace Create '],
  ],
  ['by nobody who can be named', wiped, orders, { known }, 'apply', [deleted]],
  ['with another value, and drift is only reported', remade, report, { known }, 'leave', [deleted, selected]],
  ['with another value, in a pause', remade, orders, { known, ...paused }, 'leave', [deleted, selected]],
  ['before anybody knew of ours', remade, orders, {}, 'apply', []],
  [
    'with another value, while the controller was down',
    madeAt(remade, '2026-01-01T12:30:00Z'),
    resource({}, {}, wholeAtNoon),
    {},
    'apply',
    [deleted, selected],
  ],
  [
    'never: it is as old as what the status speaks of, and somebody took our name out of it',
    madeAt(remade, noon),
    resource({}, {}, wholeAtNoon),
    {},
    'apply',
    [selected],
  ],
  [
    'with another value, which could not be put back, before a restart',
    madeAt(remade, '2026-01-01T12:30:00Z'),
    resource({}, {}, hinderedAtOne),
    {},
    'apply',
    [deleted, selected],
  ],
];

for (const [what, object, database, more, kind, expected] of madeAgain) {
  test(`deleted and made again ${what}: ${kind}, and told as ${expected.join(', ') || 'nothing'}`, () => {
    const child = seen(object);
    const action = planOne(observed(database, [child], more), service, child);
    assert.equal(action.kind, kind);
    const drifts = 'drifts' in action ? action.drifts : [];
    assert.deepEqual(
      drifts.map(({ field, editor }) => `${editor.manager} ${editor.operation} ${field}`),
      expected,
    );
  });
}

test('what others fight about is not in what puts the rest back', () => {
  const child = seen(editedAndUnlabelled, accepted(service));
  const action = planOne(observed(orders, [child], contestOver(labelField)), service, child);
  assert(action.kind === 'apply');
  assert.deepEqual(action.yielded, [label]);
});

test('of what could not be put back the same is told each time, also of what was deleted and made again', () => {
  const child = seen(remade);
  const drifts = (left: Observed['left']) => {
    const action = planOne(observed(orders, [child], { known, left }), service, child);
    assert(action.kind === 'apply');
    return action.drifts;
  };
  const first = drifts(new Map());
  assert.equal(first.length, 2);
  assert.deepEqual(drifts(new Map([[service.key, first]])), first);
});

test('what was left in the place of ours is told as before when something happens to it', () => {
  const first = planOne(observed(report, [seen(remade)], { known }), service, seen(remade));
  assert(first.kind === 'leave');
  const children = new Children(() => undefined);
  children.accept(remade, service.hash, true);
  const again = seen(remade, children.get(service.key));
  const left = new Map([[service.key, first.drifts]]);
  const action = planOne(observed(report, [again], { known, left }), service, again);
  assert(action.kind === 'leave');
  assert.deepEqual(action.drifts, first.drifts);
});

test('where only the status says that the spec was applied, a value of ours that is another by now says that it was another spec', () => {
  const older = changed(unlabelled, ['spec', 'publishNotReadyAddresses'], true);
  const child = seen(older);
  const action = planOne(observed(settled, [child]), service, child);
  assert(action.kind === 'apply');
  assert.deepEqual(action.drifts, []);
});

test('that a restart was asked for while no controller ran is nobody’s removal', () => {
  const asked = resource({}, { annotations: { 'plumbline.dev/restarted-at': 'noon' } }, settledStatus);
  const child = seen(live(statedOf(orders, 'StatefulSet/orders')));
  const action = planOne(observed(asked, [child]), statedOf(asked, 'StatefulSet/orders'), child);
  assert(['verify', 'apply'].includes(action.kind), action.kind);
  assert.deepEqual('drifts' in action ? action.drifts : [], []);
});

test('there is one action for each object that is stated, in the order of application', () => {
  const stated = stateWithSecrets(orders);
  const actions = plan(observed(orders, []), stated);
  assert.deepEqual(
    actions.map((action) => action.kind),
    stated.map(() => 'create'),
  );
  const kinds = stated.map(({ object }) => object.kind);
  const place = (kind: string): number => kinds.indexOf(kind);
  assert(place('Role') < place('ConfigMap') && place('ConfigMap') < place('Secret'), kinds.join());
  assert(place('Secret') < place('Service') && place('Service') < place('StatefulSet'), kinds.join());
});

test('what was added is removed also when nobody tells any more who did it', () => {
  const child = seen(changed(added, ['metadata', 'managedFields'], []), accepted(service));
  const action = planOne(observed(resource({ drift: { additions: 'Remove' } }), [child]), service, child);
  assert(action.kind === 'apply');
  assert.deepEqual(
    action.drifts.map(({ field, editor }) => `${field} by ${editor.manager}`),
    ['metadata.managedFields by unknown', `${extra} by unknown`],
  );
  assert.equal(action.taken.length, 1);
});

const backup = resource({ backup: { schedule: '@daily', volume: { size: '1Gi' } } });
const ofAnother = statedOf(resource({}, { name: 'or', uid: 'uid-or' }), 'Service/or-ro');
const notStated: readonly (readonly [what: string, child: Child, expected: string])[] = [
  ['what a spec no longer asks for', accepted(statedOf(backup, 'CronJob/orders-backup')), 'remove'],
  ['a claim that a spec no longer asks for', accepted(statedOf(backup, 'PersistentVolumeClaim/orders-backup')), ''],
  [
    'a pod',
    seen({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'orders-0', namespace: 'shop', labels: { 'plumbline.dev/database': 'orders' } },
    }),
    '',
  ],
  [
    'a Job of the backups',
    seen({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'orders-backup-1', namespace: 'shop', labels: { 'plumbline.dev/database': 'orders' } },
    }),
    '',
  ],
  [
    "a person's object with our label",
    seen({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'mine', namespace: 'shop', labels: { 'plumbline.dev/database': 'orders' } },
    }),
    'ignore',
  ],
  [
    'what another database states, and will label again',
    seen(changed(live(ofAnother), ['metadata', 'labels', name], 'orders')),
    '',
  ],
];

for (const [what, child, expected] of notStated) {
  test(`${what} → ${expected === '' ? 'left alone' : expected}`, () => {
    assert.equal(
      plan(observed(orders, [child]), [])
        .map(inShort)
        .join(),
      expected,
    );
  });
}

test('what a GitOps tool applied until now is taken over, and was never ours to be told as lent', () => {
  // GIVEN an object that was looked at, and whose fields are all the tool's
  const children = new Children(() => undefined);
  const entry: ManagedFieldsEntry = {
    manager: 'argocd-controller',
    operation: 'Apply',
    time: noon,
    fieldsV1: statedTree(service.object),
  };
  // The API server gives fields in an order of its own.
  const ports = [{ name: 'postgresql', protocol: 'TCP', port: 5432, targetPort: 'postgresql' }];
  const spec = { ...(service.object['spec'] as object), ports };
  children.accept(live(service, { managedFields: [entry], fields: { spec } }), unstatedHash);
  const child = children.get(service.key);
  assert(child);
  // WHEN it is planned, THEN it is applied
  const action = planOne(observed(resource(), [child]), service, child);
  assert(action.kind === 'apply');
  assert.deepEqual(action.drifts, []);
});
