import type { V1Container } from '@kubernetes/client-node';
import type { Json } from '../emit.ts';
import { defaults, type Database, type Monitoring } from './defaults.ts';
import { paths } from './paths.ts';
import { containerSecurity } from './pod-security.ts';
import { systemRoles } from './system-roles.ts';
import { exporterMounts } from './volumes.ts';

/**
 * Serves metrics of PostgreSQL: postgres_exporter, as a role that may look and no more. It has no probe, for no Service is to lead away from a
 * member whose metrics fail.
 * Source of the flags: https://github.com/prometheus-community/postgres_exporter#flags
 */
export function exporterContainer(database: Database, { image }: Monitoring): Json<V1Container> {
  return {
    name: 'exporter',
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['sh', `${paths.scripts}/exporter.sh`],
    args: [
      `--web.listen-address=:${defaults.exporterPort}`,
      '--log.level=warn',
      '--collection-timeout=8s',
      '--collector.database_wraparound',
      '--collector.long_running_transactions',
      '--collector.postmaster',
      // Of each table: no number of series that anybody could foresee, and of the database `postgres` alone.
      '--no-collector.stat_user_tables',
      '--no-collector.statio_user_tables',
    ],
    env: [
      { name: 'DATA_SOURCE_NAME', value: dataSource(database) },
      // Near it Go collects garbage rather than to reach the limit below.
      { name: 'GOMEMLIMIT', value: '96MiB' },
    ],
    ports: [{ name: 'exporter', containerPort: defaults.exporterPort, protocol: 'TCP' }],
    resources: { requests: { cpu: '10m', memory: '32Mi' }, limits: { memory: '128Mi' } },
    securityContext: containerSecurity,
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: exporterMounts(),
  };
}

/**
 * Without a password: the steward writes that to a file in memory. By the network of the pod and not by the socket, where every process of the pod
 * is the superuser; encrypted where PostgreSQL takes nothing else.
 */
function dataSource({ tlsSecret }: Database): string {
  const settings = {
    sslmode: tlsSecret === undefined ? 'disable' : 'require',
    application_name: 'postgres_exporter',
    connect_timeout: '5',
    statement_timeout: '8000',
  };
  return `postgresql://${systemRoles.monitoring}@localhost:${defaults.port}/postgres?${new URLSearchParams(settings).toString()}`;
}
