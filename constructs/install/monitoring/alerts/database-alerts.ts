import type { Alert } from './alert.ts';

/** A condition of databases, which each has in one series for each controller. @param more matchers, such as `reason="Contested"` */
function condition(type: string, status: 'True' | 'False', more = ''): string {
  const matchers = [`type="${type}"`, `status="${status}"`, ...(more === '' ? [] : [more])].join(', ');
  return `plumbline_database_condition{${matchers}}`;
}

/** One series for each database, whichever reason and however many controllers tell it. */
function ofDatabase(vector: string, by = 'namespace, name'): string {
  return `max by (${by}) (${vector})`;
}

/** The database of an alert. */
const it = '{{ $labels.namespace }}/{{ $labels.name }}';

/** The reason that a condition has when the alert is sent: as a label it would begin a new alert with each change. */
function reasonOf(type: string, status: 'True' | 'False'): string {
  const series = `plumbline_database_condition{type=\\"${type}\\", status=\\"${status}\\", namespace=%q, name=%q}`;
  const query = `printf "max by (reason) (${series})" $labels.namespace $labels.name | query`;
  return `{{ range ${query} }}{{ .Labels.reason }}{{ end }}`;
}

/** Reasons of `Stalled` that are about a rollout. */
const setBack = 'RolloutFailed|ConfigurationRefused|RevisionUnknown';
const held = 'SlotAtRisk';

/** What databases need somebody for. */
export const databaseAlerts: readonly Alert[] = [
  {
    name: 'PlumblineDatabaseUnavailable',
    severity: 'critical',
    // A new database has no primary either, but it was never up.
    expr: `${ofDatabase(condition('Available', 'False'))} == 1 and on (namespace, name) ${ofDatabase(condition('Degraded', 'True'))} == 1`,
    for: '1m',
    summary: `Database ${it} has no primary.`,
    description: `Nothing can be written to ${it}: no ready member is its primary. Its condition Ready is False for the reason ${reasonOf('Ready', 'False')}.`,
  },
  {
    name: 'PlumblineDatabaseNotReady',
    severity: 'warning',
    expr: `${ofDatabase(condition('Ready', 'False', 'reason!~"MembersUpdating|Deleting"'))} == 1`,
    for: '15m',
    summary: `Database ${it} is not ready.`,
    description: `Not every member of ${it} runs as it is to: its condition Ready is False for the reason ${reasonOf('Ready', 'False')}.`,
  },
  {
    name: 'PlumblineDatabaseStalled',
    severity: 'warning',
    // Where it is not ready, that says why.
    expr: `${ofDatabase(condition('Stalled', 'True', `reason!~"${setBack}|${held}"`))} == 1 unless on (namespace, name) ${ofDatabase(condition('Ready', 'False'))} == 1`,
    for: '15m',
    summary: `What database ${it} states cannot be made true.`,
    description: `${it} runs, but something that its spec states cannot be applied until somebody acts: its condition Stalled is True for the reason ${reasonOf('Stalled', 'True')}.`,
  },
  {
    name: 'PlumblineFailover',
    severity: 'warning',
    expr: `${ofDatabase('increase(plumbline_failovers_total[15m])')} > 0`,
    summary: `Database ${it} has failed over.`,
    description: `Another member has become the primary of ${it} within the last 15 minutes, and no rollout had asked for that.`,
  },
  {
    name: 'PlumblineReplicationLag',
    severity: 'warning',
    expr: `${ofDatabase('plumbline_database_replication_lag_bytes', 'namespace, name, pod')} > 512 * 1024 * 1024`,
    for: '10m',
    summary: `Replica {{ $labels.pod }} of database ${it} lags behind.`,
    description: `{{ $labels.pod }} lacks {{ $value | humanize1024 }}B of the WAL that the primary of ${it} has written. Whoever reads there sees old rows, and it may not take over.`,
  },
  {
    name: 'PlumblineStorageCritical',
    severity: 'critical',
    expr: `${ofDatabase(condition('StorageCritical', 'True'))} == 1`,
    for: '5m',
    summary: `A volume of database ${it} is nearly full.`,
    description: `At least 85 % of the volume of a member of ${it} is used (${reasonOf('StorageCritical', 'True')}). PostgreSQL stops when it is full.`,
  },
  {
    name: 'PlumblineBackupOverdue',
    severity: 'warning',
    expr: `${ofDatabase(condition('BackupCurrent', 'False', 'reason="BackupOverdue"'))} == 1`,
    for: '5m',
    summary: `A backup of database ${it} is overdue.`,
    description: `A backup of ${it} that was due more than an hour ago has not been made.`,
  },
  {
    name: 'PlumblineBackupFailing',
    severity: 'warning',
    expr: `${ofDatabase(condition('BackupCurrent', 'False', 'reason=~"BackupFailed|BackupStuck"'))} == 1`,
    for: '5m',
    summary: `The last backup of database ${it} is no good one.`,
    description: `The last backup of ${it} failed, or its pod does not start: its condition BackupCurrent is False for the reason ${reasonOf('BackupCurrent', 'False')}.`,
  },
  {
    name: 'PlumblineCertificateExpiring',
    severity: 'critical',
    // What is late depends on the life of a certificate, which the condition knows.
    expr: `min by (namespace, name) (plumbline_database_certificate_expiry_timestamp_seconds) - time() and on (namespace, name) ${ofDatabase(condition('TlsReady', 'False', 'reason="CertificateExpiring"'))} == 1`,
    for: '5m',
    summary: `The certificate of database ${it} soon ends.`,
    description: `A member of ${it} serves a certificate that ends in {{ $value | humanizeDuration }}, and no later one has come. Clients that check it are turned away then.`,
  },
  {
    name: 'PlumblineCertificateUnusable',
    severity: 'warning',
    expr: `${ofDatabase(condition('TlsReady', 'False', 'reason="CertificateUnusable"'))} == 1`,
    for: '5m',
    summary: `Database ${it} cannot serve the certificate in its Secret.`,
    description: `The Secret with the certificate of ${it} holds no pair that can be served. The members keep to the pair before, where they had one.`,
  },
  {
    name: 'PlumblineDriftContested',
    severity: 'warning',
    // It is put back now and then to see whether the rival has given up.
    expr: `${ofDatabase(`max_over_time(${condition('Drifted', 'True', 'reason="Contested"')}[10m])`)} == 1`,
    summary: `Somebody fights over a field of database ${it}.`,
    description: `Somebody writes a field of ${it} back as often as Plumbline corrects it, so for a time it is left as it is. The condition Drifted names who, and what ends it.`,
  },
  {
    name: 'PlumblineRolloutSetBack',
    severity: 'warning',
    expr: `${ofDatabase(condition('Stalled', 'True', `reason=~"${setBack}"`))} == 1`,
    summary: `The last change of database ${it} does not work.`,
    description: `The members of ${it} do not run on what its spec says: its condition Stalled is True for the reason ${reasonOf('Stalled', 'True')}. The condition says what is in force instead.`,
  },
  {
    name: 'PlumblineRolloutStuck',
    severity: 'warning',
    expr: `${ofDatabase(`${condition('Progressing', 'True', 'reason="MembersUpdating"')} or ${condition('Stalled', 'True', `reason="${held}"`)}`)} == 1`,
    for: '1h',
    summary: `A rollout of database ${it} does not come to its end.`,
    description: `The members of ${it} have been on their way to what its spec says for more than an hour. The condition Progressing or Stalled says what is waited for.`,
  },
];
