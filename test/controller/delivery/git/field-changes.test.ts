import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DatabaseServiceSpec } from '../../../../constructs/api/spec.ts';
import { fileName, render } from '../../../../constructs/render.ts';
import { serialize } from '../../../../constructs/serialize.ts';
import { fieldChanges } from '../../../../controller/delivery/git/field-changes.ts';

const spec: DatabaseServiceSpec = { engine: 'postgresql', version: '17', storage: { size: '10Gi' } };

function rendered(changes: Partial<DatabaseServiceSpec>): ReadonlyMap<string, string> {
  const document = {
    apiVersion: 'plumbline.dev/v1alpha1',
    kind: 'DatabaseService',
    metadata: { name: 'orders', namespace: 'shop' },
    spec: { ...spec, ...changes },
  } as const;
  return new Map(render(document).map((manifest) => [fileName(manifest), serialize(manifest)]));
}

/** The fields that a change of the spec changes, with their values. */
function changed(before: Partial<DatabaseServiceSpec>, after: Partial<DatabaseServiceSpec>): readonly string[] {
  const [was, now] = [rendered(before), rendered(after)];
  return [...now].flatMap(([file, text]) =>
    fieldChanges(was.get(file) ?? '', text).map((one) => `${one.field}: ${one.was} → ${one.now}`),
  );
}

describe('the fields in which a file in Git changes', () => {
  const settings = 'metadata.annotations.config.postgresql.parameters';
  const cases: readonly (readonly [string, Partial<DatabaseServiceSpec>, Partial<DatabaseServiceSpec>, string])[] = [
    ['the number of members', { replicas: 2 }, { replicas: 3 }, 'spec.replicas: 2 → 3'],
    [
      'the image, by the name of its container',
      { image: 'registry.example/pg:17.5' },
      { image: 'registry.example/pg:17.6' },
      'spec.template.spec.containers[name=postgres].image: registry.example/pg:17.5 → registry.example/pg:17.6',
    ],
    [
      'a number of Patroni’s settings',
      { parameters: { max_connections: '200' } },
      { parameters: { max_connections: '300' } },
      `${settings}.max_connections: 200 → 300`,
    ],
    [
      'a text of them without its values, which may be secret',
      { parameters: { search_path: 'alpha' } },
      { parameters: { search_path: 'beta' } },
      `${settings}.search_path: (hidden) → (hidden)`,
    ],
    [
      'a number of an extension without its values',
      { parameters: { 'app.pin': '1234' } },
      { parameters: { 'app.pin': '4321' } },
      `${settings}[app.pin]: (hidden) → (hidden)`,
    ],
  ];
  for (const [what, before, after, expected] of cases) {
    test(`are told: ${what}`, () => {
      const found = changed(before, after);
      assert.ok(found.includes(expected), found.join('\n'));
      assert.ok(!found.some((line) => line.includes('plumbline.dev/template')));
    });
  }

  test('are none where both say the same, and where somebody has written what is no such manifest', () => {
    const now = 'kind: Service\nmetadata: {name: orders}\nspec: {a: 1}\n';
    const bomb = ['a: &a0 [x, x]', ...Array.from({ length: 40 }, (_, i) => `b${i}: &a${i + 1} [*a${i}, *a${i}]`)];
    const others = [
      now,
      '',
      'kind: [',
      '- a\n- b\n',
      'kind: Service\n',
      'kind: Secret\nmetadata: {name: orders}\nstringData: {password: hunter2}\n',
      `${now}---\n${now}`,
      `${now}${bomb.join('\n')}\n`,
      `${now}deep: ${'['.repeat(20_000)}${']'.repeat(20_000)}\n`,
    ];
    for (const was of others) assert.deepEqual(fieldChanges(was, now), [], was.slice(0, 80));
  });

  test('hold no value of data, environment or arguments that somebody has put there', () => {
    const file = (secret: string): string =>
      `kind: StatefulSet
metadata: {name: orders, annotations: {a: ${secret}}}
spec:
  template:
    spec:
      containers:
        - {name: postgres, env: [{name: A, value: ${secret}}], args: [${secret}]}
        - {name: ${secret.slice(0, 3)}, env: [{name: A, value: ${secret}}]}
data: {a: ${secret}}
`;
    const text = JSON.stringify(fieldChanges(file('hunter2'), file('trustno1')));
    assert.match(text, /containers\[name=postgres\]\.env\[name=A\]\.value/);
    assert.doesNotMatch(text, /hunter2|trustno1/);
  });
});
