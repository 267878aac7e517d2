import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { DriftReceipt } from '../../../constructs/api/status.ts';
import { stateAll } from '../../../controller/database/stated.ts';
import { classify, systemClock, type Clock, type KubeObject, type Patch } from '../../../controller/kube/index.ts';
import { eventually } from '../running-plumbline.ts';
import { Shop, wholeSpec } from './shop.ts';

let shop: Shop;
before(async () => {
  shop = await Shop.open();
  await shop.create('orders', wholeSpec);
});
after(async () => {
  await shop[Symbol.asyncDispose]();
});

/** What a receipt has to say; undefined is what it must not have. */
type Receipt = Pick<DriftReceipt, 'object' | 'field' | 'manager' | 'operation'> & {
  readonly [Name in keyof DriftReceipt]?: DriftReceipt[Name] | undefined;
};
interface Row {
  readonly what: string;
  readonly kind: string;
  readonly name: string;
  readonly act: () => Promise<unknown>;
  readonly receipt: Receipt;
  /** Defaults to 3: apply, event, status. */
  readonly requests?: number;
}

const postgres = (fields: object): object => ({
  spec: { template: { spec: { containers: [{ name: 'postgres', ...fields }] } } },
});
const patch =
  (kind: string, name: string, body: unknown, more: Partial<Patch> = {}) =>
  () =>
    shop.patch(kind, name, { body, ...more });
const image = 'spec.template.spec.containers[name=postgres].image';
const edited = { manager: 'kubectl-edit', operation: 'Update' } as const;
const removed = { manager: 'unknown', operation: 'Remove', now: undefined } as const;
const instance = 'app.kubernetes.io/instance';

/** As kubectl replace does. */
async function put(kind: string, name: string, change: (object: KubeObject) => KubeObject): Promise<void> {
  const live = await shop.get(kind, name);
  assert(live);
  const args = ['replace', '-n', shop.namespace, '-f', '-', '--field-manager=kubectl-replace'];
  const { code, stderr } = await shop.cluster.kubectlRun(args, JSON.stringify(change(live)));
  assert.equal(code, 0, stderr);
}

const rows: readonly Row[] = [
  {
    what: 'an image, by a strategic patch',
    kind: 'StatefulSet',
    name: 'orders',
    act: patch('StatefulSet', 'orders', postgres({ image: 'evil:1' }), { kind: 'strategic' }),
    receipt: { object: 'StatefulSet/orders', field: image, now: 'evil:1', ...edited },
  },
  {
    what: 'replicas, by a merge patch',
    kind: 'StatefulSet',
    name: 'orders',
    act: patch('StatefulSet', 'orders', { spec: { replicas: 1 } }),
    receipt: { object: 'StatefulSet/orders', field: 'spec.replicas', was: '3', now: '1', ...edited },
    // The StatefulSet's own controller may be as fast: then members come or go, and the status says so.
    requests: 5,
  },
  {
    what: 'replicas, by the scale subresource',
    kind: 'StatefulSet',
    name: 'orders',
    act: patch(
      'StatefulSet',
      'orders',
      { spec: { replicas: 5 } },
      { subresource: 'scale', fieldManager: 'kubectl-scale' },
    ),
    receipt: {
      object: 'StatefulSet/orders',
      field: 'spec.replicas',
      was: '3',
      now: '5',
      manager: 'kubectl-scale',
      operation: 'Update of scale',
    },
    // Before there are fewer members, it is asked who leads.
    requests: 6,
  },
  {
    what: 'a variable, whose value stays hidden',
    kind: 'StatefulSet',
    name: 'orders',
    act: patch('StatefulSet', 'orders', postgres({ env: [{ name: 'HOME', value: 'hunter2' }] }), { kind: 'strategic' }),
    receipt: {
      object: 'StatefulSet/orders',
      field: 'spec.template.spec.containers[name=postgres].env[name=HOME].value',
      was: '(hidden)',
      now: '(hidden)',
      ...edited,
    },
  },
  {
    what: 'a selector, by a JSON patch',
    kind: 'Service',
    name: 'orders',
    act: patch('Service', 'orders', [{ op: 'replace', path: '/spec/selector', value: { app: 'x' } }], { kind: 'json' }),
    receipt: { object: 'Service/orders', field: 'spec.selector', now: '{"app":"x"}', ...edited },
  },
  {
    what: 'a label, by kubectl replace',
    kind: 'Service',
    name: 'orders-ro',
    act: () =>
      put('Service', 'orders-ro', (live) => ({
        ...live,
        metadata: { ...live.metadata, labels: { ...live.metadata.labels, [instance]: 'x' } },
      })),
    receipt: {
      object: 'Service/orders-ro',
      field: `metadata.labels[${instance}]`,
      now: 'x',
      manager: 'kubectl-replace',
      operation: 'Update',
    },
  },
  {
    what: 'a limit, by a forced apply of another manager',
    kind: 'PodDisruptionBudget',
    name: 'orders',
    act: () =>
      shop.kube.apply(
        {
          apiVersion: 'policy/v1',
          kind: 'PodDisruptionBudget',
          metadata: { name: 'orders', namespace: shop.namespace },
          spec: { maxUnavailable: 2 },
        },
        { type: shop.typeOf('PodDisruptionBudget'), fieldManager: 'argocd-controller', force: true },
      ),
    receipt: {
      object: 'PodDisruptionBudget/orders',
      field: 'spec.maxUnavailable',
      was: '1',
      now: '2',
      manager: 'argocd-controller',
      operation: 'Apply',
    },
  },
  {
    what: 'a script in a ConfigMap, whose text stays hidden',
    kind: 'ConfigMap',
    name: 'orders-patroni',
    act: patch('ConfigMap', 'orders-patroni', { data: { 'member.json': 'hunter2' } }),
    receipt: {
      object: 'ConfigMap/orders-patroni',
      field: 'data[member.json]',
      was: '(hidden)',
      now: '(hidden)',
      ...edited,
    },
  },
  {
    what: 'an annotation of ours, whose value stays hidden',
    kind: 'ConfigMap',
    name: 'orders-patroni-config',
    act: patch('ConfigMap', 'orders-patroni-config', { metadata: { annotations: { config: 'hunter2' } } }),
    receipt: {
      object: 'ConfigMap/orders-patroni-config',
      field: 'metadata.annotations.config',
      was: '(hidden)',
      now: '(hidden)',
      ...edited,
    },
  },
  {
    what: 'a right, added to a Role',
    kind: 'Role',
    name: 'orders-members',
    act: patch('Role', 'orders-members', { rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] }),
    receipt: { object: 'Role/orders-members', field: 'rules', ...edited },
  },
  {
    what: 'who may connect',
    kind: 'NetworkPolicy',
    name: 'orders',
    act: patch('NetworkPolicy', 'orders', { spec: { ingress: [{}] } }),
    receipt: { object: 'NetworkPolicy/orders', field: 'spec.ingress', now: '[{}]', ...edited },
  },
  {
    what: 'a suspended backup',
    kind: 'CronJob',
    name: 'orders-backup',
    act: patch('CronJob', 'orders-backup', { spec: { suspend: true } }),
    receipt: { object: 'CronJob/orders-backup', field: 'spec.suspend', was: 'false', now: 'true', ...edited },
  },
  {
    what: 'a removed label',
    kind: 'ServiceAccount',
    name: 'orders-members',
    act: patch('ServiceAccount', 'orders-members', { metadata: { labels: { [instance]: null } } }),
    receipt: { object: 'ServiceAccount/orders-members', field: `metadata.labels[${instance}]`, ...removed },
  },
  {
    what: 'the label that our watch selects by, removed',
    kind: 'RoleBinding',
    name: 'orders-members',
    act: patch('RoleBinding', 'orders-members', { metadata: { labels: { 'plumbline.dev/database': null } } }),
    receipt: { object: 'RoleBinding/orders-members', field: 'metadata.labels[plumbline.dev/database]', ...removed },
    // Whether it was deleted or has left the watch only the refused creation and a look can tell.
    requests: 5,
  },
  {
    what: 'the label that our watch selects by, with another database in it',
    kind: 'Service',
    name: 'orders',
    act: patch('Service', 'orders', { metadata: { labels: { 'plumbline.dev/database': 'other' } } }),
    receipt: { object: 'Service/orders', field: 'metadata.labels[plumbline.dev/database]', now: 'other', ...edited },
  },
  {
    what: 'a removed owner',
    kind: 'Service',
    name: 'orders-members',
    act: patch('Service', 'orders-members', { metadata: { ownerReferences: null } }),
    receipt: { object: 'Service/orders-members', field: 'metadata.ownerReferences', ...removed },
    // A database that is deleted may leave what it owned: so it is asked for first.
    requests: 4,
  },
  {
    what: 'managedFields wiped',
    kind: 'Service',
    name: 'orders-ro',
    act: patch('Service', 'orders-ro', { metadata: { managedFields: [{}] } }),
    receipt: { object: 'Service/orders-ro', field: 'metadata.managedFields', ...removed },
    // Ownership is taken back before the apply, which would invent another owner.
    requests: 4,
  },
  {
    what: 'a deleted Service',
    kind: 'Service',
    name: 'orders',
    act: () => shop.delete('Service', 'orders'),
    receipt: { object: 'Service/orders', field: '', manager: 'unknown', operation: 'Delete' },
  },
  {
    what: 'a deleted ConfigMap',
    kind: 'ConfigMap',
    name: 'orders-patroni',
    act: () => shop.delete('ConfigMap', 'orders-patroni'),
    receipt: { object: 'ConfigMap/orders-patroni', field: '', manager: 'unknown', operation: 'Delete' },
  },
  {
    what: 'a StatefulSet deleted from over its pods',
    kind: 'StatefulSet',
    name: 'orders',
    act: () => shop.delete('StatefulSet', 'orders', { propagationPolicy: 'Orphan' }),
    receipt: { object: 'StatefulSet/orders', field: '', manager: 'unknown', operation: 'Delete' },
    // The StatefulSet is made anew and takes its pods over, one after the other: a status may fall between.
    requests: 7,
  },
];

for (const { what, kind, name, act, receipt, requests = 3 } of rows) {
  test(`put back, and named: ${what}`, async () => {
    const [events, lines] = [(await shop.driftEvents('orders')).length, shop.driftLines().length];
    const corrected = (await shop.status('orders'))?.drift?.corrected ?? 0;
    const made = await shop.requestsFor(async () => {
      await act();
      // What is being deleted looks true for a while.
      await eventually(
        'it is told',
        async () => ((await shop.status('orders'))?.drift?.corrected ?? 0) > corrected || undefined,
      );
      await eventually('it is true again', async () => (await shop.isTrue(kind, name)) || undefined);
    });
    const status = await shop.status('orders');
    const [first] = status?.drift?.receipts ?? [];
    const told = Object.fromEntries(Object.keys(receipt).map((key) => [key, first?.[key as keyof DriftReceipt]]));
    assert.deepEqual(told, { ...receipt });
    assert.equal(first?.action, 'Corrected');
    assert.equal(status?.drift?.corrected, corrected + 1, 'one receipt');
    assert.equal(shop.driftLines().length, lines + 1, 'one line in the log');
    assert(made.length <= requests, made.join(', '));
    assert.equal((await shop.driftEvents('orders')).length, events + 1, 'one Event');
  });
}

test('no secret is in any receipt, Event or log line', async () => {
  const all = [
    JSON.stringify(await shop.status('orders')),
    ...(await shop.driftEvents('orders')),
    ...shop.running.logLines,
  ];
  assert.deepEqual(
    all.filter((text) => text.includes('hunter2')),
    [],
  );
});

test('a wipe of managedFields of each object is one drift each, and nothing is called changed', async () => {
  await shop.create('wiped', wholeSpec);
  const names = stateAll(await shop.resource('wiped')).map(
    ({ object }) => [object.kind, object.metadata.name] as const,
  );
  const before = shop.running.drifts.length;
  const wipe = { body: { metadata: { managedFields: [{}] } } };
  await shop.requestsFor(async () => {
    await Promise.all(names.map(([kind, name]) => shop.patch(kind, name, wipe)));
    await eventually('all is told', () => shop.running.drifts.length - before >= names.length || undefined);
  });
  const told = shop.running.drifts.slice(before).map(({ object, field }) => `${object} ${field}`);
  assert.deepEqual(told.sort(), names.map(([kind, name]) => `${kind}/${name} metadata.managedFields`).sort());
  for (const [kind, name] of names) assert(await shop.isTrue(kind, name, 'wiped'), `${kind} ${name}`);
});

test('an edit of many fields at once is one Event and one line that can be read', async () => {
  const [events, lines] = [(await shop.driftEvents('orders')).length, shop.driftLines().length];
  await shop.requestsFor(async () => {
    await put('Service', 'orders', (live) => ({
      ...live,
      metadata: {
        ...live.metadata,
        labels: Object.fromEntries(Object.keys(live.metadata.labels ?? {}).map((key) => [key, 'x'])),
      },
      spec: { ...(live['spec'] as object), selector: { app: 'x' }, publishNotReadyAddresses: true },
    }));
    await eventually('it is told', () => shop.driftLines().length > lines || undefined);
  });
  assert(await shop.isTrue('Service', 'orders'));
  const [line] = shop.driftLines().slice(lines);
  assert.equal(shop.driftLines().length, lines + 1);
  assert.match(
    line ?? '',
    /^kubectl-replace changed \d fields of Service\/orders: .* and \d more\. It was put back\.$/,
  );
  const fresh = (await shop.driftEvents('orders')).length - events;
  assert.equal(fresh, 1);
});

const foreign: readonly (readonly [what: string, act: () => Promise<unknown>, kept: () => Promise<unknown>])[] = [
  [
    'a foreign label',
    patch('Service', 'orders', { metadata: { labels: { team: 'a' } } }),
    async () => (await shop.get('Service', 'orders'))?.metadata.labels?.['team'] === 'a',
  ],
  [
    'a status',
    patch('PodDisruptionBudget', 'orders', { status: { disruptionsAllowed: 7 } }, { subresource: 'status' }),
    async () => true,
  ],
  [
    'the same value by another manager',
    patch('StatefulSet', 'orders', { spec: { replicas: 3 } }, { fieldManager: 'helm' }),
    async () => true,
  ],
  [
    'a key of ours in the ConfigMap that Patroni writes to',
    patch('ConfigMap', 'orders-patroni-config', { metadata: { annotations: { initialize: '7300000000000000001' } } }),
    async () => JSON.stringify(await shop.get('ConfigMap', 'orders-patroni-config')).includes('"initialize"'),
  ],
];

for (const [what, act, isKept] of foreign) {
  test(`left alone, without a request: ${what}`, async () => {
    const corrected = (await shop.status('orders'))?.drift?.corrected;
    assert.deepEqual(await shop.requestsFor(act), []);
    assert.equal(await isKept(), true);
    assert.equal((await shop.status('orders'))?.drift?.corrected, corrected);
  });
}

test('drift of the time when no controller ran is found, put back and named', async () => {
  await shop.restart(async () => {
    await shop.patch('Service', 'orders-ro', {
      body: { spec: { selector: { app: 'x' } } },
      fieldManager: 'night-shift',
    });
    await shop.patch('ServiceAccount', 'orders-members', { body: { metadata: { labels: { [instance]: null } } } });
    await shop.delete('PodDisruptionBudget', 'orders');
  });
  assert(await shop.isTrue('Service', 'orders-ro'));
  assert(await shop.isTrue('ServiceAccount', 'orders-members'));
  assert(await shop.isTrue('PodDisruptionBudget', 'orders'));
  const told = shop.running.drifts.map(({ object, field, editor }) => `${object} ${field} ${editor.manager}`);
  assert.deepEqual(told.sort(), [
    'PodDisruptionBudget/orders  unknown',
    'Service/orders-ro spec.selector night-shift',
    `ServiceAccount/orders-members metadata.labels[${instance}] unknown`,
  ]);
});

test('what was deleted and made again with other values while no controller ran is put back, and who made it is named', async () => {
  await shop.restart(async () => {
    const { metadata, spec, ...rest } = (await shop.get('CronJob', 'orders-backup')) as KubeObject & { spec: object };
    const { name, namespace = '', labels = {} } = metadata;
    await shop.delete('CronJob', 'orders-backup', { propagationPolicy: 'Background' });
    const made = { ...rest, metadata: { name, namespace, labels }, spec: { ...spec, suspend: true } };
    await shop.kube.create(made, { type: shop.typeOf('CronJob'), fieldManager: 'kubectl-replace' });
  });
  assert(await shop.isTrue('CronJob', 'orders-backup'));
  const told = shop.running.drifts.map(({ object, field, now, editor }) =>
    [object, field, now, editor.manager].join(' '),
  );
  assert(told.includes('CronJob/orders-backup spec.suspend true kubectl-replace'), told.join('\n'));
});

/** Deletes the CronJob and makes it again, as kubectl replace --force does, until that is faster than the controller. */
async function replaceCronJob(change: (spec: object) => object): Promise<void> {
  const type = shop.typeOf('CronJob');
  const { metadata, spec, apiVersion, kind } = (await shop.get('CronJob', 'orders-backup')) as KubeObject & {
    spec: object;
  };
  const { name, namespace = '', labels = {}, ownerReferences = [] } = metadata;
  const body = { apiVersion, kind, metadata: { name, namespace, labels, ownerReferences }, spec: change(spec) };
  await eventually('it is made again', async () => {
    await shop.running.settled();
    await shop.delete('CronJob', name);
    return shop.kube.create(body, { type, fieldManager: 'kubectl-replace' }).catch((error: unknown) => {
      if (classify(error).kind !== 'already-exists') throw error;
      return undefined;
    });
  });
}

const replacements: readonly (readonly [what: string, change: (spec: object) => object, maker: string])[] = [
  ['for his values', (spec) => ({ ...spec, suspend: true }), 'Update spec.suspend'],
  ['for the object where all are ours', (spec) => spec, 'Create '],
];

for (const [what, change, maker] of replacements) {
  test(`of what is deleted and made again nobody is named for the deletion, and the maker ${what}`, async () => {
    await replaceCronJob(change);
    await eventually('it is true again', async () => (await shop.isTrue('CronJob', 'orders-backup')) || undefined);
    await shop.running.settled();
    const told = shop.running.drifts
      .slice(-2)
      .map(({ object, field, editor }) => `${object} ${editor.manager} ${editor.operation} ${field}`);
    assert.deepEqual(told, ['CronJob/orders-backup unknown Delete ', `CronJob/orders-backup kubectl-replace ${maker}`]);
  });
}

test('the same edit twice in a row is put back twice, however fast they come', async () => {
  const before = shop.running.drifts.length;
  for (const replicas of [1, 2, 7, 9]) await shop.patch('StatefulSet', 'orders', { body: { spec: { replicas } } });
  await eventually('it is true again', async () => (await shop.isTrue('StatefulSet', 'orders')) || undefined);
  await shop.running.settled();
  assert(await shop.isTrue('StatefulSet', 'orders'));
  const found = shop.running.drifts.slice(before);
  assert(found.length >= 1 && found.every(({ field }) => field === 'spec.replicas'));
  assert(isDeepStrictEqual(found.at(-1)?.was, '3'));
});

test('in a database whose members get nowhere an edit costs and says as much as in any other, also over a restart', async () => {
  let ahead = 0;
  const clock: Clock = { ...systemClock, now: () => Date.now() + ahead };
  await using still = await Shop.open({ clock });
  await still.create('still', { ...wholeSpec, upgrade: { healthTimeoutSeconds: 30 } });
  ahead = 60_000;
  await still.patch('DatabaseService', 'still', { body: { metadata: { annotations: { look: 'again' } } } });
  await still.untilCondition('still', 'Stalled', /^True RolloutFailed: still-0 gets nowhere/);
  await still.running.settled();
  const told = async (act: () => Promise<unknown>) => {
    const before = still.running.drifts.length;
    const made = await still.requestsFor(async () => {
      await act();
      await eventually('it is told', () => still.running.drifts.length > before || undefined);
    });
    const { object, field } = still.running.drifts.at(-1) ?? {};
    return [`${object} ${field}`, ...made.toSorted()];
  };
  const label = { metadata: { labels: { 'plumbline.dev/database': null } } };
  const edit = () => still.patch('StatefulSet', 'still', { body: postgres({ image: 'evil:1' }), kind: 'strategic' });
  assert.deepEqual(await told(edit), [
    `StatefulSet/still ${image}`,
    'apply DatabaseService',
    'apply StatefulSet',
    'create Event',
  ]);
  const [lost] = await told(() => still.patch('RoleBinding', 'still-members', { body: label }));
  assert.equal(lost, 'RoleBinding/still-members metadata.labels[plumbline.dev/database]');
  const night = { body: { metadata: { labels: { [instance]: null } } } };
  await still.restart(() => still.patch('ServiceAccount', 'still-members', night), { clock });
  assert.deepEqual(
    still.running.drifts.map(({ object, field }) => `${object} ${field}`),
    [`ServiceAccount/still-members metadata.labels[${instance}]`],
  );
  assert.match(await still.condition('still', 'Stalled'), /^True RolloutFailed/);
});
