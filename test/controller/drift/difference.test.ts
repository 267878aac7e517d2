import assert from 'node:assert/strict';
import test from 'node:test';
import { differences, type Difference } from '../../../controller/drift/index.ts';
import type { KubeObject } from '../../../controller/kube/index.ts';
import { changed, stated } from './live.ts';

const postgres = ['spec', 'template', 'spec', 'containers', 0];
const at = 'spec.template.spec.containers[name=postgres]';

const rows: readonly (readonly [what: string, after: KubeObject, expected: readonly Difference[]])[] = [
  ['nothing', stated, []],
  ['a value', changed(stated, ['spec', 'replicas'], 5), [{ field: 'spec.replicas', was: '3', now: '5' }]],
  [
    'a value that is gone',
    changed(stated, ['spec', 'replicas'], undefined),
    [{ field: 'spec.replicas', was: '3', now: undefined }],
  ],
  [
    'a new one',
    changed(stated, ['spec', 'minReadySeconds'], 5),
    [{ field: 'spec.minReadySeconds', was: undefined, now: '5' }],
  ],
  [
    'a value of an item, by the name of the item',
    changed(stated, [...postgres, 'image'], 'pg:18'),
    [{ field: `${at}.image`, was: 'pg:17', now: 'pg:18' }],
  ],
  [
    'an item that is gone',
    changed(stated, [...postgres, 'ports'], []),
    [
      {
        field: `${at}.ports[containerPort=5432,protocol=TCP]`,
        was: '{"containerPort":5432,"protocol":"TCP"}',
        now: undefined,
      },
    ],
  ],
  [
    'a variable, whose value is hidden',
    changed(stated, [...postgres, 'env', 0, 'value'], 'hunter2'),
    [{ field: `${at}.env[name=HOME].value`, was: '(hidden)', now: '(hidden)' }],
  ],
  [
    'a map with one owner, of which only what differs is said',
    changed(stated, ['spec', 'template', 'spec', 'nodeSelector', 'zone'], 'a'),
    [{ field: 'spec.template.spec.nodeSelector', was: '{}', now: '{"zone":"a"}' }],
  ],
  ['another spelling', changed(stated, [...postgres, 'resources', 'requests', 'cpu'], '1000m'), []],
  [
    'what the server counts',
    { ...stated, status: { replicas: 3 }, metadata: { ...stated.metadata, generation: 7 } },
    [],
  ],
];

for (const [what, after, expected] of rows) {
  test(`differences: ${what}`, () => {
    assert.deepEqual(differences(stated, after), expected);
  });
}
