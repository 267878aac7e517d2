import type { V1Container, V1EnvVar } from '@kubernetes/client-node';
import type { Json } from '../emit.ts';
import { defaults, type Database } from './defaults.ts';
import { paths } from './paths.ts';
import { containerSecurity } from './pod-security.ts';
import { liveness, readiness, startup } from './probes.ts';
import { postgresMounts, stewardMounts } from './volumes.ts';

type Container = Json<V1Container>;

/** Patroni and PostgreSQL, under the supervisor. */
export function postgresContainer(database: Database): Container {
  return {
    name: 'postgres',
    image: database.image,
    imagePullPolicy: 'IfNotPresent',
    command: ['bash', `${paths.scripts}/supervisor.sh`],
    env: [...environment, field('POD_IP', 'status.podIP')],
    livenessProbe: liveness,
    ports: [
      { name: 'postgresql', containerPort: defaults.port, protocol: 'TCP' },
      { name: 'patroni', containerPort: defaults.restPort, protocol: 'TCP' },
    ],
    readinessProbe: readiness,
    resources: database.resources,
    securityContext: containerSecurity,
    startupProbe: startup,
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: postgresMounts(database),
  };
}

/** Does what needs SQL, over the local socket. */
export function stewardContainer(database: Database): Container {
  return {
    name: 'steward',
    image: database.image,
    imagePullPolicy: 'IfNotPresent',
    command: ['python3', '-B', `${paths.scripts}/${database.monitoring ? 'monitoring' : 'steward'}.py`],
    env: environment,
    resources: { requests: { cpu: '10m', memory: '48Mi' }, limits: { memory: '128Mi' } },
    securityContext: containerSecurity,
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: stewardMounts(database),
  };
}

/** No password, and nothing that PostgreSQL's or Patroni's tools would read as configuration. */
const environment: Json<V1EnvVar[]> = [
  { name: 'HOME', value: '/tmp' },
  { name: 'LC_ALL', value: 'C.UTF-8' },
  field('POD_NAME', 'metadata.name'),
];

function field(name: string, fieldPath: string): Json<V1EnvVar> {
  return { name, valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } } };
}
