import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fieldManager } from '../../../controller/database/child.ts';
import { stateAll } from '../../../controller/database/stated.ts';
import { hasOldHands } from '../../../controller/drift/index.ts';
import type { KubeObject, Patch, ResourceType } from '../../../controller/kube/index.ts';
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

interface Row {
  readonly what: string;
  readonly kind: string;
  readonly act: () => Promise<unknown>;
  /** `field = value after by manager` of what is told. */
  readonly told: readonly string[];
}

interface Container {
  readonly name: string;
  readonly env: readonly { readonly name: string }[];
  readonly volumeMounts: readonly { readonly mountPath: string }[];
}
interface PodSpec {
  readonly containers: readonly Container[];
  readonly volumes: readonly { readonly name: string; readonly configMap?: object }[];
}

const json = (kind: string, patches: (pod: PodSpec) => readonly object[]) => async (): Promise<void> => {
  const { spec } = (await shop.get(kind, 'orders')) as unknown as { spec: { template?: { spec: PodSpec } } };
  const body = patches(spec.template?.spec ?? { containers: [], volumes: [] });
  await shop.patch(kind, 'orders', { kind: 'json', body });
};
const replace = (path: string, value: unknown): object => ({ op: 'replace', path, value });
const strategic =
  (kind: string, body: object, more: Partial<Patch> = {}) =>
  (): Promise<unknown> =>
    shop.patch(kind, 'orders', { kind: 'strategic', body, ...more });
const container = 'spec.template.spec.containers[name=postgres]';
/** Where the item of a list stands in the container of PostgreSQL. */
function inPostgres<L extends 'env' | 'volumeMounts'>(
  { containers }: PodSpec,
  list: L,
  is: (item: Container[L][number]) => boolean,
): string {
  const at = containers.findIndex(({ name }) => name === 'postgres');
  const items: readonly Container[L][number][] = containers[at]?.[list] ?? [];
  return `/spec/template/spec/containers/${at}/${list}/${items.findIndex(is)}`;
}

const rows: readonly Row[] = [
  {
    what: 'https://github.com/kubernetes/kubernetes/issues/118725: the number of a named port',
    kind: 'Service',
    act: json('Service', () => [replace('/spec/ports/0/port', 5433)]),
    told: ['spec.ports[port=5432,protocol=TCP] = {"port":5433} by kubectl-edit'],
  },
  {
    what: 'the number of a named port, and where it leads',
    kind: 'Service',
    act: json('Service', () => [replace('/spec/ports/0/port', 5433), replace('/spec/ports/0/targetPort', 80)]),
    told: ['spec.ports[port=5432,protocol=TCP] = {"port":5433,"targetPort":80} by kubectl-edit'],
  },
  {
    what: 'the name of a variable',
    kind: 'StatefulSet',
    act: json('StatefulSet', (pod) => [
      replace(`${inPostgres(pod, 'env', ({ name }) => name === 'HOME')}/name`, 'HOUSE'),
    ]),
    told: [`${container}.env[name=HOME] = (hidden) by kubectl-edit`],
  },
  {
    what: 'where a volume is mounted',
    kind: 'StatefulSet',
    act: json('StatefulSet', (pod) => [
      replace(`${inPostgres(pod, 'volumeMounts', ({ mountPath }) => mountPath === '/tmp')}/mountPath`, '/temp'),
    ]),
    told: [`${container}.volumeMounts[mountPath=/tmp] = {"mountPath":"/temp"} by kubectl-edit`],
  },
  {
    what: 'the source of a volume',
    kind: 'StatefulSet',
    act: json('StatefulSet', ({ volumes }) => {
      const at = volumes.findIndex(({ configMap }) => configMap !== undefined);
      return [
        replace(`/spec/template/spec/volumes/${at}`, { name: volumes[at]?.name, emptyDir: { medium: 'Memory' } }),
      ];
    }),
    told: [
      'spec.template.spec.volumes[name=scripts].configMap = gone by unknown',
      'spec.template.spec.volumes[name=scripts].emptyDir = {"medium":"Memory"} by kubectl-edit',
    ],
  },
  {
    what: 'no source of a volume, so that Kubernetes takes an empty one',
    kind: 'StatefulSet',
    act: json('StatefulSet', ({ volumes }) => {
      const at = volumes.findIndex(({ configMap }) => configMap !== undefined);
      return [{ op: 'remove', path: `/spec/template/spec/volumes/${at}/configMap` }];
    }),
    told: ['spec.template.spec.volumes[name=scripts].configMap = gone by unknown'],
  },
  {
    what: 'no update strategy, so that Kubernetes takes its own',
    kind: 'StatefulSet',
    act: json('StatefulSet', () => [{ op: 'remove', path: '/spec/updateStrategy' }]),
    told: ['spec.updateStrategy.type = RollingUpdate by kubectl-edit'],
  },
  {
    what: 'the value of a variable, by a reference',
    kind: 'StatefulSet',
    act: strategic('StatefulSet', {
      spec: {
        template: {
          spec: {
            containers: [
              {
                name: 'postgres',
                env: [{ name: 'HOME', value: null, valueFrom: { configMapKeyRef: { name: 'x', key: 'y' } } }],
              },
            ],
          },
        },
      },
    }),
    told: [
      `${container}.env[name=HOME].value = gone by unknown`,
      `${container}.env[name=HOME].valueFrom = (hidden) by kubectl-edit`,
    ],
  },
];

for (const { what, kind, act, told } of rows) {
  test(`what would be refused or left over is taken over first: ${what}`, async () => {
    const spec = (await shop.get(kind, 'orders'))?.['spec'];
    const before = shop.running.drifts.length;
    await act();
    await eventually('it is told', () => shop.running.drifts.length > before || undefined);
    await shop.running.settled();
    assert(await shop.isTrue(kind, 'orders'));
    assert.deepEqual((await shop.get(kind, 'orders'))?.['spec'], spec, 'as it was');
    const found = shop.running.drifts.slice(before);
    assert.deepEqual(
      found.map(({ field, now, editor }) => `${field} = ${now ?? 'gone'} by ${editor.manager}`).sort(),
      told,
    );
    assert.match(await shop.condition('orders', 'Drifted'), /^False InTrue/);
    assert.match(await shop.condition('orders', 'Stalled'), /^False/);
  });
}

test('https://github.com/fluxcd/helm-controller/issues/742: a limit of somebody else that a new request exceeds', async () => {
  await shop.create('limits', { resources: { requests: { cpu: '100m' }, limits: {} } });
  const limit = { name: 'postgres', resources: { limits: { cpu: '200m' } } };
  await shop.patch('StatefulSet', 'limits', {
    kind: 'strategic',
    body: { spec: { template: { spec: { containers: [limit] } } } },
  });
  await shop.untilCondition('limits', 'Drifted', /^True AdditionReported/);
  await shop.edit('limits', { resources: { requests: { cpu: '500m' } } });
  await shop.untilCondition('limits', 'Drifted', /^False InTrue/);
  assert(await shop.isTrue('StatefulSet', 'limits', 'limits'));
});

test('what was taken over is given back when the apply is refused all the same, without a hot loop', async () => {
  await using shop = await Shop.open({ lookAgainMs: 3_000 });
  const name = `ports-${Date.now()}`;
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const type = (kind: string, plural: string): ResourceType => ({ apiVersion, kind, plural, namespaced: false });
  const policies = type('ValidatingAdmissionPolicy', 'validatingadmissionpolicies');
  const bindings = type('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings');
  const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['services'] }];
  const isOurs = `object.metadata.namespace != "${shop.namespace}" || object.metadata.name != "given"`;
  await shop.create('given', {});
  const edit = [replace('/spec/ports/0/port', 5433)];
  await shop.restart(async () => {
    await shop.patch('Service', 'given', { kind: 'json', body: edit });
    await shop.kube.create(
      {
        apiVersion,
        kind: policies.kind,
        metadata: { name },
        spec: {
          matchConstraints: { resourceRules: rules },
          validations: [{ expression: `${isOurs} || object.spec.ports.all(p, p.port == 5433)`, message: '5433 it is' }],
        },
      },
      { type: policies, fieldManager: 'test' },
    );
    const spec = { policyName: name, validationActions: ['Deny'] };
    await shop.kube.create(
      { apiVersion, kind: bindings.kind, metadata: { name }, spec },
      { type: bindings, fieldManager: 'test' },
    );
    await eventually('the policy is in force', async () => {
      const args = ['patch', 'service', 'given', '-n', shop.namespace, '--dry-run=server', '--type=json', '-p'];
      const { code } = await shop.cluster.kubectlRun([...args, JSON.stringify([replace('/spec/ports/0/port', 1)])]);
      return code !== 0 || undefined;
    });
  });
  await shop.untilCondition('given', 'Stalled', /^True AdmissionDenied: .*5433 it is/);
  const holders = ((await shop.get('Service', 'given'))?.metadata.managedFields ?? []).filter(({ fieldsV1 }) =>
    JSON.stringify(fieldsV1).includes('5433'),
  );
  assert.deepEqual(
    holders.map(({ manager }) => manager),
    ['kubectl-edit'],
  );
  const made = shop.running.requests.length;
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  const writes = shop.running.requestsAfter(made).filter(({ verb }) => verb === 'patch');
  assert(writes.length <= 2, `${writes.length} writes`);
  await shop.kube.delete(bindings, { name });
  await shop.kube.delete(policies, { name });
  await shop.untilCondition('given', 'Stalled', /^False/);
  const { spec } = (await shop.get('Service', 'given')) as unknown as { spec: { ports: readonly { port: number }[] } };
  assert.deepEqual(
    spec.ports.map(({ port }) => port),
    [5432],
  );
});

/** Managers, but of subresources, that own a field of ours too. */
async function sharers(name: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { object } of stateAll(await shop.resource(name))) {
    const live = await shop.get(object.kind, object.metadata.name);
    assert(live);
    if (hasOldHands(live, fieldManager)) found.push(`${object.kind}/${object.metadata.name}`);
  }
  return found;
}

test('a wipe of managedFields leaves nobody behind who owns our fields too, and changes no value', async () => {
  await shop.create('wiped', wholeSpec);
  await shop.patch('StatefulSet', 'wiped', { body: { metadata: { labels: { team: 'a' } } } });
  const { generation } = (await shop.get('StatefulSet', 'wiped'))?.metadata ?? {};
  const before = shop.running.drifts.length;
  const made = await shop.requestsFor(async () => {
    await shop.patch('StatefulSet', 'wiped', { body: { metadata: { managedFields: [{}] } } });
    await eventually('it is told', () => shop.running.drifts.length > before || undefined);
  });
  assert(made.length <= 4, made.join(', '));
  const live = await shop.get('StatefulSet', 'wiped');
  assert.deepEqual([live?.metadata.generation, live?.metadata.labels?.['team']], [generation, 'a']);
  const managers = (live?.metadata.managedFields ?? []).filter(({ subresource }) => subresource === undefined);
  assert.deepEqual(
    managers.map(({ manager }) => manager),
    ['plumbline'],
  );
  assert(await shop.isTrue('StatefulSet', 'wiped', 'wiped'));
});

test('what kubectl apply made before is taken over: a field that the spec drops goes, and what is not ours stays', async () => {
  const nodes = { scheduling: { nodeSelector: { pool: 'db' } } };
  await shop.create('applied', { ...wholeSpec, ...nodes });
  const stated = stateAll(await shop.resource('applied')).map(({ object }) => object);
  await shop.restart(async () => {
    for (const { kind, metadata } of stated) {
      if (kind === 'PersistentVolumeClaim') continue;
      await shop.delete(kind, metadata.name, { propagationPolicy: 'Orphan' });
      await eventually('it is gone', async () => (await shop.get(kind, metadata.name)) === undefined || undefined);
    }
    const items = stated.map((object) => ({
      ...object,
      metadata: { ...object.metadata, labels: { ...object.metadata.labels, team: 'a' } },
    }));
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    const { code, stderr } = await shop.cluster.kubectlRun(['apply', '-n', shop.namespace, '-f', '-'], list);
    assert.equal(code, 0, stderr);
  });
  await shop.running.settled();
  assert.deepEqual(await sharers('applied'), []);
  await shop.edit('applied', { scheduling: null });
  await eventually('it is dropped', async () => {
    const text = JSON.stringify((await shop.get('StatefulSet', 'applied'))?.['spec']);
    return !text.includes('"pool"') || undefined;
  });
  const { labels, annotations } = (await shop.get('StatefulSet', 'applied'))?.metadata ?? {};
  assert.equal(labels?.['team'], 'a');
  assert(annotations?.['kubectl.kubernetes.io/last-applied-configuration']);
});

test('what an earlier name of Plumbline owns is ours, and goes when it is not stated', async () => {
  await shop.create('former', {});
  await shop.restart(async () => {
    const added = { spec: { trafficDistribution: 'PreferClose' } };
    const live = await shop.patch('Service', 'former', { body: added });
    const [own] = (live.metadata.managedFields ?? []).filter(({ manager }) => manager === fieldManager);
    const spec = { ...(own?.fieldsV1?.['f:spec'] as object), 'f:trafficDistribution': {} };
    const renamed = { ...own, manager: 'plumbline-controller', fieldsV1: { ...own?.fieldsV1, 'f:spec': spec } };
    const body = [replace('/metadata/managedFields', [renamed])];
    await shop.patch('Service', 'former', { kind: 'json', body });
  });
  await shop.running.settled();
  const live = (await shop.get('Service', 'former')) as KubeObject;
  assert.equal((live['spec'] as { trafficDistribution?: string }).trafficDistribution, undefined);
  assert.deepEqual(
    (live.metadata.managedFields ?? []).map(({ manager }) => manager),
    ['plumbline'],
  );
  assert(await shop.isTrue('Service', 'former', 'former'));
});
