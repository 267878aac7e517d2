import assert from 'node:assert/strict';
import test from 'node:test';
import { deletion, deviations, drifts, episodes, inWords, type Drift } from '../../../controller/drift/index.ts';
import { applied, changed, disowned, entryOf, ours, stated, treeOf } from './live.ts';

const image = ['f:spec', 'f:template', 'f:spec', 'f:containers', 'k:{"name":"postgres"}', 'f:image'];
const noon = '2026-01-01T12:00:00Z';

function found(live: ReturnType<typeof applied>): readonly Drift[] {
  return drifts(deviations(stated, live, ours), live, ours);
}

test('an edit of the image names field, both values, editor and time', () => {
  const edit = entryOf('kubectl-edit', 'Update', treeOf(image), noon);
  const live = disowned(
    changed(applied(undefined, [edit]), ['spec', 'template', 'spec', 'containers', 0, 'image'], 'evil:1'),
    image,
  );
  assert.deepEqual(found(live), [
    {
      object: 'StatefulSet/orders',
      field: 'spec.template.spec.containers[name=postgres].image',
      was: 'pg:17',
      now: 'evil:1',
      editor: { manager: 'kubectl-edit', operation: 'Update', time: noon },
    },
  ]);
});

test('a removal names nobody, for managedFields keep no trace of it', () => {
  const live = disowned(changed(applied(), ['spec', 'replicas'], undefined), ['f:spec', 'f:replicas']);
  const [drift] = found(live);
  assert.deepEqual(
    [drift?.field, drift?.now, drift?.editor],
    ['spec.replicas', undefined, { manager: 'unknown', operation: 'Remove', time: undefined }],
  );
});

test('a wipe of managedFields is one drift, not one of each field', () => {
  const live = changed(applied(), ['metadata', 'managedFields'], []);
  assert.deepEqual(
    found(live).map(({ field }) => field),
    ['metadata.managedFields'],
  );
});

test('a wipe together with an edit tells of the edit', () => {
  const live = changed(changed(applied(), ['metadata', 'managedFields'], []), ['spec', 'replicas'], 1);
  assert.deepEqual(
    found(live).map(({ field, editor }) => `${field} by ${editor.manager}`),
    ['spec.replicas by unknown'],
  );
});

test('an edit that was undone by somebody leaves nothing to tell', () => {
  assert.deepEqual(found(disowned(applied(), image)), []);
});

test('what is ours to do is no drift', () => {
  const live = applied();
  const next = changed(
    changed(stated, ['spec', 'replicas'], 5),
    ['spec', 'template', 'spec', 'nodeSelector'],
    undefined,
  );
  assert.deepEqual(drifts(deviations(next, live, ours), live, ours), []);
});

const editor = { manager: 'kubectl-edit', operation: 'Update', time: noon };
const nobody = { manager: 'unknown', operation: 'Remove', time: undefined };
const drift = (
  field: string,
  was: string | undefined,
  now: string | undefined,
  by: Drift['editor'] = editor,
): Drift => ({
  object: 'StatefulSet/orders',
  field,
  was,
  now,
  editor: by,
});

const sentences: readonly (readonly [drifts: readonly Drift[], text: string])[] = [
  [[drift('spec.replicas', '3', '1')], 'kubectl-edit changed spec.replicas of StatefulSet/orders from 3 to 1.'],
  [[drift('spec.replicas', '3', undefined, nobody)], 'Somebody removed spec.replicas of StatefulSet/orders.'],
  [[drift('spec.x', '', 'a')], 'kubectl-edit changed spec.x of StatefulSet/orders from "" to a.'],
  [
    [drift('data[a]', '(hidden)', '(hidden)')],
    'kubectl-edit changed data[a] of StatefulSet/orders (its values are not shown).',
  ],
  [[deletion('Service', 'orders')], 'Somebody deleted Service/orders.'],
  [
    [drift('metadata.managedFields', undefined, undefined, nobody)],
    'Somebody wiped the managedFields of StatefulSet/orders.',
  ],
  [
    ['a', 'b', 'c', 'd', 'e'].map((field) => drift(field, '1', '2')),
    'kubectl-edit changed 5 fields of StatefulSet/orders: a from 1 to 2, b from 1 to 2, c from 1 to 2 and 2 more.',
  ],
  [
    ['a', 'b'].map((field) => drift(field, '1', undefined, nobody)),
    'Somebody removed 2 fields of StatefulSet/orders: a, b.',
  ],
];

for (const [one, text] of sentences) {
  test(`in words: ${text}`, () => assert.deepEqual(episodes(one).map(inWords), [text]));
}

test('what one editor did to one object is one episode; other objects and editors are others', () => {
  const other = { ...editor, manager: 'helm' };
  const all = [
    drift('a', '1', '2'),
    drift('b', '1', '2', other),
    drift('c', '1', '2'),
    { ...drift('d', '1', '2'), object: 'Service/orders' },
  ];
  assert.deepEqual(
    episodes(all).map(({ object, editor, drifts }) => [
      object,
      editor.manager,
      drifts.map(({ field }) => field).join(),
    ]),
    [
      ['StatefulSet/orders', 'kubectl-edit', 'a,c'],
      ['StatefulSet/orders', 'helm', 'b'],
      ['Service/orders', 'kubectl-edit', 'd'],
    ],
  );
});
