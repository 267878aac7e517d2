import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { databaseRights, leaseRights } from '../../../constructs/install/rights.ts';
import { controllerName } from '../../../constructs/install/settings.ts';
import { databaseLabel } from '../../../constructs/labels.ts';
import { connect, KubeClient, LeaderElector, systemClock, type KubeObject } from '../../../controller/kube/index.ts';
import { fieldManager } from '../../../controller/database/child.ts';
import { typeOf } from '../../../controller/database/kinds.ts';
import { GitWriter } from '../../../controller/delivery/git/writer.ts';
import type { StoredDatabaseService } from '../../../constructs/api/resource.ts';
import { Remote } from '../../controller/delivery/git/remote.ts';
import { Shop } from '../../controller/database/shop.ts';
import { eventually, RunningPlumbline } from '../../controller/running-plumbline.ts';
import { ActedMembers } from '../../controller/database/acted-members.ts';
import { seldomRights, unseenRights } from '../../rights/reasons.ts';
import { auditedRequests, auditLogLength, userOf } from './audit-log.ts';
import { installAccess, kubeconfigOf, kubectl } from './installed.ts';
import { rightsIn, rightsUsed } from './right.ts';

const namespace = 'plumbline-system';
const user = userOf(namespace, controllerName);

/** What no request of this life shows. */
const unseen = new Map([...unseenRights, ...seldomRights]);

/** A spec that has every kind of object made. */
const spec = {
  replicas: 3,
  storage: { size: '1Gi', onDelete: 'Delete' },
  backup: { schedule: '30 2 * * *', volume: { size: '1Gi' } },
};

/** An object of each kind. */
const labelled = {
  ServiceAccount: 'orders-members',
  Role: 'orders-members',
  RoleBinding: 'orders-members',
  ConfigMap: 'orders-patroni',
  Service: 'orders-ro',
  StatefulSet: 'orders',
  PodDisruptionBudget: 'orders',
  NetworkPolicy: 'orders',
  CronJob: 'orders-backup',
  PersistentVolumeClaim: 'orders-backup',
  Secret: 'orders-credentials',
};

let shop: Shop;
let running: RunningPlumbline;
let remote: Remote;
let start: number;
describe('the controller under its own ServiceAccount', () => {
  before(async () => {
    remote = new Remote();
    shop = await Shop.open();
    await shop.running.stop();
    start = auditLogLength(shop.cluster);
    await installAccess(shop.cluster, { watchNamespaces: [shop.namespace] });
    // Another test may have left one.
    await kubectl(shop.cluster, ['-n', namespace, 'delete', 'lease', controllerName, '--ignore-not-found']);
    const kubeconfig = await kubeconfigOf(shop.cluster, namespace, controllerName);
    const connection = await connect({ kubeconfig });
    const lease = new KubeClient(connection, { lane: 'lease' });
    running = await RunningPlumbline.start(
      { kubeconfig },
      {
        namespace: shop.namespace,
        lookAgainMs: 500,
        git: new GitWriter({
          url: remote.url,
          branch: 'main',
          cluster: 'prod',
          directory: join(remote.root, 'clone'),
          clock: systemClock,
        }),
        elector: new LeaderElector({ kube: lease, namespace, name: controllerName }),
      },
    );
    shop.running = running;
  });
  after(async () => {
    await shop[Symbol.asyncDispose]();
    remote.remove();
  });

  test('a life of a database needs every right that the controller has, and no other', async () => {
    // GIVEN a database that cannot start at first, for a reason that only Events tell
    const quota = {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'none' },
      spec: { hard: { pods: '0' } },
    };
    await kubectl(shop.cluster, ['-n', shop.namespace, 'apply', '-f', '-'], JSON.stringify(quota));
    await shop.create('orders', spec);
    await shop.untilCondition('orders', 'Ready', /quota/i);
    await kubectl(shop.cluster, ['-n', shop.namespace, 'delete', 'resourcequota', 'none']);

    // WHEN it comes to life
    await using members = new ActedMembers(shop, 'orders');
    await runs('it runs');
    // … others edit it, twice in one field, and take its label off each kind
    for (const replicas of [5, 6]) {
      await shop.patch('StatefulSet', 'orders', { body: { spec: { replicas } } });
      await eventually('it is put back', () => shop.isTrue('StatefulSet', 'orders'));
    }
    for (const [kind, name] of Object.entries(labelled)) {
      await shop.patch(kind, name, { body: { metadata: { labels: { [databaseLabel]: null } } } });
      await eventually(`${kind} has its label again`, async () => hasLabel(await shop.get(kind, name)));
    }
    // … a member is made while somebody else's template is left as it is
    await shop.edit('orders', { drift: { policy: 'Report' } });
    const image = { name: 'postgres', image: 'another/image:17' };
    const template = { spec: { containers: [image] } };
    await shop.patch('StatefulSet', 'orders', { kind: 'strategic', body: { spec: { template } } });
    await shop.untilCondition('orders', 'Drifted', /^True DriftReported/);
    await shop.untilObserved('orders');
    const { uid } = (await shop.get('Pod', 'orders-2'))?.metadata ?? {};
    await shop.delete('Pod', 'orders-2');
    await eventually('it is made again', async () => isAnother(await shop.get('Pod', 'orders-2'), uid));
    await shop.edit('orders', { drift: null });
    await eventually(
      'it has the image of the spec again',
      async () => !hasImage(await shop.get('Pod', 'orders-2'), image.image) || undefined,
    );
    // … a password is changed
    await shop.patch('Secret', 'orders-credentials', {
      body: { stringData: { password: 'another-one-of-20-letters' } },
    });
    await eventually('the kubelet is asked to look', async () => {
      const pod = await shop.get('Pod', 'orders-0');
      return pod?.metadata.annotations?.['plumbline.dev/secrets'];
    });
    // … a setting is changed, for which each member restarts
    members.wait({ max_connections: ['100', '200'] });
    await shop.edit('orders', { parameters: { max_connections: '200' } });
    await eventually('all are asked to restart', () => members.areRestarted || undefined);
    await runs('it runs after the restarts');
    // … its pods are replaced, with a switchover
    await shop.edit('orders', { resources: { requests: { cpu: '300m' } } });
    await eventually('another leads', () => members.primary !== 'orders-0' || undefined);
    await runs('it runs after the rollout');
    // … it becomes smaller, and has neither backups any more nor what an older release stated
    await shop.edit('orders', { replicas: 2 });
    await isGone('PersistentVolumeClaim', 'data-orders-2');
    for (const object of outdated(await shop.resource('orders'))) {
      await shop.kube.apply(object, { type: shop.typeOf(object.kind), fieldManager });
    }
    await shop.edit('orders', { backup: null });
    for (const { kind, metadata } of outdated(await shop.resource('orders'))) await isGone(kind, metadata.name);
    await isGone('CronJob', 'orders-backup');
    await runs('it runs with two members');
    // … and is deleted
    await shop.delete('DatabaseService', 'orders');
    await isGone('StatefulSet', 'orders');
    await running.settled();

    // THEN no request was denied, and what no request needed has a reason of its own
    const requests = auditedRequests(shop.cluster, user, start);
    const denied = requests.filter(({ isDenied }) => isDenied);
    assert.deepEqual(denied, []);
    const used = rightsUsed(requests);
    const unused = rightsIn([...databaseRights, ...leaseRights]).filter((right) => !used.has(right));
    assert.deepEqual(new Set(unused), new Set(unseen.keys()));
  });

  test('for some namespaces: it reaches nothing in any other, and nothing that has no namespace', async () => {
    const may = async (...args: readonly string[]) =>
      (await shop.cluster.kubectlRun(['auth', 'can-i', ...args, '--as', user])).stdout.trim();
    assert.equal(await may('get', 'secrets', '-n', shop.namespace), 'yes');
    for (const elsewhere of ['default', 'kube-system', namespace]) {
      for (const resource of ['secrets', 'configmaps', 'pods', 'databaseservices.plumbline.dev']) {
        for (const verb of ['get', 'list', 'create', 'delete']) {
          assert.equal(await may(verb, resource, '-n', elsewhere), 'no', `${verb} ${resource} in ${elsewhere}`);
        }
      }
    }
    assert.equal(await may('list', 'secrets', '--all-namespaces'), 'no');
    assert.equal(await may('get', 'nodes'), 'no');
    assert.equal(await may('get', 'leases', '-n', namespace), 'no', 'but its own');
    assert.equal(await may('get', `leases/${controllerName}`, '-n', namespace), 'yes');
  });
});

/** One of each kind that a database would have of an older release. */
function outdated({
  apiVersion,
  kind,
  metadata: { name, namespace, uid },
}: StoredDatabaseService): readonly KubeObject[] {
  const rbac = 'rbac.authorization.k8s.io';
  const labels = { app: 'orders' };
  const template = {
    metadata: { labels },
    spec: { containers: [{ name: 'one', image: 'one' }], restartPolicy: 'Never' },
  };
  const bodies: Readonly<Record<string, object>> = {
    ServiceAccount: {},
    Role: { rules: [] },
    RoleBinding: { roleRef: { apiGroup: rbac, kind: 'Role', name: 'orders-members' }, subjects: [] },
    ConfigMap: {},
    Service: { spec: { ports: [{ port: 1, protocol: 'TCP' }] } },
    StatefulSet: {
      spec: {
        serviceName: 'orders-old',
        replicas: 0,
        selector: { matchLabels: labels },
        template: { ...template, spec: { ...template.spec, restartPolicy: 'Always' } },
      },
    },
    PodDisruptionBudget: { spec: { maxUnavailable: 1, selector: { matchLabels: labels } } },
    NetworkPolicy: { spec: { podSelector: { matchLabels: labels } } },
    CronJob: { spec: { schedule: '0 0 1 1 *', suspend: true, jobTemplate: { spec: { template } } } },
  };
  return Object.entries(bodies).map(([one, body]) => ({
    apiVersion: typeOf({ kind: one }).apiVersion,
    kind: one,
    metadata: {
      name: 'orders-old',
      namespace,
      labels: { [databaseLabel]: name },
      ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
    },
    ...body,
  }));
}

async function isGone(kind: string, name: string): Promise<void> {
  await eventually(`${kind} ${name} is gone`, async () => (await shop.get(kind, name)) === undefined || undefined);
}

function runs(what: string): Promise<unknown> {
  return eventually(what, async () => (await shop.status('orders'))?.phase === 'Running' || undefined);
}

function hasLabel(object: KubeObject | undefined): true | undefined {
  return object?.metadata.labels?.[databaseLabel] === 'orders' || undefined;
}

function isAnother(pod: KubeObject | undefined, uid: string | undefined): true | undefined {
  return (pod !== undefined && pod.metadata.uid !== uid) || undefined;
}

function hasImage(pod: KubeObject | undefined, image: string): boolean {
  const spec = pod?.['spec'] as { readonly containers: readonly { readonly image: string }[] } | undefined;
  return spec === undefined || spec.containers.some((container) => container.image === image);
}
