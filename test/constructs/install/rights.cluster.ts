import { after, before, test } from 'node:test';
import { databaseRights, leaseRights } from '../../../constructs/install/rights.ts';
import { controllerName } from '../../../constructs/install/settings.ts';
import { connect, KubeClient, LeaderElector } from '../../../controller/kube/index.ts';
import { Shop } from '../../controller/database/shop.ts';
import { eventually, RunningPlumbline } from '../../controller/running-plumbline.ts';
import { ActedMembers } from './acted-members.ts';
import { auditedRequests, userOf } from './audit-log.ts';
import { installAccess, kubeconfigOf } from './installed.ts';
import { rightsIn, rightsUsed } from './right.ts';

const namespace = 'plumbline-system';
const user = userOf(namespace, controllerName);

/** What no request of the controller's shows, and why it has it all the same. */
const unseen = new Map([
  ['get pods', 'handed on to the members of each database, for Patroni'],
  ['update plumbline.dev/databaseservices/finalizers', 'looked at by the admission of owners, which asks by itself'],
]);

/** A spec that has every kind of object made. */
const spec = {
  replicas: 3,
  storage: { size: '1Gi', onDelete: 'Delete' },
  backup: { schedule: '30 2 * * *', volume: { size: '1Gi' } },
};

const relabelled = {
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
before(async () => {
  shop = await Shop.open();
  await shop.running.stop();
  await installAccess(shop.cluster, { watchNamespaces: [shop.namespace] });
  const kubeconfig = await kubeconfigOf(shop.cluster, namespace, controllerName);
  const connection = await connect({ kubeconfig });
  const lease = new KubeClient(connection, { lane: 'lease' });
  running = await RunningPlumbline.start(
    { kubeconfig },
    {
      namespace: shop.namespace,
      lookAgainMs: 500,
      elector: new LeaderElector({ kube: lease, namespace, name: controllerName }),
    },
  );
  shop.running = running;
});
after(async () => {
  await shop[Symbol.asyncDispose]();
});

test('a life of a database needs every right that the controller has, and no other', async () => {
  // GIVEN a database whose members do not come at first
  await shop.create('orders', spec);
  await eventually(
    'it is told why',
    async () => running.requests.some(({ type, verb }) => verb === 'list' && type?.kind === 'Event') || undefined,
  );

  // WHEN it lives
  await using members = new ActedMembers(shop, 'orders');
  const runs = (what: string) =>
    eventually(what, async () => (await shop.status('orders'))?.phase === 'Running' || undefined, 60_000);
  await runs('it runs');
  // … drifts, twice in one field
  for (const replicas of [5, 6]) {
    await shop.patch('StatefulSet', 'orders', { body: { spec: { replicas } } });
    await eventually('it is put back', () => shop.isTrue('StatefulSet', 'orders'));
  }
  for (const [kind, name] of Object.entries(relabelled)) {
    await shop.patch(kind, name, { body: { metadata: { labels: { 'plumbline.dev/database': null } } } });
    await eventually(
      `${kind} has its label again`,
      async () => (await shop.get(kind, name))?.metadata.labels?.['plumbline.dev/database'],
    );
  }
  await running.settled();
  console.error(
    rightsIn([...databaseRights, ...leaseRights]).filter(
      (one) => !rightsUsed(auditedRequests(shop.cluster, user)).has(one),
    ),
  );
});
