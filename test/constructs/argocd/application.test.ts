import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ArgoApplicationProps } from '../../../constructs/argocd/application.ts';
import { ArgoApplication } from '../../../constructs/index.ts';
import type { Manifest } from '../../../constructs/manifest.ts';
import { manifestOf, repository } from './given.ts';

const specs: ArgoApplicationProps = { name: 'databases', path: 'databases', repository };

interface Spec {
  readonly destination: { readonly server: string };
  readonly source: { readonly targetRevision: string };
  readonly syncPolicy: { readonly automated: { readonly selfHeal: boolean }; readonly syncOptions: readonly string[] };
  readonly ignoreDifferences?: unknown;
}

function application(props: Partial<ArgoApplicationProps> = {}) {
  const manifest = manifestOf((chart) => new ArgoApplication(chart, 'application', { ...specs, ...props }));
  return manifest as Manifest & { readonly spec: Spec };
}

test('an Application has the cluster kept by server-side apply, and compared by it', () => {
  assert.deepEqual(application(), {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    metadata: {
      name: 'databases',
      namespace: 'argocd',
      annotations: {
        'argocd.argoproj.io/compare-options': 'ServerSideDiff=true',
        'argocd.argoproj.io/manifest-generate-paths': '.',
        'argocd.argoproj.io/sync-wave': '0',
      },
    },
    spec: {
      project: 'default',
      source: {
        repoURL: 'https://git.example/databases.git',
        targetRevision: 'refs/heads/main',
        path: 'databases',
        directory: { include: '*.yaml' },
      },
      destination: { server: 'https://kubernetes.default.svc' },
      syncPolicy: {
        automated: { prune: true, selfHeal: true, allowEmpty: false },
        retry: { limit: 10, backoff: { duration: '5s', factor: 2, maxDuration: '3m' } },
        syncOptions: [
          'ServerSideApply=true',
          'RespectIgnoreDifferences=true',
          'PruneLast=true',
          'SkipDryRunOnMissingResource=true',
        ],
      },
    },
  });
});

test('its objects outlive it, unless they are to go with it', () => {
  const finalizersOf = (manifest: object) =>
    (manifest as { readonly metadata: { readonly finalizers?: readonly string[] } }).metadata.finalizers;
  assert.equal(finalizersOf(application()), undefined);
  assert.deepEqual(finalizersOf(application({ onDelete: 'Delete' })), [
    'resources-finalizer.argocd.argoproj.io/foreground',
  ]);
});

test('the branch, the cluster, the turn and whether Argo CD heals are what is asked for', () => {
  const { spec, metadata } = application({
    repository: { ...repository, branch: 'prod' },
    cluster: { server: 'https://10.0.0.1' },
    syncWave: -2,
    selfHeal: false,
    argoNamespace: 'gitops',
  });
  assert.equal(spec.source.targetRevision, 'refs/heads/prod');
  assert.equal(spec.destination.server, 'https://10.0.0.1');
  assert.equal(spec.syncPolicy.automated.selfHeal, false);
  assert.equal(metadata.annotations?.['argocd.argoproj.io/sync-wave'], '-2');
  assert.equal(metadata.namespace, 'gitops');
});

test('what is ignored is what is asked for', () => {
  const ignoreDifferences = [
    { group: 'plumbline.dev', kind: 'DatabaseService', jsonPointers: ['/spec/replicas'] },
  ] as const;
  assert.deepEqual(application({ ignoreDifferences }).spec.ignoreDifferences, ignoreDifferences);
});

for (const path of ['', '/', '.', '..', 'a/../b', '/etc', 'a//b', 'a/', '.git', 'a/.git']) {
  test(`no folder inside a repository is called "${path}"`, () => {
    assert.throws(
      () => application({ path }),
      (error) => error instanceof RangeError && error.message.startsWith('argo/application: path '),
    );
  });
}
