import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { KubeObject, ResourceType } from '../../../controller/kube/index.ts';
import { eventually } from '../running-plumbline.ts';
import { Shop, wholeSpec } from './shop.ts';

let shop: Shop;
before(async () => {
  shop = await Shop.open();
});
after(async () => {
  await shop[Symbol.asyncDispose]();
});

/** The same object written anew by somebody, while no controller runs. */
async function makeAgain(kind: string, name: string, change: (spec: Fields) => Fields): Promise<void> {
  await shop.restart(async () => {
    const { metadata, ...rest } = (await shop.get(kind, name)) as KubeObject;
    const { labels, ownerReferences, namespace } = metadata;
    await shop.delete(kind, name, { propagationPolicy: 'Orphan' });
    await eventually('it is gone', async () => (await shop.get(kind, name)) === undefined || undefined);
    const made = { ...change(rest), metadata: { name, namespace, labels, ownerReferences } } as KubeObject;
    await shop.kube.create(made, { type: shop.typeOf(kind), fieldManager: 'kubectl-create' });
  });
}

type Fields = Readonly<Record<string, unknown>>;
const specOf = (object: Fields): Fields => object['spec'] as Fields;

/** `action field manager` of each receipt about an object, the newest first. */
async function told(database: string, object: string): Promise<readonly string[]> {
  const receipts = (await shop.receipts(database)).filter((receipt) => receipt.object === object);
  return receipts.map(({ action, field, manager }) => `${action} ${field} ${manager}`);
}

/** What is said of a database, but for when. */
async function said(database: string): Promise<readonly string[]> {
  await shop.running.settled();
  const [drifted, stalled] = [await shop.condition(database, 'Drifted'), await shop.condition(database, 'Stalled')];
  return [drifted, stalled, ...(await shop.receipts(database)).map((receipt) => JSON.stringify(receipt))];
}

/** Words of a command, as a shell would split them: nothing in it is quoted. */
function commandIn(message: string): readonly string[] {
  const [, command = ''] = /Run `(kubectl [^`]+)`, and Plumbline makes it again\.$/.exec(message) ?? [];
  return command.split(' ').slice(1);
}

interface Row {
  readonly what: string;
  readonly database: string;
  readonly object: readonly [kind: string, name: string];
  readonly act: () => Promise<unknown>;
  /** What is told of it, `field manager`. */
  readonly reported: string;
  readonly command: string;
}

const rows: readonly Row[] = [
  {
    what: 'a ConfigMap that was edited and made immutable in one write',
    database: 'written',
    object: ['ConfigMap', 'written-patroni'],
    act: () => shop.patch('ConfigMap', 'written-patroni', { body: { immutable: true, data: { 'member.json': 'x' } } }),
    reported: 'data[member.json] kubectl-edit',
    command: 'delete configmap written-patroni',
  },
  {
    what: 'a ConfigMap that was made immutable',
    database: 'frozen',
    object: ['ConfigMap', 'frozen-patroni'],
    act: () => shop.patch('ConfigMap', 'frozen-patroni', { body: { immutable: true } }),
    reported: 'immutable kubectl-edit',
    command: 'delete configmap frozen-patroni',
  },
  {
    what: 'a RoleBinding to another role',
    database: 'bound',
    object: ['RoleBinding', 'bound-members'],
    act: () =>
      makeAgain('RoleBinding', 'bound-members', (one) => ({
        ...one,
        roleRef: { ...(one['roleRef'] as Fields), name: 'other' },
      })),
    reported: 'roleRef kubectl-create',
    command: 'delete rolebinding bound-members',
  },
  {
    what: 'a headless Service that got an address',
    database: 'headed',
    object: ['Service', 'headed-members'],
    act: () =>
      makeAgain('Service', 'headed-members', (one) => {
        const { clusterIP: _, clusterIPs: __, ...spec } = specOf(one);
        return { ...one, spec };
      }),
    reported: 'spec.clusterIP unknown',
    command: 'delete service headed-members',
  },
  {
    what: 'a StatefulSet with another claim template',
    database: 'large',
    object: ['StatefulSet', 'large'],
    act: () =>
      makeAgain('StatefulSet', 'large', ({ status: _, ...one }) => {
        const templates = structuredClone(specOf(one)['volumeClaimTemplates']) as {
          spec: { resources: { requests: { storage: string } } };
        }[];
        for (const { spec } of templates) spec.resources.requests.storage = '7Gi';
        return { ...one, spec: { ...specOf(one), volumeClaimTemplates: templates } };
      }),
    reported: 'spec.volumeClaimTemplates kubectl-create',
    command: 'delete statefulset large --cascade=orphan',
  },
];

for (const { what, database, object, act, reported, command } of rows) {
  test(`what cannot be put back is told with the command that helps: ${what}`, async () => {
    await shop.create(database, wholeSpec);
    const pods = (await shop.list(shop.typeOf('Pod'), `plumbline.dev/database=${database}`)).map(uidOf).sort();
    await act();
    const stalled = await shop.untilCondition(database, 'Stalled', /^True Refused/);
    await shop.untilCondition(database, 'Drifted', /^True .*(kubectl-edit|kubectl-create|Somebody) changed/);
    const receipts = await told(database, object.join('/'));
    assert(receipts.includes(`Reported ${reported}`), receipts.join('\n'));
    const before = await said(database);
    await shop.restart();
    assert.deepEqual(await said(database), before, 'another controller says the same');
    const words = commandIn(stalled);
    assert.equal(words.join(' '), `-n ${shop.namespace} ${command}`, stalled);
    const { code, stderr } = await shop.cluster.kubectlRun([...words]);
    assert.equal(code, 0, stderr);
    await shop.untilCondition(database, 'Stalled', /^False/);
    await shop.untilCondition(database, 'Drifted', /^False InTrue/);
    assert(await shop.isTrue(...object, database));
    const now = (await shop.list(shop.typeOf('Pod'), `plumbline.dev/database=${database}`)).map(uidOf);
    assert(
      pods.every((uid) => now.includes(uid)),
      'no member went',
    );
  });
}

const uidOf = ({ metadata }: KubeObject): string => metadata.uid ?? '';

test('a Service that something else made and owns now is told as a deletion, and follows when the name is free', async () => {
  await shop.create('named', wholeSpec);
  const type = shop.typeOf('ConfigMap');
  const head = { name: 'foreign', namespace: shop.namespace };
  const { metadata } = await shop.kube.create(
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: head },
    {
      type,
      fieldManager: 'kubectl',
    },
  );
  const { uid = '' } = metadata;
  await shop.restart(async () => {
    await shop.delete('Service', 'named');
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'foreign', uid, controller: true };
    const made = { name: 'named', namespace: shop.namespace, ownerReferences: [owner] };
    await shop.kube.create(
      { apiVersion: 'v1', kind: 'Service', metadata: made, spec: { ports: [{ port: 1 }] } },
      { type: shop.typeOf('Service'), fieldManager: 'other-operator' },
    );
  });
  await shop.untilCondition('named', 'Stalled', /^True NameTaken: .*belongs to ConfigMap foreign/);
  await shop.untilCondition('named', 'Drifted', /^True .*Somebody deleted Service\/named\./);
  assert.deepEqual(await told('named', 'Service/named'), ['Reported  unknown', 'Reported  other-operator']);
  const before = await said('named');
  await shop.restart();
  assert.deepEqual(await said('named'), before);
  await shop.delete('Service', 'named');
  await shop.untilCondition('named', 'Drifted', /^False InTrue/);
  assert(await shop.isTrue('Service', 'named', 'named'));
});

const kind = (kind: string, plural: string): ResourceType => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind,
  plural,
  namespaced: false,
});
const policies = kind('ValidatingAdmissionPolicy', 'validatingadmissionpolicies');
const bindings = kind('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings');

interface Denied {
  readonly group: string;
  readonly resource: string;
  readonly verb: 'CREATE' | 'UPDATE';
}

/**
 * An admission policy that denies writes in the namespace unless an expression holds, from when it is in force until it is disposed of.
 *
 * @param probe arguments of a kubectl that is denied then
 */
async function deny(
  denied: readonly Denied[],
  expression: string,
  probe: readonly string[],
): Promise<AsyncDisposable & { readonly end: () => Promise<void> }> {
  const name = `denied-${Date.now()}`;
  const resourceRules = denied.map(({ group, resource, verb }) => ({
    apiGroups: [group],
    apiVersions: ['v1'],
    operations: [verb],
    resources: [resource],
  }));
  const matchResources = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': shop.namespace } } };
  const validations = [{ expression, message: 'the platform wants it so' }];
  const made = [
    [policies, { matchConstraints: { resourceRules }, validations }],
    [bindings, { policyName: name, validationActions: ['Deny'], matchResources }],
  ] as const;
  for (const [type, spec] of made) {
    const { apiVersion, kind } = type;
    await shop.kube.create({ apiVersion, kind, metadata: { name }, spec }, { type, fieldManager: 'test' });
  }
  let isOver = false;
  const end = async (): Promise<void> => {
    if (isOver) return;
    isOver = true;
    for (const [type] of made.toReversed()) await shop.kube.delete(type, { name });
  };
  await eventually('the policy is in force', async () => {
    const { code } = await shop.cluster.kubectlRun([...probe, '-n', shop.namespace, '--dry-run=server']);
    return code !== 0 || undefined;
  });
  return { end, [Symbol.asyncDispose]: end };
}

test('a repair that a policy denies is told once however often it is tried, and again when it is made', async () => {
  await shop.create('denied', wholeSpec);
  const edit = (maxUnavailable: number) => [
    'patch',
    'pdb',
    'denied',
    '-p',
    `{"spec":{"maxUnavailable":${maxUnavailable}}}`,
  ];
  await using denial = await deny(
    [{ group: 'policy', resource: 'poddisruptionbudgets', verb: 'UPDATE' }],
    'object.spec.maxUnavailable == 2',
    edit(3),
  );
  assert.equal((await shop.cluster.kubectlRun([...edit(2), '-n', shop.namespace])).code, 0);
  await shop.untilCondition('denied', 'Stalled', /^True AdmissionDenied: .*the platform wants it so/);
  await shop.untilCondition('denied', 'Drifted', /^True NotAllPutBack: kubectl-patch changed spec.maxUnavailable of/);
  const applies = () =>
    shop.running.requests.filter(({ verb, type }) => verb === 'apply' && type?.kind === 'PodDisruptionBudget').length;
  const before = applies();
  await eventually('it was tried again and again', () => applies() >= before + 3 || undefined);
  const field = 'spec.maxUnavailable kubectl-patch';
  assert.deepEqual(await told('denied', 'PodDisruptionBudget/denied'), [`Reported ${field}`]);
  const events = await eventually('the Event is there', async () => {
    const found = await shop.driftEvents('denied');
    return found.length > 0 ? found : undefined;
  });
  assert.equal(events.length, 1);
  assert.match(events[0] ?? '', /It could not be put back, and the conditions say why\.$/);
  await denial.end();
  await shop.untilCondition('denied', 'Drifted', /^False InTrue/);
  assert.deepEqual(await told('denied', 'PodDisruptionBudget/denied'), [`Corrected ${field}`, `Reported ${field}`]);
});

test('what happened while no controller ran and none may put back is said alike by each that comes after, and told once', async () => {
  await shop.create('closed', wholeSpec);
  const instance = 'app.kubernetes.io/instance';
  const relabel = ['label', 'role', 'closed-members', `${instance}=x`, '--overwrite'];
  const denied = [
    { group: 'rbac.authorization.k8s.io', resource: 'roles', verb: 'UPDATE' },
    { group: 'policy', resource: 'poddisruptionbudgets', verb: 'UPDATE' },
    { group: '', resource: 'services', verb: 'CREATE' },
  ] as const;
  let end: () => Promise<void> = async () => undefined;
  await shop.restart(async () => {
    await shop.patch('Role', 'closed-members', { body: { metadata: { labels: { [instance]: null } } } });
    await shop.patch('PodDisruptionBudget', 'closed', { body: { spec: { maxUnavailable: 2 } } });
    await shop.delete('Service', 'closed-ro');
    ({ end } = await deny(denied, 'false', relabel));
  });
  try {
    const drifted = await shop.untilCondition('closed', 'Drifted', /^True NotAllPutBack/);
    const sentences = [
      'kubectl-edit changed spec.maxUnavailable of PodDisruptionBudget/closed from 1 to 2.',
      `Somebody removed metadata.labels[${instance}] of Role/closed-members.`,
      'Somebody deleted Service/closed-ro.',
    ];
    for (const sentence of sentences) assert(drifted.includes(sentence), drifted);
    const before = await said('closed');
    for (let turn = 0; turn < 2; turn++) {
      await shop.restart();
      assert.deepEqual(await said('closed'), before);
    }
  } finally {
    await end();
  }
  await shop.untilCondition('closed', 'Drifted', /^False InTrue/);
  const actions = (await shop.receipts('closed')).map(({ action, object }) => `${action} ${object}`);
  const objects = ['PodDisruptionBudget/closed', 'Role/closed-members', 'Service/closed-ro'];
  assert.deepEqual(
    actions.toSorted(),
    ['Corrected', 'Reported'].flatMap((action) => objects.map((object) => `${action} ${object}`)),
  );
});

test('what stands in the place of what was deleted is left where drift is only reported, said alike by each controller, and put back in the end', async () => {
  await shop.create('placed', { ...wholeSpec, drift: { policy: 'Report' } });
  const { namespace } = shop;
  const { labels = {}, ownerReferences = [] } = (await shop.get('Service', 'placed-ro'))?.metadata ?? {};
  await shop.delete('Service', 'placed-ro');
  await shop.untilCondition('placed', 'Drifted', /^True DriftReported: Somebody deleted Service\/placed-ro\.$/);
  const made = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'placed-ro', namespace, labels, ownerReferences },
    // One without a name, which Kubernetes allows nobody beside another.
    spec: { ports: [{ port: 99 }], selector: { app: 'x' } },
  };
  await shop.kube.create(made, { type: shop.typeOf('Service'), fieldManager: 'kubectl-create' });
  await shop.untilCondition(
    'placed',
    'Drifted',
    /^True DriftReported: Somebody deleted Service\/placed-ro\. kubectl-create changed spec\.selector of Service\/placed-ro from \S+ to \{"app":"x"\}\.$/,
  );
  const field = ['spec.selector kubectl-create', ' unknown'];
  assert.deepEqual(
    await told('placed', 'Service/placed-ro'),
    field.map((one) => `Reported ${one}`),
  );
  const before = await said('placed');
  await shop.restart();
  assert.deepEqual(await said('placed'), before);
  await shop.edit('placed', { drift: null });
  await shop.untilCondition('placed', 'Drifted', /^False InTrue/);
  assert(await shop.isTrue('Service', 'placed-ro', 'placed'));
  const corrected = (await told('placed', 'Service/placed-ro')).filter((one) => one.startsWith('Corrected'));
  assert.deepEqual(corrected.toSorted(), [
    'Corrected  unknown',
    'Corrected spec.ports[port=99,protocol=TCP] kubectl-create',
    'Corrected spec.selector kubectl-create',
  ]);
});
