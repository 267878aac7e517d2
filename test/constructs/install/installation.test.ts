import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { App, Chart } from 'cdk8s';
import { apiFiles, installationFiles, monitoringFiles } from '../../../constructs/install/files.ts';
import { defaultImage, release } from '../../../constructs/install/image.ts';
import type { InstallationProps } from '../../../constructs/install/options.ts';
import { databaseRights, destinationRights, destinationSecretRights } from '../../../constructs/install/rights.ts';
import { DatabaseServiceApi, Installation } from '../../../constructs/index.ts';
import type { Manifest } from '../../../constructs/manifest.ts';
import { orders, podTemplates, type PodTemplate } from '../postgresql/orders.ts';
import { installationGoldenFiles, installationGoldenOnDisk } from '../../golden.ts';

const root = join(import.meta.dirname, '../../..');

function install(props?: InstallationProps): readonly Manifest[] {
  return installationFiles(props).map(([, manifest]) => manifest);
}

function find(manifests: readonly Manifest[], kind: string, name = 'plumbline-controller'): Manifest | undefined {
  return manifests.find((one) => one.kind === kind && one.metadata.name === name);
}

interface Monitor {
  readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly endpoints: readonly { readonly port: string }[];
}

function monitor(props?: InstallationProps): Monitor {
  const file = monitoringFiles(props).find(([, { kind }]) => kind === 'ServiceMonitor');
  assert(file);
  return file[1]['spec'] as Monitor;
}

/** Kinds with the namespaces that they are in, such as `Role shop`. */
function places(manifests: readonly Manifest[]): readonly string[] {
  return manifests.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? '-'}`);
}

interface Workload {
  readonly spec: {
    readonly replicas: number;
    readonly template: {
      readonly spec: {
        readonly containers: readonly [
          {
            readonly image: string;
            readonly env: readonly { readonly name: string; readonly value: string }[];
            readonly resources: object;
          },
        ];
        readonly imagePullSecrets?: readonly object[];
        readonly nodeSelector?: object;
        readonly priorityClassName?: string;
      };
    };
  };
}

function workload(manifests: readonly Manifest[]): Workload {
  const found = find(manifests, 'Deployment');
  assert(found);
  return found as unknown as Workload;
}

function environment(manifests: readonly Manifest[]): Readonly<Record<string, string>> {
  const [{ env }] = workload(manifests).spec.template.spec.containers;
  return Object.fromEntries(env.map(({ name, value }) => [name, value]));
}

test('the namespace comes first, and what an object needs comes before it', () => {
  const names = installationFiles().map(([name]) => name);
  assert.deepEqual(names, names.toSorted());
  assert.match(names[0] ?? '', /^01-namespace\./);
  assert.match(names.at(-1) ?? '', /-deployment\./);
});

test('the definition comes before its policies, and nothing of the API is taken away by a tool', () => {
  const files = apiFiles();
  const [first] = files.toSorted(([a], [b]) => (a < b ? -1 : 1));
  assert.equal(first?.[1].kind, 'CustomResourceDefinition');
  for (const [name, { metadata }] of files) {
    const { annotations = {} } = metadata;
    assert.match(annotations['argocd.argoproj.io/sync-options'] ?? '', /Prune=false/, name);
    assert.equal(annotations['kustomize.toolkit.fluxcd.io/prune'], 'disabled', name);
    assert.equal(annotations['helm.sh/resource-policy'], 'keep', name);
  }
});

test('crds/ and dist/crds/ have the same definitions', () => {
  for (const plural of ['databaseservices', 'gitdestinations']) {
    const text = (folder: string) => readFileSync(join(root, folder, `plumbline.dev_${plural}.yaml`), 'utf8');
    assert.equal(text('crds'), text('dist/crds'));
  }
});

test('for all namespaces there is a ClusterRole, and of Roles none but that of the lease', () => {
  const manifests = install();
  assert.deepEqual(places(manifests), [
    'Namespace -',
    'ServiceAccount plumbline-system',
    'ClusterRole -',
    'ClusterRoleBinding -',
    'Role plumbline-system',
    'RoleBinding plumbline-system',
    'ClusterRole -',
    'ClusterRoleBinding -',
    'ClusterRole -',
    'Service plumbline-system',
    'PodDisruptionBudget plumbline-system',
    'Deployment plumbline-system',
  ]);
  assert.equal(environment(manifests)['PLUMBLINE_NAMESPACE'], undefined);
});

test('for some namespaces there is a Role in each, nothing that holds for the cluster, and the controller is told which', () => {
  const manifests = install({
    namespace: 'databases',
    createNamespace: false,
    watchNamespaces: ['shop', 'finance'],
    metricsAuth: 'None',
  });
  assert.deepEqual(places(manifests), [
    'ServiceAccount databases',
    'Role shop',
    'RoleBinding shop',
    'Role finance',
    'RoleBinding finance',
    'Role databases',
    'RoleBinding databases',
    'Service databases',
    'NetworkPolicy databases',
    'PodDisruptionBudget databases',
    'Deployment databases',
  ]);
  const { PLUMBLINE_NAMESPACE, PLUMBLINE_LEASE_NAMESPACE } = environment(manifests);
  assert.deepEqual([PLUMBLINE_NAMESPACE, PLUMBLINE_LEASE_NAMESPACE], ['shop,finance', 'databases']);
});

test('with GitDestinations a controller for some namespaces has one right in the cluster, and reads Secrets in its own', () => {
  const manifests = install({
    namespace: 'databases',
    watchNamespaces: ['shop'],
    metricsAuth: 'None',
    gitDestinations: true,
  });
  const cluster = manifests.filter(({ kind }) => kind === 'ClusterRole');
  assert.deepEqual(
    cluster.map((one) => one['rules']),
    [destinationRights],
  );
  assert.deepEqual(find(manifests, 'Role', 'plumbline-controller-git')?.['rules'], destinationSecretRights);
  assert.match(workload(manifests).spec.template.spec.containers[0].image, /-git$/);
});

test('it may look after the namespace that it runs in', () => {
  const roles = install({ namespace: 'shop', watchNamespaces: ['shop'] }).filter(({ kind }) => kind === 'Role');
  assert.deepEqual(
    roles.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
    ['shop/plumbline-controller', 'shop/plumbline-controller-lease'],
  );
});

test('metrics that ask for no token are open to the pods that are named, and to no other', () => {
  const from = [{ namespaceSelector: { matchLabels: { team: 'monitoring' } } }];
  const manifests = install({ metricsAuth: 'None', metricsFrom: from });
  assert.deepEqual(find(manifests, 'NetworkPolicy')?.['spec'], {
    podSelector: {
      matchLabels: { 'app.kubernetes.io/name': 'plumbline', 'app.kubernetes.io/component': 'controller' },
    },
    policyTypes: ['Ingress'],
    ingress: [{ from, ports: [{ port: 'metrics', protocol: 'TCP' }] }],
  });
  assert.equal(environment(manifests)['PLUMBLINE_METRICS_AUTH'], 'none');
  assert(!manifests.some(({ metadata }) => metadata.name.includes('metrics-auth')), 'it asks nobody about tokens');
  assert.deepEqual(monitor({ metricsAuth: 'None' }).endpoints, [
    { port: 'http', path: '/metrics', scheme: 'http', honorLabels: true },
  ]);
});

test('a ServiceMonitor finds the Service, by its labels and the name of its port', () => {
  const service = find(install(), 'Service', 'plumbline-metrics');
  assert(service);
  const { selector, endpoints } = monitor();
  const labels = Object.entries(service.metadata.labels ?? {});
  for (const one of Object.entries(selector.matchLabels)) assert(labels.some((label) => label.join() === one.join()));
  const { ports } = service['spec'] as { readonly ports: readonly { readonly name: string }[] };
  assert.deepEqual(
    endpoints.map(({ port }) => port),
    ports.map(({ name }) => name),
  );
});

interface PodMonitor {
  readonly namespaceSelector: object;
  readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly podMetricsEndpoints: readonly { readonly port: string }[];
}

function podMonitor(props?: InstallationProps): PodMonitor {
  const found = monitoringFiles(props).find(([, { kind }]) => kind === 'PodMonitor');
  assert(found);
  return found[1]['spec'] as PodMonitor;
}

test('a PodMonitor finds the members of databases that are monitored, and no others, by the names of their ports', () => {
  const { namespaceSelector, selector, podMetricsEndpoints } = podMonitor();
  const found = (monitoring?: { readonly enabled: boolean }) => {
    const [{ metadata, spec }] = podTemplates(orders(monitoring ? { monitoring } : {})) as [PodTemplate];
    const isSelected = Object.entries(selector.matchLabels).every(([key, value]) => metadata.labels[key] === value);
    return isSelected ? spec.containers.flatMap(({ ports = [] }) => ports.map(({ name = '' }) => name)) : [];
  };
  assert.deepEqual(found(), []);
  assert.deepEqual(found({ enabled: false }), []);
  assert.deepEqual(found({ enabled: true }), ['postgresql', 'patroni', 'exporter']);
  assert.deepEqual(podMetricsEndpoints.map(({ port }) => port).toSorted(), ['exporter', 'patroni']);
  assert.deepEqual(namespaceSelector, { any: true });
});

test('it looks where the controller looks', () => {
  const { namespaceSelector } = podMonitor({ watchNamespaces: ['shop', 'finance'] });
  assert.deepEqual(namespaceSelector, { matchNames: ['shop', 'finance'] });
});

test('no right is to everything', () => {
  assert(!JSON.stringify(databaseRights).includes('*'));
  for (const props of [{}, { watchNamespaces: ['shop'] }]) {
    const rules = install(props).flatMap((manifest) => (manifest['rules'] as readonly object[] | undefined) ?? []);
    assert(rules.length > 0);
    assert(!JSON.stringify(rules).includes('"*"'));
  }
});

test('options reach the pods', () => {
  const manifests = install({
    image: 'registry.example/plumbline:1',
    imagePullSecrets: ['registry'],
    replicas: 3,
    logLevel: 'debug',
    workers: 16,
    resources: { limits: { memory: '1Gi' } },
    priorityClass: 'system-cluster-critical',
    nodeSelector: { pool: 'system' },
    clusterName: 'eu',
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.observability:4318' },
    git: { url: 'ssh://git@git.example/fleet', branch: 'live' },
  });
  const { spec } = workload(manifests);
  const pod = spec.template.spec;
  const [container] = pod.containers;
  assert.equal(spec.replicas, 3);
  assert.equal(container.image, 'registry.example/plumbline:1');
  assert.deepEqual(container.resources, { requests: {}, limits: { memory: '1Gi' } });
  assert.deepEqual(pod.imagePullSecrets, [{ name: 'registry' }]);
  assert.deepEqual(pod.nodeSelector, { pool: 'system' });
  assert.equal(pod.priorityClassName, 'system-cluster-critical');
  assert.deepEqual(environment(manifests), {
    HOME: '/tmp',
    PLUMBLINE_LEASE_NAMESPACE: 'plumbline-system',
    PLUMBLINE_LEASE_NAME: 'plumbline-controller',
    PLUMBLINE_LOG_LEVEL: 'debug',
    PLUMBLINE_WORKERS: '16',
    PLUMBLINE_METRICS_ADDRESS: ':8443',
    PLUMBLINE_METRICS_AUTH: 'tokens',
    PLUMBLINE_HEALTH_ADDRESS: ':8081',
    PLUMBLINE_GIT_URL: 'ssh://git@git.example/fleet',
    PLUMBLINE_GIT_BRANCH: 'live',
    PLUMBLINE_CLUSTER_NAME: 'eu',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.observability:4318',
  });
});

for (const [props, says] of [
  [{ watchNamespaces: [] }, /watchNamespaces is empty/],
  [{ watchNamespaces: ['shop', 'shop'] }, /has shop twice/],
  [{ watchNamespaces: ['Shop'] }, /"Shop" is no name of a namespace/],
  [{ namespace: 'a.b' }, /"a\.b" is no name/],
  [{ replicas: 1.5 }, /replicas is 1\.5/],
  [{ workers: 65 }, /workers is 65/],
  [{ environment: { PLUMBLINE_WORKERS: '9' } }, /environment has PLUMBLINE_WORKERS/],
] as const) {
  test(`options that no controller could start with are refused: ${JSON.stringify(props)}`, () => {
    assert.throws(() => install(props), says);
  });
}

test('both constructs are in one chart of anybody’s, beside other things', () => {
  const chart = new Chart(new App(), 'mine');
  new DatabaseServiceApi(chart, 'api');
  const installation = new Installation(chart, 'plumbline');
  assert.equal(installation.namespace, 'plumbline-system');
  assert.equal(chart.toJson().length, apiFiles().length + installationFiles().length);
});

test('the image is called by the version of the package', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string };
  assert.equal(release, version);
  assert.equal(workload(install()).spec.template.spec.containers[0].image, defaultImage);
});

test('an installation for some namespaces is as it was rendered before; `npm run golden` after a change that is meant', () => {
  const [expected, found] = [installationGoldenOnDisk(), installationGoldenFiles()];
  assert.deepEqual([...found.keys()].sort(), [...expected.keys()].sort());
  for (const [file, text] of found) assert.equal(text, expected.get(file), file);
});
