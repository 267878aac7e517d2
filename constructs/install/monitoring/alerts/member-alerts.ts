import type { Alert } from './alert.ts';

/** Of the exporters that Plumbline renders: others in the cluster have metrics of the same names. */
const ours = 'container="exporter", database!=""';
const by = 'by (namespace, database, pod)';
/** The database of an alert. */
const it = '{{ $labels.namespace }}/{{ $labels.database }}';

/** What PostgreSQL itself says, in databases with `spec.monitoring.enabled: true`; of others these are silent. */
export const memberAlerts: readonly Alert[] = [
  {
    name: 'PlumblineConnectionsScarce',
    severity: 'warning',
    expr: `sum ${by} (pg_stat_database_numbackends{${ours}}) / max ${by} (pg_settings_max_connections{${ours}}) > 0.9`,
    for: '5m',
    summary: `Database ${it} has hardly any connection left.`,
    description: `{{ $value | humanizePercentage }} of the connections of {{ $labels.pod }} are taken, of database ${it}. Who comes when all are is turned away.`,
  },
  {
    name: 'PlumblineWraparoundNear',
    severity: 'warning',
    expr: `max ${by} (pg_database_wraparound_age_datfrozenxid_seconds{${ours}}) > 1e9`,
    for: '15m',
    summary: `Rows of database ${it} have not been frozen for long.`,
    description: `The oldest transaction that {{ $labels.pod }} of ${it} has to tell apart is {{ $value | humanize }} transactions old. Before it is two thousand million, PostgreSQL takes no more writes.`,
  },
];
