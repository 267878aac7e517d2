import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DatabaseApplicationSetProps } from '../../../constructs/argocd/application-set.ts';
import { DatabaseApplicationSet } from '../../../constructs/index.ts';
import type { Manifest } from '../../../constructs/manifest.ts';
import { manifestOf, repository } from './given.ts';

interface Spec {
  readonly generators: readonly [{ readonly git: { readonly directories: readonly unknown[] } }];
  readonly syncPolicy: object;
  readonly template: {
    readonly metadata: { readonly name: string; readonly finalizers?: readonly string[] };
    readonly spec: {
      readonly source: { readonly path: string };
      readonly destination: { readonly namespace: string };
      readonly syncPolicy: { readonly automated: { readonly selfHeal: boolean } };
    };
  };
}

function applicationSet(props: Partial<DatabaseApplicationSetProps> = {}) {
  const manifest = manifestOf((chart) => new DatabaseApplicationSet(chart, 'databases', { repository, ...props }));
  return manifest as Manifest & { readonly spec: Spec };
}

test('there is one Application for each folder of a database, named by cluster, namespace and name', () => {
  const { metadata, spec } = applicationSet({ clusterName: 'prod' });
  assert.equal(metadata.name, 'databases-prod');
  assert.deepEqual(spec.generators[0].git.directories, [{ path: 'clusters/prod/*/*' }]);
  assert.equal(
    spec.template.metadata.name,
    'prod.{{ index .path.segments 2 }}.{{ index .path.segments 3 }}',
    'a dash would give shop-eu/orders and shop/eu-orders one name',
  );
  assert.equal(spec.template.spec.source.path, '{{ .path.path }}');
  assert.equal(spec.template.spec.destination.namespace, '{{ index .path.segments 2 }}');
});

test('a branch that was emptied, or an ApplicationSet that was deleted, takes no database down', () => {
  const { spec } = applicationSet();
  assert.deepEqual(spec.syncPolicy, { applicationsSync: 'create-update', preserveResourcesOnDeletion: true });
  assert.equal(spec.template.metadata.finalizers, undefined);
});

test('with onDelete: Delete a database goes with its folder', () => {
  const { spec } = applicationSet({ onDelete: 'Delete' });
  assert.deepEqual(spec.syncPolicy, { applicationsSync: 'sync', preserveResourcesOnDeletion: false });
  assert.deepEqual(spec.template.metadata.finalizers, ['resources-finalizer.argocd.argoproj.io/foreground']);
});

test('where the controller applies too, Argo CD can be told not to heal', () => {
  const { spec } = applicationSet({ selfHeal: false });
  assert.equal(spec.template.spec.syncPolicy.automated.selfHeal, false);
});

for (const clusterName of ['', '..', 'a/b', '*', 'Prod', 'a..b', '-a', 'a.', 'a b', 'x'.repeat(64)]) {
  test(`no cluster is called "${clusterName}", since the name is a folder and a part of names`, () => {
    assert.throws(() => applicationSet({ clusterName }), RangeError);
  });
}
