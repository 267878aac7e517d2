import assert from 'node:assert/strict';
import test from 'node:test';
import { deviations, drifts, foreignFields, moves, obstacles, readable } from '../../../controller/drift/index.ts';
import type { KubeObject } from '../../../controller/kube/index.ts';
import { applied, changed, disowned, entryOf, ours, stated, treeOf } from './live.ts';

const container = ['spec', 'template', 'spec', 'containers', 0] as const;
const steps = ['f:spec', 'f:template', 'f:spec', 'f:containers', 'k:{"name":"postgres"}'];
const env = [...steps, 'f:env'];
const at = 'spec.template.spec.containers[name=postgres]';

/** Our object, in which kubectl-edit has put a variable in the place of ours. */
function replacedBy(variable: object, key: string, more: readonly string[] = []): KubeObject {
  const edit = entryOf('kubectl-edit', 'Update', treeOf([...env, `k:{"name":"${key}"}`, ...more]));
  return disowned(changed(applied(undefined, [edit]), [...container, 'env', 0], variable), [
    ...env,
    'k:{"name":"HOME"}',
  ]);
}

function told(live: KubeObject): readonly string[] {
  const found = deviations(stated, live, ours);
  const moved = moves(found, live, foreignFields(live, ours));
  return drifts(found, live, ours, moved).map(
    ({ field, now, editor }) => `${field}: ${now ?? 'gone'} by ${editor.manager}`,
  );
}

test('an item with the value of ours under another key is ours, and its mover is named', () => {
  assert.deepEqual(told(replacedBy({ name: 'HOUSE', value: '/tmp' }, 'HOUSE')), [
    `${at}.env[name=HOME]: (hidden) by kubectl-edit`,
  ]);
});

test('an item with another value is another, and nobody can be named for the loss of ours', () => {
  assert.deepEqual(told(replacedBy({ name: 'HOUSE', value: '/' }, 'HOUSE')), [`${at}.env[name=HOME]: gone by unknown`]);
});

/** Our object, in which kubectl-edit has put a container in the place of ours. */
function withContainer(container: object, name: string): KubeObject {
  const edit = entryOf('kubectl-edit', 'Update', treeOf([...steps.slice(0, -1), `k:{"name":"${name}"}`]));
  return disowned(changed(applied(undefined, [edit]), container0, container), steps);
}

const container0 = ['spec', 'template', 'spec', 'containers', 0];
const [postgres] = (stated as unknown as { spec: { template: { spec: { containers: readonly object[] } } } }).spec
  .template.spec.containers;
const ports = [{ containerPort: 5432, protocol: 'TCP' }];

for (const [what, container, isMoved] of [
  ['renamed alone', { ...postgres, name: 'pg' }, true],
  ['renamed, with another image', { ...postgres, name: 'pg', image: 'other:1' }, true],
  ['renamed, with another image and variable', { ...postgres, name: 'pg', image: 'x', env: [] }, true],
  ['renamed, with another port', { ...postgres, name: 'pg', image: 'x', ports: [{ containerPort: 1 }] }, false],
  ['another with our port', { name: 'proxy', image: 'proxy:1', ports }, false],
  ['another with our port and limits', { name: 'p', image: 'p', ports, resources: { requests: { cpu: '1' } } }, false],
] as const) {
  test(`a container in the place of ours: ${what}`, () => {
    const name = (container as { readonly name: string }).name;
    const live = withContainer(container, name);
    const moved = moves(deviations(stated, live, ours), live, foreignFields(live, ours));
    assert.equal(moved.size, isMoved ? 1 : 0);
  });
}

test('a port with a name is known by it, whatever else was changed', () => {
  const service: KubeObject = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'orders' },
    spec: { ports: [{ name: 'postgresql', port: 5432, protocol: 'TCP', targetPort: 'postgresql' }] },
  };
  const edit = entryOf('kubectl-edit', 'Update', treeOf(['f:spec', 'f:ports', 'k:{"port":5433,"protocol":"TCP"}']));
  const live = disowned(
    changed(applied(service, [edit]), ['spec', 'ports', 0], {
      name: 'postgresql',
      port: 5433,
      protocol: 'TCP',
      targetPort: 80,
    }),
    ['f:spec', 'f:ports', 'k:{"port":5432,"protocol":"TCP"}'],
  );
  const moved = moves(deviations(service, live, ours), live, foreignFields(live, ours));
  assert.deepEqual(
    [...moved].map(([from, to]) => [readable(from.path), readable(to.path)]),
    [['spec.ports[port=5432,protocol=TCP]', 'spec.ports[port=5433,protocol=TCP]']],
  );
});

const limit = entryOf('kubectl-edit', 'Update', treeOf([...steps, 'f:resources', 'f:limits', 'f:cpu']));
const sidecar = entryOf('mesh', 'Update', treeOf([...steps.slice(0, -1), 'k:{"name":"spy"}']));
const burdened = changed(
  changed(applied(undefined, [limit, sidecar]), [...container, 'resources', 'limits'], { cpu: '2' }),
  ['spec', 'template', 'spec', 'containers', 1],
  { name: 'spy' },
);

for (const [what, refused, expected] of [
  [
    'a limit beside the refused request',
    'spec.template.spec.containers[0].resources.requests',
    [`${at}.resources.limits`],
  ],
  ['nothing elsewhere', 'spec.template.spec.volumes[0].emptyDir', []],
  ['all that was added to a part that is refused as a whole', 'spec', [`${at}.resources.limits`]],
  ['no container, for its name is not ours', 'spec.template.spec.containers[1].image', [`${at}.resources.limits`]],
] as const) {
  test(`what is in the way of an apply: ${what}`, () => {
    const found = obstacles(stated, burdened, foreignFields(burdened, ours), [refused]);
    assert.deepEqual(
      found.map(({ path }) => readable(path)),
      expected,
    );
  });
}

test('what is in the way of an apply: among several ports of a Service one without a name', () => {
  const port = entryOf('kubectl-create', 'Update', treeOf(['f:spec', 'f:ports', 'k:{"port":99,"protocol":"TCP"}']));
  const withPorts = (...ports: readonly object[]): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'orders', managedFields: [port] },
    spec: { ports },
  });
  const own = { name: 'postgresql', port: 5432, protocol: 'TCP' };
  const crowded = withPorts(own, { port: 99, protocol: 'TCP' });
  const inTheWay = (refused: string) =>
    obstacles(withPorts(own), crowded, foreignFields(crowded, ours), [refused]).map(({ path }) => readable(path));
  assert.deepEqual(inTheWay('spec.ports[0].name'), ['spec.ports[port=99,protocol=TCP]']);
  assert.deepEqual(inTheWay('spec.ports[0].port'), []);
});
