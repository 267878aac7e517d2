import assert from 'node:assert/strict';
import test from 'node:test';
import { deviations, leaves, readable, statedTree } from '../../../controller/drift/index.ts';
import type { KubeObject } from '../../../controller/kube/index.ts';
import { applied, changed, disowned, ours, stated } from './live.ts';

const postgres = ['spec', 'template', 'spec', 'containers', 0];
const podSteps = ['f:spec', 'f:template', 'f:spec'];
const postgresSteps = [...podSteps, 'f:containers', 'k:{"name":"postgres"}'];
const at = 'spec.template.spec.containers[name=postgres]';
const live = applied();
const links = ['spec', 'template', 'spec', 'enableServiceLinks'];
const withoutLinks = changed(stated, links, false);

/** A value of false is ours in managedFields, and stored nowhere. */
const mounted = changed(stated, [...postgres, 'volumeMounts'], [{ name: 'tmp', mountPath: '/tmp', readOnly: false }]);
const mountSteps = [...postgresSteps, 'f:volumeMounts', 'k:{"mountPath":"/tmp"}'];

/** Somebody else wrote the value: it is there, and the field is not ours any more. */
function edited(path: readonly (string | number)[], steps: readonly string[], value: unknown): KubeObject {
  return disowned(changed(live, path, value), steps);
}

interface Row {
  readonly what: string;
  readonly live: KubeObject;
  readonly stated?: KubeObject;
  /** `kind field`. */
  readonly expected: readonly string[];
}

const rows: readonly Row[] = [
  { what: 'an object as we applied it', live, expected: [] },
  {
    what: 'a value of another',
    live: edited([...postgres, 'image'], [...postgresSteps, 'f:image'], 'evil'),
    expected: [`changed ${at}.image`],
  },
  {
    what: 'a removed value',
    live: edited(['spec', 'replicas'], ['f:spec', 'f:replicas'], undefined),
    expected: ['removed spec.replicas'],
  },
  {
    what: 'the right value by another hand',
    live: disowned(live, [...postgresSteps, 'f:image']),
    expected: [`unowned ${at}.image`],
  },
  {
    what: 'a container that is gone is one deviation',
    live: edited(postgres, postgresSteps, undefined),
    expected: [`removed ${at}`],
  },
  {
    what: 'a port that is gone',
    live: edited([...postgres, 'ports'], [...postgresSteps, 'f:ports'], []),
    expected: [`removed ${at}.ports[containerPort=5432,protocol=TCP]`],
  },
  {
    what: 'a variable of another value',
    live: edited([...postgres, 'env', 0, 'value'], [...postgresSteps, 'f:env', 'k:{"name":"HOME"}', 'f:value'], '/'),
    expected: [`changed ${at}.env[name=HOME].value`],
  },
  {
    what: 'an item of which nothing but a zero value is ours is gone',
    stated: mounted,
    live: changed(
      disowned(disowned(applied(mounted), [...mountSteps, 'f:mountPath']), [...mountSteps, 'f:name']),
      [...postgres, 'volumeMounts'],
      [],
    ),
    expected: [`removed ${at}.volumeMounts[mountPath=/tmp]`],
  },
  {
    what: 'a second variable of the same name',
    live: edited([...postgres, 'env', 1], [...postgresSteps, 'f:env', 'k:{"name":"HOME"}'], {
      name: 'HOME',
      value: '/',
    }),
    expected: [`changed ${at}.env[name=HOME]`],
  },
  {
    what: 'a second port of the same number before ours',
    live: edited(
      [...postgres, 'ports'],
      [...postgresSteps, 'f:ports', 'k:{"containerPort":5432,"protocol":"TCP"}'],
      [
        { containerPort: 5432, protocol: 'TCP', name: 'other' },
        { containerPort: 5432, protocol: 'TCP' },
      ],
    ),
    expected: [`changed ${at}.ports[containerPort=5432,protocol=TCP]`],
  },
  {
    what: 'the same item twice says the same',
    live: edited([...postgres, 'env', 1], [...postgresSteps, 'f:env', 'k:{"name":"HOME"}'], {
      name: 'HOME',
      value: '/tmp',
    }),
    expected: [`unowned ${at}.env[name=HOME]`],
  },
  {
    what: 'a map with one owner is one deviation',
    live: edited(['spec', 'template', 'spec', 'nodeSelector'], [...podSteps, 'f:nodeSelector'], { pool: 'web' }),
    expected: ['changed spec.template.spec.nodeSelector'],
  },
  {
    what: 'a key that somebody adds to a map with one owner changes that map',
    live: edited(['spec', 'template', 'spec', 'nodeSelector', 'zone'], [...podSteps, 'f:nodeSelector'], 'a'),
    expected: ['changed spec.template.spec.nodeSelector'],
  },
  {
    what: 'a default that the server adds to what has one owner does not',
    live: changed(live, ['spec', 'template', 'spec', 'nodeSelector', 'zone'], 'a'),
    expected: [],
  },
  {
    what: 'a list with one owner is one deviation',
    live: edited([...postgres, 'args'], [...postgresSteps, 'f:args'], ['--password=x', '--more']),
    expected: [`changed ${at}.args`],
  },
  {
    what: 'a removed label',
    live: edited(
      ['metadata', 'labels', 'plumbline.dev/database'],
      ['f:metadata', 'f:labels', 'f:plumbline.dev/database'],
      undefined,
    ),
    expected: ['removed metadata.labels[plumbline.dev/database]'],
  },
  {
    what: 'the only owner removed',
    live: edited(['metadata', 'ownerReferences'], ['f:metadata', 'f:ownerReferences', 'k:{"uid":"u1"}'], undefined),
    expected: ['removed metadata.ownerReferences'],
  },
  {
    what: 'an owner of another kind is an item of its own',
    live: changed(live, ['metadata', 'ownerReferences', 1], { apiVersion: 'v1', kind: 'Pod', name: 'x', uid: 'u2' }),
    expected: [],
  },
  {
    what: 'another spelling of a quantity is no deviation',
    live: changed(live, [...postgres, 'resources', 'requests', 'cpu'], '1'),
    expected: [],
  },
  {
    what: 'another quantity is one',
    live: edited(
      [...postgres, 'resources', 'requests', 'cpu'],
      [...postgresSteps, 'f:resources', 'f:requests', 'f:cpu'],
      '2',
    ),
    expected: [`changed ${at}.resources.requests.cpu`],
  },
  {
    what: 'a false that the server leaves out is no deviation',
    live: changed(live, ['spec', 'template', 'spec', 'hostNetwork'], undefined),
    expected: [],
  },
  {
    what: 'a removed false is one where its absence means true',
    live: disowned(changed(applied(withoutLinks), links, undefined), [...podSteps, 'f:enableServiceLinks']),
    stated: withoutLinks,
    expected: ['removed spec.template.spec.enableServiceLinks'],
  },
  {
    what: 'a true where we state false is one',
    live: edited(['spec', 'template', 'spec', 'hostNetwork'], [...podSteps, 'f:hostNetwork'], true),
    expected: ['changed spec.template.spec.hostNetwork'],
  },
  {
    what: "additions of others, status and server's defaults are none",
    live: {
      ...changed(changed(live, [...postgres, 'imagePullPolicy'], 'Always'), ['metadata', 'labels', 'team'], 'a'),
      status: { replicas: 3 },
    },
    expected: [],
  },
  {
    what: 'a new value that we have not applied yet is ours to do',
    live,
    stated: changed(stated, ['spec', 'replicas'], 5),
    expected: ['pending spec.replicas'],
  },
  {
    what: 'a new field that we have not applied yet looks like a removed one',
    live,
    stated: changed(stated, ['spec', 'minReadySeconds'], 5),
    expected: ['removed spec.minReadySeconds'],
  },
  {
    what: 'a field that we no longer state is ours to give up',
    live,
    stated: changed(stated, ['spec', 'template', 'spec', 'nodeSelector'], undefined),
    expected: ['extra spec.template.spec.nodeSelector'],
  },
  {
    what: 'after a wipe of managedFields every field has the right value and no owner',
    live: changed(live, ['metadata', 'managedFields'], []),
    expected: [...leaves(statedTree(stated))].map((path) => `unowned ${readable(path)}`),
  },
];

for (const row of rows) {
  test(`deviations: ${row.what}`, () => {
    const found = deviations(row.stated ?? stated, row.live, ours);
    assert.deepEqual(found.map(({ kind, path }) => `${kind} ${readable(path)}`).sort(), [...row.expected].sort());
  });
}

test('a deviation carries what we state and what is there', () => {
  const [found] = deviations(stated, edited(['spec', 'replicas'], ['f:spec', 'f:replicas'], 1), ours);
  assert.deepEqual([found?.was, found?.now], [3, 1]);
});

test('a port without protocol is the one with TCP, which the server fills in', () => {
  const service: KubeObject = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'orders' },
    spec: { ports: [{ port: 5432, name: 'pg' }] },
  };
  assert.deepEqual([...leaves(statedTree(service))].map(readable), [
    'spec.ports[port=5432,protocol=TCP].port',
    'spec.ports[port=5432,protocol=TCP].name',
  ]);
});
