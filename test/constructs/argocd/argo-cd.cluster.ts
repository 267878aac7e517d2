import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Construct } from 'constructs';
import { serialize } from '../../../constructs/serialize.ts';
import { ArgoApplication, ArgoCustomizations, DatabaseApplicationSet } from '../../../constructs/index.ts';
import { installArgoDefinitions } from '../../argocd/definitions.ts';
import { valueInArgoCd } from '../../argocd/runner.ts';
import { newNamespace, sharedCluster, type Cluster } from '../../cluster/index.ts';
import { manifestOf, repository } from './given.ts';

let cluster: Cluster;
let argoNamespace: string;
before(async () => {
  cluster = await sharedCluster();
  await installArgoDefinitions(cluster);
  argoNamespace = await newNamespace(cluster, 'argocd');
});

/** What the API server says of a manifest, without keeping it. */
function verdict(manifest: object) {
  const args = ['apply', '--server-side', '--dry-run=server', '--validate=strict', '--filename=-'];
  return cluster.kubectlRun(args, serialize(manifest));
}

const ignoreDifferences = [
  {
    group: '*',
    kind: 'DatabaseService',
    name: 'orders',
    jsonPointers: ['/spec/replicas'],
    jqPathExpressions: ['.spec.parameters'],
    managedFieldsManagers: ['kubectl'],
  },
];
const rows: readonly (readonly [what: string, fill: (chart: Construct) => unknown])[] = [
  [
    'an Application',
    (chart) => new ArgoApplication(chart, 'a', { name: 'api', path: 'dist/crds', repository, argoNamespace }),
  ],
  [
    'an Application with everything',
    (chart) =>
      new ArgoApplication(chart, 'a', {
        name: 'databases',
        path: 'databases',
        namespace: 'shop',
        repository: { ...repository, branch: 'prod' },
        cluster: { server: 'https://10.0.0.1' },
        project: 'databases',
        syncWave: 3,
        selfHeal: false,
        onDelete: 'Delete',
        ignoreDifferences,
        argoNamespace,
      }),
  ],
  ['an ApplicationSet', (chart) => new DatabaseApplicationSet(chart, 'a', { repository, argoNamespace })],
  [
    'an ApplicationSet with everything',
    (chart) =>
      new DatabaseApplicationSet(chart, 'a', {
        name: 'all',
        clusterName: 'eu-1.prod',
        repository,
        onDelete: 'Delete',
        ignoreDifferences,
        argoNamespace,
      }),
  ],
  ['the settings of Argo CD', (chart) => new ArgoCustomizations(chart, 'a', { argoNamespace })],
];
for (const [what, fill] of rows) {
  test(`Argo CD's own definitions take ${what}, and every field of it`, async () => {
    const { code, stderr } = await verdict(manifestOf(fill));
    assert.equal(code, 0, stderr);
    assert.doesNotMatch(stderr, /[Ww]arning/);
  });
}

test('they would refuse a field that Argo CD does not know, and a value that it does not take', async () => {
  const set = manifestOf((chart) => new DatabaseApplicationSet(chart, 'a', { repository, argoNamespace }));
  const spec = set['spec'] as { readonly template: object };
  const unknown = await verdict({ ...set, spec: { ...spec, templates: spec.template } });
  assert.match(unknown.stderr, /spec\.templates/);
  const wrong = await verdict({ ...set, spec: { ...spec, syncPolicy: { applicationsSync: 'never' } } });
  assert.match(wrong.stderr, /applicationsSync/);
});

test('the templates give each database a name of its own that the API server takes', async () => {
  const set = manifestOf(
    (chart) => new DatabaseApplicationSet(chart, 'a', { repository, clusterName: 'prod', argoNamespace }),
  );
  const { template } = set['spec'] as { readonly template: { readonly metadata: { readonly name: string } } };
  const named = async (namespace: string, name: string) => {
    const path = { path: `clusters/prod/${namespace}/${name}`, segments: ['clusters', 'prod', namespace, name] };
    return String(await valueInArgoCd({ template: template.metadata.name, object: { path } }));
  };
  const names = [await named('shop-eu', 'orders'), await named('shop', 'eu-orders')];
  assert.deepEqual(names, ['prod.shop-eu.orders', 'prod.shop.eu-orders']);
  for (const name of names) {
    const application = manifestOf(
      (chart) => new ArgoApplication(chart, 'a', { name, path: 'databases', repository, argoNamespace }),
    );
    const { code, stderr } = await verdict(application);
    assert.equal(code, 0, stderr);
  }
});

test('the settings stand beside those of others in the same ConfigMap', async () => {
  const others = [
    'create',
    'configmap',
    'argocd-cm',
    `--namespace=${argoNamespace}`,
    '--from-literal=url=https://argo',
  ];
  assert.equal((await cluster.kubectlRun(others)).code, 0);
  const settings = serialize(manifestOf((chart) => new ArgoCustomizations(chart, 'a', { argoNamespace })));
  const applied = await cluster.kubectlRun(['apply', '--server-side', '--filename=-'], settings);
  assert.equal(applied.code, 0, applied.stderr);
  const live = await cluster.kubectlRun(['get', 'configmap', 'argocd-cm', `--namespace=${argoNamespace}`, '-o=json']);
  const { data } = JSON.parse(live.stdout) as { readonly data: Readonly<Record<string, string>> };
  assert.equal(data['url'], 'https://argo');
  assert.equal(data['application.resourceTrackingMethod'], 'annotation');
});
