import { controllerName } from '../../settings.ts';
import type { Alert } from './alert.ts';

/**
 * What the controller needs somebody for.
 * @param namespace where it runs: other installations, and other controllers, have metrics of the same names
 */
export function controllerAlerts(namespace: string): readonly Alert[] {
  const here = `namespace="${namespace}"`;
  const ours = `${here}, controller="databaseservice"`;
  return [
    {
      name: 'PlumblineControllerDown',
      severity: 'critical',
      expr: `absent(plumbline_build_info{${here}})`,
      for: '5m',
      summary: `No controller of Plumbline is seen in namespace ${namespace}.`,
      description: `Prometheus has no metrics of a controller in namespace ${namespace}. Databases run on and fail over, but nothing is repaired, rolled out or renewed, and no other alert of Plumbline can tell of anything.`,
    },
    {
      name: 'PlumblineNoLeader',
      severity: 'critical',
      expr: `max by (namespace) (leader_election_master_status{${here}, name="${controllerName}"}) == 0`,
      for: '2m',
      summary: `No controller of Plumbline works in namespace ${namespace}.`,
      description: `Controllers run in namespace ${namespace}, and none of them holds the lease ${controllerName}. Databases run on and fail over, but nothing is repaired, rolled out or renewed.`,
    },
    {
      name: 'PlumblineReconcileErrors',
      severity: 'warning',
      // Whatever fails is tried again within 1000 s, so one that goes on failing has an error in each 20 minutes; a burst that ends is over before the 30.
      expr: `sum by (namespace) (increase(controller_runtime_reconcile_errors_total{${ours}}[20m])) / sum by (namespace) (increase(controller_runtime_reconcile_total{${ours}}[20m])) > 0.01`,
      for: '30m',
      summary: `Runs of the controller of Plumbline in namespace ${namespace} fail again and again.`,
      description: `{{ $value | humanizePercentage }} of the runs have failed within 20 minutes. The log of the controller names the databases, and their conditions say what hinders.`,
    },
    {
      name: 'PlumblineReconcileSlow',
      severity: 'warning',
      expr: `histogram_quantile(0.99, sum by (namespace, le) (rate(controller_runtime_reconcile_time_seconds_bucket{${ours}}[10m]))) > 5`,
      for: '15m',
      summary: `Runs of the controller of Plumbline in namespace ${namespace} are slow.`,
      description: `One run in a hundred takes longer than {{ $value | humanizeDuration }}. Drift and health of databases are seen that much later.`,
    },
    {
      name: 'PlumblineReconcileHangs',
      severity: 'warning',
      expr: `max by (namespace) (workqueue_longest_running_processor_seconds{${ours}}) > 300`,
      summary: `A run of the controller of Plumbline in namespace ${namespace} does not end.`,
      description: `It has taken {{ $value | humanizeDuration }} so far; one database is not looked after meanwhile. When every worker hangs for a quarter of an hour, the controller is started again.`,
    },
    {
      name: 'PlumblineApiThrottled',
      severity: 'warning',
      expr: `sum by (namespace) (rate(rest_client_requests_total{${here}, code="429"}[5m])) > 0`,
      for: '15m',
      summary: `The API server turns away requests of the controller of Plumbline in namespace ${namespace}.`,
      description: `{{ $value | printf "%.2f" }} requests a second are answered with 429 (Too Many Requests). They are made again later, so everything takes longer.`,
    },
  ];
}
