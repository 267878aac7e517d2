import type { Row } from './panel.ts';

/** Series of a controller: those of the databases are the same in each, and are put together. */
const own = 'namespace=~"$controller"';
const reconciler = `${own}, controller="databaseservice"`;
const database = 'namespace=~"$namespace"';

const databases: Row = {
  title: 'Databases',
  panels: [
    {
      title: 'Databases by phase',
      description: 'All databases that the controllers look after, whichever namespaces are chosen.',
      type: 'timeseries',
      queries: [{ expr: 'max by (phase) (plumbline_databases)', legend: '{{ phase }}' }],
    },
    {
      title: 'Not ready',
      description: 'Databases of which not every member runs as it is to, and why.',
      type: 'table',
      width: 16,
      queries: [
        {
          expr: `max by (namespace, name, reason) (plumbline_database_condition{${database}, type="Ready", status="False"})`,
          legend: '{{ namespace }}/{{ name }}: {{ reason }}',
        },
      ],
    },
    {
      title: 'Failovers',
      description: 'Changes of a primary within an hour that no rollout had asked for.',
      type: 'timeseries',
      queries: [
        {
          expr: `max by (namespace, name) (increase(plumbline_failovers_total{${database}}[1h])) > 0`,
          legend: '{{ namespace }}/{{ name }}',
        },
      ],
    },
    {
      title: 'Rollouts',
      description: 'Ends of rollouts within an hour, and the steps that were taken.',
      type: 'timeseries',
      queries: [
        { expr: `sum by (outcome) (increase(plumbline_rollouts_total{${own}}[1h]))`, legend: '{{ outcome }}' },
        { expr: `sum by (step) (increase(plumbline_rollout_steps_total{${own}}[1h]))`, legend: 'step: {{ step }}' },
      ],
    },
    {
      title: 'Replication lag',
      description: 'How much of the WAL replicas lack. What is written within five seconds is in it.',
      type: 'timeseries',
      unit: 'bytes',
      queries: [
        {
          expr: `max by (namespace, name, pod) (plumbline_database_replication_lag_bytes{${database}})`,
          legend: '{{ namespace }}/{{ pod }}',
        },
      ],
    },
    {
      title: 'Storage used',
      description: 'Of the volume of each member. From 85 % on there is an alert.',
      type: 'timeseries',
      unit: 'percentunit',
      width: 12,
      queries: [
        {
          expr: `max by (namespace, name, pod) (plumbline_database_storage_used_ratio{${database}})`,
          legend: '{{ namespace }}/{{ pod }}',
        },
      ],
    },
    {
      title: 'Time since the last good backup',
      description: 'Of databases that ask for backups and have one.',
      type: 'timeseries',
      unit: 's',
      width: 12,
      queries: [
        {
          expr: `time() - max by (namespace, name) (plumbline_backup_last_success_timestamp_seconds{${database}})`,
          legend: '{{ namespace }}/{{ name }}',
        },
      ],
    },
  ],
};

const drift: Row = {
  title: 'Drift',
  panels: [
    {
      title: 'Drift by manager',
      description: 'Fields that others changed, within an hour, by who that was and what was done.',
      type: 'timeseries',
      width: 12,
      queries: [
        {
          expr: `sum by (kind, manager, action) (increase(plumbline_drift_total{${own}}[1h]))`,
          legend: '{{ kind }} by {{ manager }}, {{ action }}',
        },
      ],
    },
    {
      title: 'Time to repair',
      description: 'From the event of a watch to the answer to the apply that put back what it showed.',
      type: 'timeseries',
      unit: 's',
      width: 12,
      queries: [
        {
          expr: `histogram_quantile(0.5, sum by (le) (rate(plumbline_repair_seconds_bucket{${own}}[$__rate_interval])))`,
          legend: 'median',
        },
        {
          expr: `histogram_quantile(0.99, sum by (le) (rate(plumbline_repair_seconds_bucket{${own}}[$__rate_interval])))`,
          legend: '99 of 100',
        },
      ],
    },
  ],
};

const controller: Row = {
  title: 'Controller',
  panels: [
    {
      title: 'Leaders',
      description: 'Controllers that hold the lease. One, unless databases are shared out among several installations.',
      type: 'stat',
      width: 4,
      queries: [{ expr: `sum(leader_election_master_status{${own}})`, legend: 'leaders' }],
    },
    {
      title: 'Runs',
      description: 'Runs of the reconciler by result, in a second.',
      type: 'timeseries',
      unit: 'ops',
      width: 10,
      queries: [
        {
          expr: `sum by (result) (rate(controller_runtime_reconcile_total{${reconciler}}[$__rate_interval]))`,
          legend: '{{ result }}',
        },
      ],
    },
    {
      title: 'How long runs take and wait',
      description: '99 of 100 runs take no longer than this, and waited no longer for a worker.',
      type: 'timeseries',
      unit: 's',
      width: 10,
      queries: [
        {
          expr: `histogram_quantile(0.99, sum by (le) (rate(controller_runtime_reconcile_time_seconds_bucket{${reconciler}}[$__rate_interval])))`,
          legend: 'take',
        },
        {
          expr: `histogram_quantile(0.99, sum by (le) (rate(workqueue_queue_duration_seconds_bucket{${reconciler}}[$__rate_interval])))`,
          legend: 'wait',
        },
      ],
    },
    {
      title: 'Requests to the API server',
      description: 'By verb and reason, in a second. At rest there is the lease, and nothing else.',
      type: 'timeseries',
      unit: 'reqps',
      queries: [
        {
          expr: `sum by (verb, reason) (rate(plumbline_api_requests_total{${own}}[$__rate_interval]))`,
          legend: '{{ verb }}, {{ reason }}',
        },
      ],
    },
    {
      title: 'Refused and failed requests',
      description: 'By the status code of the answer, in a second.',
      type: 'timeseries',
      unit: 'reqps',
      queries: [
        {
          expr: `sum by (code) (rate(rest_client_requests_total{${own}, code!~"2.."}[$__rate_interval]))`,
          legend: '{{ code }}',
        },
      ],
    },
    {
      title: 'Memory',
      description: 'Resident memory of each controller. The limit is 512 MiB unless the installation says otherwise.',
      type: 'timeseries',
      unit: 'bytes',
      queries: [
        { expr: `process_resident_memory_bytes{${own}} and on (instance) plumbline_build_info`, legend: '{{ pod }}' },
      ],
    },
  ],
};

/** What the dashboard shows. */
export const rows: readonly Row[] = [databases, drift, controller];
