import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namesOf } from '../../constructs/names.ts';
import { databaseServices, typeOf } from '../../controller/database/kinds.ts';
import { timestamp, type Patch } from '../../controller/kube/index.ts';
import { sharedCluster, whyNoPrometheus } from '../cluster/index.ts';
import { dashboardExpressions, rendered, ruleFile, rules } from '../constructs/install/monitoring/rendered.ts';
import { selectorsIn } from '../constructs/install/monitoring/selectors.ts';
import { PlayedMembers, ready } from './database/played-members.ts';
import { realClient } from './kube/real-client.ts';
import { noAuth, Observed } from './observed.ts';
import { ownKubeconfig } from './own-account.ts';
import { databaseService, eventually } from './running-plumbline.ts';
import { RunningPrometheus } from './running-prometheus.ts';

/** As the ServiceMonitor has it. */
function honorsLabels(): boolean {
  const { endpoints } = rendered('ServiceMonitor')['spec'] as {
    readonly endpoints: readonly { honorLabels?: boolean }[];
  };
  return endpoints[0]?.honorLabels ?? false;
}

test(
  'a real Prometheus reads a leader and a standby: every alert evaluates on series that there are, and tells of a database once',
  { skip: whyNoPrometheus() },
  async () => {
    // GIVEN a database of two members, on a control plane without a node, and two controllers
    const cluster = await sharedCluster();
    await using client = await realClient();
    const { kube, namespace } = client;
    const patch = (kind: string, name: string, patch: Partial<Patch> & { readonly body: unknown }) =>
      kube.patch(typeOf({ kind }), { name, namespace }, { kind: 'merge', fieldManager: 'kubectl-edit', ...patch });
    const kubeconfig = await ownKubeconfig(cluster);
    await using leader = await Observed.start(kubeconfig, namespace, ...noAuth);
    await leader.main.says('leading');
    await using standby = await Observed.start(kubeconfig, namespace, ...noAuth);
    const spec = { replicas: 2, backup: { schedule: '30 2 * * *', volume: { size: '1Gi' } } };
    const options = { type: databaseServices, fieldManager: 'kubectl-create' };
    await kube.create(databaseService(namespace, 'orders', spec), options);
    const members = new PlayedMembers({ patch }, 'orders');
    const exists = (kind: string, name: string) =>
      eventually(`${kind} ${name} is there`, async () =>
        kube.get(typeOf({ kind }), { name, namespace }).catch(() => undefined),
      );

    // WHEN they say that they run, that a certificate soon ends and that a volume is nearly full; a backup has succeeded
    const hour = 3_600_000;
    const [notBefore, notAfter] = [-80 * 24 * hour, 5 * 24 * hour].map((from) => timestamp(Date.now() + from));
    const annotations = {
      'plumbline.dev/tls': JSON.stringify({ notBefore, notAfter }),
      'plumbline.dev/usage': JSON.stringify({ capacityBytes: 1_073_741_824, usedPercent: 90 }),
    };
    for (const ordinal of [0, 1]) {
      await exists('Pod', `orders-${ordinal}`);
      await members.say(ordinal, ready);
      await patch('Pod', `orders-${ordinal}`, { body: { metadata: { annotations } } });
    }
    await members.role(0, 'primary', { xlog_location: 5_000_000, timeline: 1 });
    await members.role(1, 'replica', { xlog_location: 4_000_000, timeline: 1 });
    const { backup } = namesOf('orders');
    await exists('CronJob', backup);
    const lastSuccessfulTime = timestamp(Date.now() - hour);
    await patch('CronJob', backup, { body: { status: { lastSuccessfulTime } }, subresource: 'status' });
    await patch('Service', 'orders', { body: { spec: { sessionAffinity: 'ClientIP' } } });

    await using prometheus = await RunningPrometheus.start({
      rules: ruleFile(),
      honorLabels: honorsLabels(),
      targets: [leader, standby].map((observed, index) => ({
        address: new URL(observed.url('metrics')).host,
        labels: { namespace: 'plumbline-system', pod: `plumbline-controller-${index}`, service: 'plumbline-metrics' },
      })),
    });

    // THEN every rule evaluates, and what it reads is there
    await eventually('every rule is evaluated without an error', async () => {
      const states = await prometheus.rules();
      const ill = states.filter(({ health }) => health === 'err');
      assert.deepEqual(ill, []);
      return (states.length === rules().length && states.every(({ health }) => health === 'ok')) || undefined;
    });
    const expressions = [...rules().map(({ expr }) => expr), ...dashboardExpressions()];
    for (const expression of expressions) await prometheus.query(expression);
    const metrics = new Set(expressions.flatMap((expr) => selectorsIn(expr).map(({ metric }) => metric)));
    for (const metric of metrics) {
      // Exporters have something to scrape where PostgreSQL runs.
      if (metric.startsWith('pg_')) continue;
      await eventually(`${metric} has series`, async () => (await prometheus.query(metric)).length > 0 || undefined);
    }

    // What both controllers tell of one database is one alert of that database, not of the controller's namespace.
    const told = async (alert: string) =>
      (await prometheus.alerts()).filter(({ labels }) => labels['alertname'] === alert);
    for (const alert of ['PlumblineStorageCritical', 'PlumblineCertificateExpiring']) {
      const [one, ...others] = await eventually(`${alert} is seen`, async () => {
        const found = await told(alert);
        return found.length > 0 ? found : undefined;
      });
      assert.deepEqual(one?.labels, { alertname: alert, severity: 'critical', namespace, name: 'orders' });
      assert.deepEqual(others, []);
    }
    // Before the first scrape there was no controller.
    for (const alert of ['PlumblineControllerDown', 'PlumblineNoLeader']) {
      await eventually(`${alert} is not told`, async () => (await told(alert)).length === 0 || undefined);
    }
    assert.deepEqual(await told('PlumblineFailover'), []);

    // WHEN the replica is promoted
    await members.role(0, 'replica', { xlog_location: 6_000_000, timeline: 2 });
    await members.role(1, 'primary', { xlog_location: 6_000_000, timeline: 2 });

    // THEN it is told at once
    const [failover] = await eventually('the failover is told', async () => {
      const found = await told('PlumblineFailover');
      return found.length > 0 ? found : undefined;
    });
    assert.equal(failover?.state, 'firing');
    assert.deepEqual(failover.labels, {
      alertname: 'PlumblineFailover',
      severity: 'warning',
      namespace,
      name: 'orders',
    });
    assert.equal(failover.annotations['summary'], `Database ${namespace}/orders has failed over.`);
  },
);
