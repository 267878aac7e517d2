import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { stateAll } from '../../../controller/database/stated.ts';
import type { KubeObject, Patch } from '../../../controller/kube/index.ts';
import { eventually } from '../running-plumbline.ts';
import { inShort, Shop, wholeSpec } from './shop.ts';

let shop: Shop;
before(async () => {
  shop = await Shop.open();
});
after(async () => {
  await shop[Symbol.asyncDispose]();
});

interface Row {
  readonly what: string;
  readonly kind: string;
  readonly body: unknown;
  readonly field: string;
  /** As it is told; defaults to `(hidden)`. */
  readonly now?: string;
  /** Something that is there as long as the addition is. */
  readonly sign: string;
}

const template = (body: object): object => ({ spec: { template: body } });
const pods = (body: object): object => template({ spec: body });
const postgres = (fields: object): object => pods({ containers: [{ name: 'postgres', ...fields }] });
const pod = 'spec.template.spec';

const rows: readonly Row[] = [
  {
    what: 'a sidecar whose environment stays hidden',
    kind: 'StatefulSet',
    body: pods({ containers: [{ name: 'spy', image: 'spy:1', env: [{ name: 'PASSWORD', value: 'hunter2' }] }] }),
    field: `${pod}.containers[name=spy]`,
    sign: 'spy:1',
  },
  {
    what: 'a variable',
    kind: 'StatefulSet',
    body: postgres({ env: [{ name: 'TEAM', value: 'hunter2' }] }),
    field: `${pod}.containers[name=postgres].env[name=TEAM]`,
    sign: '"TEAM"',
  },
  {
    what: 'a toleration',
    kind: 'StatefulSet',
    body: pods({ tolerations: [{ key: 'spot', operator: 'Exists' }] }),
    field: `${pod}.tolerations`,
    now: '[{"key":"spot","operator":"Exists"}]',
    sign: '"spot"',
  },
  {
    what: 'a label of the pod template',
    kind: 'StatefulSet',
    body: template({ metadata: { labels: { team: 'a' } } }),
    field: 'spec.template.metadata.labels.team',
    now: 'a',
    sign: '"team":"a"',
  },
  {
    what: 'an annotation of the pod template',
    kind: 'StatefulSet',
    body: template({ metadata: { annotations: { 'example.com/note': 'hunter2' } } }),
    field: 'spec.template.metadata.annotations[example.com/note]',
    sign: 'example.com/note',
  },
  {
    what: 'a volume and its mount',
    kind: 'StatefulSet',
    body: pods({
      volumes: [{ name: 'cache', emptyDir: {} }],
      containers: [{ name: 'postgres', volumeMounts: [{ name: 'cache', mountPath: '/cache' }] }],
    }),
    field: `${pod}.volumes[name=cache]`,
    now: '{"name":"cache","emptyDir":{}}',
    sign: '/cache',
  },
  {
    what: 'a port of a Service',
    kind: 'Service',
    body: { spec: { ports: [{ name: 'extra', port: 9999, targetPort: 9999 }] } },
    field: 'spec.ports[port=9999,protocol=TCP]',
    now: '{"name":"extra","protocol":"TCP","port":9999,"targetPort":9999}',
    sign: '9999',
  },
  {
    what: 'a field that we do not state',
    kind: 'Service',
    body: { spec: { trafficDistribution: 'PreferClose' } },
    field: 'spec.trafficDistribution',
    now: 'PreferClose',
    sign: 'PreferClose',
  },
];

const add = (name: string, { kind, body }: Row, more: Partial<Patch> = {}) =>
  shop.patch(kind, name, { kind: 'strategic', body, fieldManager: 'kubectl-patch', ...more });

async function has(name: string, { kind, sign }: Row): Promise<boolean> {
  const { metadata: _, ...rest } = (await shop.get(kind, name)) as KubeObject;
  return JSON.stringify(rest).includes(sign);
}

test('what others add is told once and left, also over a restart; at rest it costs nothing', async () => {
  await shop.create('left', wholeSpec);
  for (const row of rows) {
    const made = await shop.requestsFor(async () => {
      await add('left', row);
      await eventually(
        `${row.what} is told`,
        async () => (await shop.receipts('left')).some(({ field }) => field === row.field) || undefined,
      );
    });
    // One status more where the StatefulSet's own controller has made a member in this moment.
    assert.deepEqual([...new Set(made)].sort(), ['apply DatabaseService', 'create Event'], row.what);
    const receipt = (await shop.receipts('left')).find(({ field }) => field === row.field);
    assert.deepEqual(
      [receipt?.was, receipt?.now, receipt?.manager, receipt?.operation, receipt?.action],
      [undefined, row.now ?? '(hidden)', 'kubectl-patch', 'Update', 'Reported'],
    );
    assert(await has('left', row), row.what);
  }
  const drifted = await shop.condition('left', 'Drifted');
  assert.match(drifted, /^True AdditionReported: kubectl-patch added \d fields to /);
  assert.equal((await shop.status('left'))?.drift?.corrected, 0);
  const told = (await shop.receipts('left')).length;
  const events = (await shop.driftEvents('left')).length;
  assert.deepEqual(
    await shop.requestsFor(() => shop.patch('Service', 'left', { body: { metadata: { labels: { x: 'y' } } } })),
    [],
    'labels of the object are everybody’s',
  );
  await shop.restart();
  // Whether the members were made from what is stated, the new controller asks once for each template that they were made from.
  const asked = shop.running.requestsAfter(0).filter(({ verb }) => verb !== 'list');
  assert.deepEqual([...new Set(asked.map(inShort))], ['get ControllerRevision']);
  assert.deepEqual(
    [(await shop.receipts('left')).length, (await shop.driftEvents('left')).length],
    [told, events],
    'told once',
  );
  const all = [
    JSON.stringify(await shop.status('left')),
    ...(await shop.driftEvents('left')),
    ...shop.running.logLines,
  ];
  assert(!all.some((text) => text.includes('hunter2')));
});

test('a repair leaves what was added', async () => {
  await shop.create('beside', wholeSpec);
  const [spy] = rows;
  assert(spy);
  await add('beside', spy);
  await shop.untilCondition('beside', 'Drifted', /^True AdditionReported/);
  await add('beside', { ...spy, body: postgres({ image: 'evil:1' }) });
  await eventually('it is put back', async () => (await shop.status('beside'))?.drift?.corrected === 1 || undefined);
  await shop.running.settled();
  assert(await has('beside', spy));
  assert.match(await shop.condition('beside', 'Drifted'), /^True AdditionReported/);
});

test('with drift.additions Remove what others add is taken over and removed, and nothing else', async () => {
  await shop.create('removed', { ...wholeSpec, drift: { additions: 'Remove' } });
  const before = await shop.get('StatefulSet', 'removed');
  for (const [count, row] of rows.entries()) {
    const corrected = (await shop.status('removed'))?.drift?.corrected ?? 0;
    await add('removed', row);
    await eventually(
      `${row.what} is told`,
      async () => ((await shop.status('removed'))?.drift?.corrected ?? 0) > corrected || undefined,
    );
    await shop.running.settled();
    assert(!(await has('removed', row)), row.what);
    const receipt = (await shop.receipts('removed')).find(({ field }) => field === row.field);
    assert.deepEqual([receipt?.action, receipt?.manager], ['Corrected', 'kubectl-patch'], row.what);
    assert.match(await shop.condition('removed', 'Drifted'), /^False InTrue/, `after ${count + 1}`);
  }
  const after = await shop.get('StatefulSet', 'removed');
  assert.deepEqual(after?.['spec'], before?.['spec']);
  const entries = (after?.metadata.managedFields ?? []).filter(({ subresource }) => subresource === undefined);
  assert.deepEqual(
    entries.map(({ manager }) => manager),
    ['plumbline'],
    'nothing is left of theirs',
  );
});

test('what was left is removed when drift.additions becomes Remove, and what was added while no controller ran', async () => {
  await shop.create('turned', wholeSpec);
  const [spy, team] = rows;
  assert(spy && team);
  await add('turned', spy);
  await shop.untilCondition('turned', 'Drifted', /^True AdditionReported/);
  await shop.edit('turned', { drift: { additions: 'Remove' } });
  await shop.untilCondition('turned', 'Drifted', /^False InTrue/);
  assert(!(await has('turned', spy)));
  await shop.restart(() => add('turned', team));
  await eventually('it is removed', async () => !(await has('turned', team)) || undefined);
});

test('with drift.additions Allow, and for an allowed manager, nothing is said and nothing asked', async () => {
  await shop.create('allowed', { ...wholeSpec, drift: { additions: 'Allow' } });
  const noted = async (act: () => Promise<unknown>): Promise<readonly string[]> => {
    const made = await shop.requestsFor(act);
    // The StatefulSet's own controller may have made a member in this moment.
    return made.filter((request) => request !== 'apply DatabaseService');
  };
  for (const row of rows) assert.deepEqual(await noted(() => add('allowed', row)), [], row.what);
  await shop.create('mesh', { ...wholeSpec, drift: { additions: 'Remove', allowManagers: ['mesh-injector'] } });
  for (const row of rows) {
    assert.deepEqual(await noted(() => add('mesh', row, { fieldManager: 'mesh-injector' })), [], row.what);
    assert(await has('mesh', row));
  }
  for (const name of ['allowed', 'mesh']) {
    assert.deepEqual(await shop.receipts(name), []);
    assert.match(await shop.condition(name, 'Drifted'), /^False InTrue/);
  }
});

test('an allowed manager may have a field of ours, and a change of the spec leaves it to him', async () => {
  await shop.create('scaled', { ...wholeSpec, drift: { allowManagers: ['autoscaler'] } });
  const replicas = async (): Promise<unknown> =>
    ((await shop.get('StatefulSet', 'scaled'))?.['spec'] as { replicas?: number } | undefined)?.replicas;
  const scale = (count: number, fieldManager = 'autoscaler') =>
    shop.patch('StatefulSet', 'scaled', { body: { spec: { replicas: count } }, subresource: 'scale', fieldManager });
  await scale(5);
  await shop.running.settled();
  assert.equal(await replicas(), 5);
  await shop.edit('scaled', { resources: { requests: { cpu: '300m' } } });
  await eventually('it is seen', async () => (await shop.status('scaled'))?.observedGeneration === 2 || undefined);
  await shop.running.settled();
  assert.equal(await replicas(), 5);
  await scale(4);
  await shop.restart();
  assert.equal(await replicas(), 4);
  assert.deepEqual(await shop.receipts('scaled'), []);
  await scale(7, 'kubectl-scale');
  await eventually('another is put back', async () => (await replicas()) === 3 || undefined);
  const receipt = await eventually('he is named', async () => (await shop.receipts('scaled'))[0]);
  assert.equal(receipt.manager, 'kubectl-scale');

  await scale(6);
  await shop.running.settled();
  await shop.edit('scaled', { drift: { policy: 'Report', allowManagers: null } });
  await shop.untilCondition(
    'scaled',
    'Drifted',
    /^True DriftReported: autoscaler changed spec\.replicas .* from 3 to 6/,
  );
  await shop.running.settled();
  assert.equal(await replicas(), 6);
  await shop.edit('scaled', { drift: null });
  await eventually('it is put back', async () => (await replicas()) === 3 || undefined);
  await shop.untilCondition('scaled', 'Drifted', /^False InTrue/);
  const last = (await shop.receipts('scaled')).slice(0, 2).map(({ manager, action }) => `${manager} ${action}`);
  assert.deepEqual(last, ['autoscaler Corrected', 'autoscaler Reported']);
});

test('formancehq/ledger#1764: kubectl rollout restart, told and left or removed, and no new revision stays after Remove', async () => {
  const field = 'spec.template.metadata.annotations[kubectl.kubernetes.io/restartedAt]';
  const restart = async (name: string): Promise<void> => {
    const args = ['-n', shop.namespace, 'rollout', 'restart', `statefulset/${name}`];
    const { code, stderr } = await shop.cluster.kubectlRun(args);
    assert.equal(code, 0, stderr);
  };
  const revision = async (name: string) =>
    ((await shop.get('StatefulSet', name))?.['status'] as { updateRevision?: string } | undefined)?.updateRevision;
  const template = async (name: string): Promise<string> =>
    JSON.stringify((await shop.get('StatefulSet', name))?.['spec']);
  for (const [additions, action] of [
    ['Report', 'Reported'],
    ['Remove', 'Corrected'],
  ] as const) {
    const name = `restart-${additions.toLowerCase()}`;
    await shop.create(name, { ...wholeSpec, drift: { additions } });
    const before = await eventually('its revision is known', () => revision(name));
    await restart(name);
    const receipt = await eventually('it is told', async () => (await shop.receipts(name))[0]);
    assert.deepEqual([receipt.field, receipt.manager, receipt.action], [field, 'kubectl-rollout', action]);
    await shop.running.settled();
    assert.equal((await template(name)).includes('restartedAt'), additions === 'Report');
    if (additions === 'Remove') {
      await eventually(
        'the old revision is the newest again',
        async () => (await revision(name)) === before || undefined,
      );
    }
    assert.deepEqual(
      (await shop.receipts(name)).map(({ field: one }) => one),
      [field],
    );
  }
  await shop.create('restart-allow', { ...wholeSpec, drift: { additions: 'Allow' } });
  await restart('restart-allow');
  await shop.running.settled();
  assert.deepEqual(await shop.receipts('restart-allow'), []);
});

test('what Kubernetes fills in is no addition of whoever created, replaced or came before', async () => {
  await shop.create('filled', wholeSpec);
  const stated = stateAll(await shop.resource('filled')).map(({ object }) => object);
  await shop.restart(async () => {
    for (const { kind, metadata } of stated) {
      if (kind === 'PersistentVolumeClaim') continue;
      const live = await shop.get(kind, metadata.name);
      assert(live);
      await shop.delete(kind, metadata.name, { propagationPolicy: 'Orphan' });
      await eventually('it is gone', async () => (await shop.get(kind, metadata.name)) === undefined || undefined);
      const { uid: _, resourceVersion: __, managedFields: ___, ...rest } = live.metadata;
      const { status: ____, ...body } = live;
      await shop.kube.create({ ...body, metadata: rest }, { type: shop.typeOf(kind), fieldManager: 'restore-tool' });
    }
  });
  await shop.running.settled();
  for (const { kind, metadata } of stated) {
    await shop.patch(kind, metadata.name, { body: { metadata: { managedFields: [{}] } } });
  }
  await shop.running.settled();
  const told = shop.running.drifts.filter(({ field }) => field !== 'metadata.managedFields');
  // That it was deleted and made again, and nothing of what is in it.
  const others = told.filter(({ field, editor }) => field !== '' || !['Create', 'Delete'].includes(editor.operation));
  assert.deepEqual(others, []);
});
