/** Series with their values, one a minute, as `promtool test rules` takes them. https://prometheus.io/docs/prometheus/latest/configuration/unit_testing_rules/#series */
export type Series = Readonly<Record<string, string>>;

/** Something that is told as it should be, whatever bystanders there are. */
export interface Firing {
  /** What has happened, in words. */
  readonly when: string;
  readonly series: Series;
  /** From which minute on it holds. Defaults to 0. Before the time that the alert asks for has gone by, it is silent. */
  readonly since?: number;
  /** The minute at which it is told. */
  readonly at: number;
  /** Beside the severity. */
  readonly labels: Readonly<Record<string, string>>;
  readonly summary: string;
  readonly description: string;
}

/** Something of which the alert must not tell. */
export interface Silence {
  readonly when: string;
  readonly series: Series;
  /** Minutes. */
  readonly at: readonly number[];
}

export interface AlertCases {
  readonly fires: readonly Firing[];
  readonly silent: readonly Silence[];
}

const orders = { namespace: 'shop', name: 'orders' };
const system = { namespace: 'plumbline-system' };
const MiB = 1024 ** 2;
const day = 86_400;

/** The same series of two controllers, as Prometheus scrapes them: the labels of a target beside those of the series. */
function ofBoth(name: string, labels: Readonly<Record<string, string>>, values: string): Series {
  const of = (pod: string): string => {
    const all = { ...system, job: 'plumbline-metrics', pod, instance: `${pod}:8443`, ...labels };
    return `${name}{${Object.entries(all)
      .map(([label, value]) => `${label}="${value}"`)
      .join(',')}}`;
  };
  return { [of('controller-a')]: values, [of('controller-b')]: values };
}

/** The same of the one controller that works. */
function ofLeader(name: string, labels: Readonly<Record<string, string>>, values: string): Series {
  return Object.fromEntries(Object.entries(ofBoth(name, labels, values)).slice(0, 1));
}

function condition(type: string, status: string, reason: string, values: string): Series {
  return ofBoth('plumbline_database_condition', { ...orders, type, status, reason }, values);
}

const controller = 'databaseservice';
/** Of a controller of GitDestinations, say. */
const another = { controller: 'another' };
const runs = (result: string, values: string, of = { controller }): Series =>
  ofLeader('controller_runtime_reconcile_total', { ...of, result }, values);
const errors = (values: string, of = { controller }): Series =>
  ofLeader('controller_runtime_reconcile_errors_total', of, values);
const noLongerThan = (le: string, values: string, of = { controller }): Series =>
  ofLeader('controller_runtime_reconcile_time_seconds_bucket', { ...of, le }, values);
const leads = (pod: string, values: string, name = 'plumbline-controller'): Series =>
  ofLeader('leader_election_master_status', { name, pod }, values);
const answers = (code: string, values: string): Series =>
  ofLeader('rest_client_requests_total', { code, method: 'GET', host: 'kubernetes:443' }, values);
const longest = (values: string, of = { controller }): Series =>
  ofLeader('workqueue_longest_running_processor_seconds', { ...of, name: of.controller }, values);
const failovers = (values: string): Series => ofLeader('plumbline_failovers_total', orders, values);
const lag = (bytes: string): Series =>
  ofBoth('plumbline_database_replication_lag_bytes', { ...orders, pod: 'orders-1' }, bytes);
const expiry = (pod: string, seconds: number): Series =>
  ofBoth('plumbline_database_certificate_expiry_timestamp_seconds', { ...orders, pod }, `${seconds}x60`);
const isReady = condition('Ready', 'True', 'AllMembersReady', '1x90');

/** As the exporters of both members tell it. */
const ofMembers = (
  name: string,
  labels: Readonly<Record<string, string>>,
  primary: string,
  replica: string,
): Series => {
  const series = (pod: string): string =>
    `${name}{${Object.entries({ namespace: 'shop', database: 'orders', pod, container: 'exporter', ...labels })
      .map(([label, value]) => `${label}="${value}"`)
      .join(',')}}`;
  return { [series('orders-0')]: primary, [series('orders-1')]: replica };
};
const most = (count: number): Series =>
  ofMembers('pg_settings_max_connections', { server: 'localhost:5432' }, `${count}x60`, `${count}x60`);
const connected = (datname: string, primary: string, replica: string): Series =>
  ofMembers('pg_stat_database_numbackends', { datname, datid: datname }, primary, replica);
const age = (datname: string, transactions: string): Series =>
  ofMembers('pg_database_wraparound_age_datfrozenxid_seconds', { datname }, transactions, '0x60');

/** When each alert is told, and when it is not. */
export const alertCases: Readonly<Record<string, AlertCases>> = {
  PlumblineControllerDown: {
    fires: [
      {
        when: 'both controllers are gone, and another installation is not',
        series: {
          ...ofBoth('plumbline_build_info', { version: '0.1.0' }, '1x2 stale'),
          ...ofBoth('plumbline_build_info', { version: '0.1.0', namespace: 'other' }, '1x60'),
        },
        since: 3,
        at: 8,
        labels: system,
        summary: 'No controller of Plumbline is seen in namespace plumbline-system.',
        description:
          'Prometheus has no metrics of a controller in namespace plumbline-system. Databases run on and fail over, but nothing is repaired, rolled out or renewed, and no other alert of Plumbline can tell of anything.',
      },
    ],
    silent: [
      {
        when: 'one of two is gone',
        series: ofLeader('plumbline_build_info', { version: '0.1.0' }, '1x60'),
        at: [10, 30],
      },
      {
        when: 'both are away for three minutes',
        series: ofBoth('plumbline_build_info', { version: '0.1.0' }, '1x2 stale _x2 1x30'),
        at: [5, 10],
      },
    ],
  },
  PlumblineNoLeader: {
    fires: [
      {
        when: 'two controllers wait for the lease',
        series: { ...leads('a', '0x30'), ...leads('b', '0x30'), ...leads('a', '1x30', 'lease-of-others') },
        at: 2,
        labels: system,
        summary: 'No controller of Plumbline works in namespace plumbline-system.',
        description:
          'Controllers run in namespace plumbline-system, and none of them holds the lease plumbline-controller. Databases run on and fail over, but nothing is repaired, rolled out or renewed.',
      },
    ],
    silent: [
      { when: 'one leads and one waits', series: { ...leads('a', '1x30'), ...leads('b', '0x30') }, at: [5, 20] },
      {
        when: 'another one takes over within a minute',
        series: { ...leads('a', '1x4 0x20'), ...leads('b', '0x5 1x20') },
        at: [5, 6, 10],
      },
    ],
  },
  PlumblineReconcileErrors: {
    fires: [
      {
        when: 'one database fails again and again, as seldom as it is tried at last, and nothing else happens',
        series: {
          ...errors('0x16 1x16 2x16 3x16 4x16'),
          ...runs('error', '0x16 1x16 2x16 3x16 4x16'),
          ...errors('0+7x80', another),
          ...runs('success', '0+50x80', another),
        },
        since: 17,
        at: 60,
        labels: system,
        summary: 'Runs of the controller of Plumbline in namespace plumbline-system fail again and again.',
        description:
          '100% of the runs have failed within 20 minutes. The log of the controller names the databases, and their conditions say what hinders.',
      },
    ],
    silent: [
      {
        when: 'the API server is away for five minutes',
        series: { ...errors('0x10 0+5x5 25x60'), ...runs('error', '0x10 0+5x5 25x60') },
        at: [15, 30, 45, 60],
      },
      {
        when: 'one run in five hundred fails',
        series: { ...errors('0+1x80'), ...runs('error', '0+1x80'), ...runs('success', '0+499x80') },
        at: [40, 80],
      },
      { when: 'nothing happens', series: { ...errors('3x80'), ...runs('success', '900x80') }, at: [40, 80] },
    ],
  },
  PlumblineReconcileSlow: {
    fires: [
      {
        when: 'nine runs in ten take more than five seconds',
        series: {
          ...noLongerThan('5', '0+1x60'),
          ...noLongerThan('10', '0+10x60'),
          ...noLongerThan('+Inf', '0+10x60'),
          ...noLongerThan('5', '0+90x60', another),
          ...noLongerThan('10', '0+90x60', another),
          ...noLongerThan('+Inf', '0+90x60', another),
        },
        since: 1,
        at: 20,
        labels: system,
        summary: 'Runs of the controller of Plumbline in namespace plumbline-system are slow.',
        description:
          'One run in a hundred takes longer than 9.944s. Drift and health of databases are seen that much later.',
      },
    ],
    silent: [
      {
        when: 'all take no more than five seconds',
        series: { ...noLongerThan('2.5', '0x60'), ...noLongerThan('5', '0+10x60'), ...noLongerThan('+Inf', '0+10x60') },
        at: [20, 50],
      },
      {
        when: 'there are none',
        series: { ...noLongerThan('5', '1x60'), ...noLongerThan('+Inf', '10x60') },
        at: [20, 50],
      },
    ],
  },
  PlumblineReconcileHangs: {
    fires: [
      {
        when: 'a run has taken six minutes',
        series: { ...longest('0+60x20'), ...longest('0+120x20', another) },
        at: 6,
        labels: system,
        summary: 'A run of the controller of Plumbline in namespace plumbline-system does not end.',
        description:
          'It has taken 6m 0s so far; one database is not looked after meanwhile. When every worker hangs for a quarter of an hour, the controller is started again.',
      },
    ],
    silent: [{ when: 'runs end within five minutes', series: longest('0+60x5 0+60x5'), at: [5, 6, 11] }],
  },
  PlumblineApiThrottled: {
    fires: [
      {
        when: 'six requests a minute are turned away',
        series: { ...answers('429', '0+6x60'), ...answers('200', '0+60x60') },
        since: 1,
        at: 20,
        labels: system,
        summary: 'The API server turns away requests of the controller of Plumbline in namespace plumbline-system.',
        description:
          '0.10 requests a second are answered with 429 (Too Many Requests). They are made again later, so everything takes longer.',
      },
    ],
    silent: [
      { when: 'a burst is turned away', series: answers('429', '0x5 60x60'), at: [8, 12, 25] },
      { when: 'requests fail in another way', series: answers('500', '0+6x60'), at: [20, 40] },
    ],
  },
  PlumblineDatabaseUnavailable: {
    fires: [
      {
        when: 'a database that was up has lost its only member',
        series: {
          ...condition('Available', 'False', 'NoPrimary', '1x30'),
          ...condition('Degraded', 'True', 'InsufficientResources', '1x30'),
          ...condition('Ready', 'False', 'InsufficientResources', '1x30'),
        },
        at: 1,
        labels: orders,
        summary: 'Database shop/orders has no primary.',
        description:
          'Nothing can be written to shop/orders: no ready member is its primary. Its condition Ready is False for the reason InsufficientResources.',
      },
    ],
    silent: [
      {
        when: 'a new database has no primary yet',
        series: {
          ...condition('Available', 'False', 'NoPrimary', '1x30'),
          ...condition('Degraded', 'False', 'NoMemberLost', '1x30'),
          ...condition('Progressing', 'True', 'MembersStarting', '1x30'),
        },
        at: [5, 30],
      },
      {
        when: 'a member is missing and the primary is not',
        series: {
          ...condition('Available', 'True', 'PrimaryReady', '1x30'),
          ...condition('Degraded', 'True', 'MembersMissing', '1x30'),
          ...condition('Ready', 'False', 'MembersMissing', '1x30'),
        },
        at: [5, 30],
      },
      {
        when: 'it fails over',
        series: {
          ...condition('Available', 'False', 'NoPrimary', '_x5 1 stale'),
          ...condition('Degraded', 'True', 'MembersMissing', '_x5 1x10'),
        },
        at: [5, 6, 10],
      },
    ],
  },
  PlumblineDatabaseNotReady: {
    fires: [
      {
        when: 'a member is missing, and at last it is known why',
        series: {
          ...condition('Ready', 'False', 'MembersMissing', '1x7 stale'),
          ...condition('Ready', 'False', 'CrashLooping', '_x8 1x30'),
        },
        at: 15,
        labels: orders,
        summary: 'Database shop/orders is not ready.',
        description:
          'Not every member of shop/orders runs as it is to: its condition Ready is False for the reason CrashLooping.',
      },
    ],
    silent: [
      { when: 'a rollout is under way', series: condition('Ready', 'False', 'MembersUpdating', '1x60'), at: [20, 60] },
      { when: 'it is being deleted', series: condition('Ready', 'False', 'Deleting', '1x60'), at: [20, 60] },
      {
        when: 'it has been ready meanwhile',
        series: condition('Ready', 'False', 'MembersMissing', '1x9 stale 1x9 stale'),
        at: [9, 16, 20],
      },
    ],
  },
  PlumblineDatabaseStalled: {
    fires: [
      {
        when: 'a quota keeps a database that runs from what it states',
        series: {
          ...condition('Stalled', 'True', 'QuotaExceeded', '1x60'),
          ...isReady,
          ...condition('Progressing', 'False', 'QuotaExceeded', '1x60'),
        },
        at: 15,
        labels: orders,
        summary: 'What database shop/orders states cannot be made true.',
        description:
          'shop/orders runs, but something that its spec states cannot be applied until somebody acts: its condition Stalled is True for the reason QuotaExceeded.',
      },
    ],
    silent: [
      {
        when: 'it is not ready for the same reason, which has an alert',
        series: {
          ...condition('Stalled', 'True', 'QuotaExceeded', '1x60'),
          ...condition('Ready', 'False', 'QuotaExceeded', '1x60'),
        },
        at: [20, 60],
      },
      ...['RolloutFailed', 'ConfigurationRefused', 'RevisionUnknown', 'SlotAtRisk'].map((reason) => ({
        when: `it is ${reason}, which has an alert`,
        series: { ...condition('Stalled', 'True', reason, '1x60'), ...isReady },
        at: [20, 60],
      })),
      { when: 'nothing hinders', series: condition('Stalled', 'False', 'NothingToDo', '1x60'), at: [20, 60] },
    ],
  },
  PlumblineFailover: {
    fires: [
      {
        when: 'the primary has become another one',
        series: failovers('0x4 1x60'),
        at: 6,
        labels: orders,
        summary: 'Database shop/orders has failed over.',
        description:
          'Another member has become the primary of shop/orders within the last 15 minutes, and no rollout had asked for that.',
      },
    ],
    silent: [
      { when: 'that was longer ago', series: failovers('0x4 1x60'), at: [25, 60] },
      { when: 'another controller begins to count', series: failovers('3x10 0x30'), at: [9, 12, 30] },
    ],
  },
  PlumblineReplicationLag: {
    fires: [
      {
        when: 'a replica lacks 600 MiB for ten minutes',
        series: lag(`${600 * MiB}x30`),
        at: 10,
        labels: { ...orders, pod: 'orders-1' },
        summary: 'Replica orders-1 of database shop/orders lags behind.',
        description:
          'orders-1 lacks 600MiB of the WAL that the primary of shop/orders has written. Whoever reads there sees old rows, and it may not take over.',
      },
    ],
    silent: [
      { when: 'a replica lacks 512 MiB', series: lag(`${512 * MiB}x60`), at: [20, 60] },
      { when: 'a bulk load is over after eight minutes', series: lag(`0x2 ${900 * MiB}x7 0x20`), at: [10, 12, 15] },
    ],
  },
  PlumblineStorageCritical: {
    fires: [
      {
        when: 'a slot fills the volume',
        series: condition('StorageCritical', 'True', 'SlotKeepsWal', '1x30'),
        at: 5,
        labels: orders,
        summary: 'A volume of database shop/orders is nearly full.',
        description:
          'At least 85 % of the volume of a member of shop/orders is used (SlotKeepsWal). PostgreSQL stops when it is full.',
      },
    ],
    silent: [
      { when: 'there is room', series: condition('StorageCritical', 'False', 'RoomLeft', '1x30'), at: [10, 30] },
    ],
  },
  PlumblineBackupOverdue: {
    fires: [
      {
        when: 'one was not made',
        series: condition('BackupCurrent', 'False', 'BackupOverdue', '1x30'),
        at: 5,
        labels: orders,
        summary: 'A backup of database shop/orders is overdue.',
        description: 'A backup of shop/orders that was due more than an hour ago has not been made.',
      },
    ],
    silent: ['NoBackupYet', 'BackupSuspended', 'BackupOff', 'BackupFailed'].map((reason) => ({
      when: `it is ${reason}`,
      series: condition('BackupCurrent', 'False', reason, '1x30'),
      at: [10, 30],
    })),
  },
  PlumblineBackupFailing: {
    fires: ['BackupFailed', 'BackupStuck'].map((reason) => ({
      when: `it is ${reason}`,
      series: condition('BackupCurrent', 'False', reason, '1x30'),
      at: 5,
      labels: orders,
      summary: 'The last backup of database shop/orders is no good one.',
      description: `The last backup of shop/orders failed, or its pod does not start: its condition BackupCurrent is False for the reason ${reason}.`,
    })),
    silent: [
      ...['NoBackupYet', 'BackupSuspended', 'BackupOff', 'BackupOverdue'].map((reason) => ({
        when: `it is ${reason}`,
        series: condition('BackupCurrent', 'False', reason, '1x30'),
        at: [10, 30],
      })),
      {
        when: 'the last one is a good one',
        series: condition('BackupCurrent', 'True', 'BackupSucceeded', '1x30'),
        at: [10],
      },
    ],
  },
  PlumblineCertificateExpiring: {
    fires: [
      {
        when: 'the first of two ends in five days',
        series: {
          ...expiry('orders-0', 5 * day + 300),
          ...expiry('orders-1', 90 * day),
          ...condition('TlsReady', 'False', 'CertificateExpiring', '1x60'),
        },
        at: 5,
        labels: orders,
        summary: 'The certificate of database shop/orders soon ends.',
        description:
          'A member of shop/orders serves a certificate that ends in 5d 0h 0m 0s, and no later one has come. Clients that check it are turned away then.',
      },
    ],
    silent: [
      {
        when: 'a certificate lives for a day, and is not late',
        series: { ...expiry('orders-0', day), ...condition('TlsReady', 'True', 'CertificateServed', '1x60') },
        at: [10, 60],
      },
      {
        when: 'the Secret holds no pair, which has an alert',
        series: { ...expiry('orders-0', day), ...condition('TlsReady', 'False', 'CertificateUnusable', '1x60') },
        at: [10, 60],
      },
    ],
  },
  PlumblineCertificateUnusable: {
    fires: [
      {
        when: 'a key does not belong to its certificate',
        series: condition('TlsReady', 'False', 'CertificateUnusable', '1x30'),
        at: 5,
        labels: orders,
        summary: 'Database shop/orders cannot serve the certificate in its Secret.',
        description:
          'The Secret with the certificate of shop/orders holds no pair that can be served. The members keep to the pair before, where they had one.',
      },
    ],
    silent: ['TlsOff', 'CertificatePending', 'CertificateExpiring'].map((reason) => ({
      when: `it is ${reason}`,
      series: condition('TlsReady', 'False', reason, '1x30'),
      at: [10, 30],
    })),
  },
  PlumblineDriftContested: {
    fires: [
      {
        when: 'a fight goes on, and the field was put back once more',
        series: condition('Drifted', 'True', 'Contested', '1x3 stale'),
        at: 8,
        labels: orders,
        summary: 'Somebody fights over a field of database shop/orders.',
        description:
          'Somebody writes a field of shop/orders back as often as Plumbline corrects it, so for a time it is left as it is. The condition Drifted names who, and what ends it.',
      },
    ],
    silent: [
      { when: 'a fight has ended', series: condition('Drifted', 'True', 'Contested', '1x3 stale'), at: [20, 30] },
      ...['DriftReported', 'AdditionReported'].map((reason) => ({
        when: `it is ${reason}`,
        series: condition('Drifted', 'True', reason, '1x30'),
        at: [1, 30],
      })),
    ],
  },
  PlumblineRolloutSetBack: {
    fires: ['RolloutFailed', 'ConfigurationRefused', 'RevisionUnknown'].map((reason) => ({
      when: `it is ${reason}`,
      series: { ...condition('Stalled', 'True', reason, '1x30'), ...isReady },
      at: 0,
      labels: orders,
      summary: 'The last change of database shop/orders does not work.',
      description: `The members of shop/orders do not run on what its spec says: its condition Stalled is True for the reason ${reason}. The condition says what is in force instead.`,
    })),
    silent: ['SlotAtRisk', 'QuotaExceeded'].map((reason) => ({
      when: `it is ${reason}`,
      series: condition('Stalled', 'True', reason, '1x30'),
      at: [0, 30],
    })),
  },
  PlumblineRolloutStuck: {
    fires: (
      [
        ['members are not renewed', condition('Progressing', 'True', 'MembersUpdating', '1x90')],
        [
          'a switchover comes to be held',
          {
            ...condition('Progressing', 'True', 'MembersUpdating', '1x20 stale'),
            ...condition('Stalled', 'True', 'SlotAtRisk', '_x21 1x90'),
          },
        ],
      ] as const
    ).map(([when, series]) => ({
      when,
      series,
      at: 60,
      labels: orders,
      summary: 'A rollout of database shop/orders does not come to its end.',
      description:
        'The members of shop/orders have been on their way to what its spec says for more than an hour. The condition Progressing or Stalled says what is waited for.',
    })),
    silent: [
      {
        when: 'it ends after 50 minutes',
        series: condition('Progressing', 'True', 'MembersUpdating', '1x50 stale'),
        at: [50, 62, 80],
      },
      {
        when: 'something else hinders',
        series: condition('Stalled', 'True', 'QuotaExceeded', '1x90'),
        at: [70, 90],
      },
      {
        when: 'a new database starts',
        series: condition('Progressing', 'True', 'MembersStarting', '1x90'),
        at: [70, 90],
      },
    ],
  },
  PlumblineConnectionsScarce: {
    fires: [
      {
        when: '95 of 100 connections of the primary are taken, in two databases',
        series: { ...most(100), ...connected('app', '60x60', '10x60'), ...connected('audit', '35x60', '0x60') },
        at: 5,
        labels: { namespace: 'shop', database: 'orders', pod: 'orders-0' },
        summary: 'Database shop/orders has hardly any connection left.',
        description:
          '95% of the connections of orders-0 are taken, of database shop/orders. Who comes when all are is turned away.',
      },
    ],
    silent: [
      {
        when: 'each member has 90 of 100',
        series: { ...most(100), ...connected('app', '90x60', '90x60') },
        at: [10, 60],
      },
      {
        when: 'all are taken for four minutes',
        series: { ...most(100), ...connected('app', '5x5 100x4 5x50', '5x60') },
        at: [9, 11, 20],
      },
      {
        when: 'it is the exporter of somebody else',
        series: Object.fromEntries(
          Object.entries({ ...most(100), ...connected('app', '99x60', '99x60') }).map(([text, values]) => [
            text.replace('container="exporter"', 'container="sidecar"'),
            values,
          ]),
        ),
        at: [10, 60],
      },
    ],
  },
  PlumblineWraparoundNear: {
    fires: [
      {
        when: 'one of two databases has not been frozen for 1.2 thousand million transactions',
        series: { ...age('app', '1.2e9x60'), ...age('template1', '2e8x60') },
        at: 15,
        labels: { namespace: 'shop', database: 'orders', pod: 'orders-0' },
        summary: 'Rows of database shop/orders have not been frozen for long.',
        description:
          'The oldest transaction that orders-0 of shop/orders has to tell apart is 1.2G transactions old. Before it is two thousand million, PostgreSQL takes no more writes.',
      },
    ],
    silent: [{ when: 'autovacuum freezes as it does', series: age('app', '2.1e8x60'), at: [20, 60] }],
  },
};
