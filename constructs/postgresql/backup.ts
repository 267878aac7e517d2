import type { V1CronJob, V1Container, V1JobSpec, V1PersistentVolumeClaim } from '@kubernetes/client-node';
import type { Construct } from 'constructs';
import { emit, type Json } from '../emit.ts';
import { backupSelector, databaseLabel, informativeLabels, managedBy } from '../labels.ts';
import { defaults, type Backup, type Database } from './defaults.ts';
import { paths } from './paths.ts';
import { systemRoles } from './system-roles.ts';
import { containerSecurity, podSecurity } from './pod-security.ts';
import { placement } from './scheduling.ts';
import { memory, mount } from './volumes.ts';

/** The claim that a backup of the spec asks for. Never owned by anything and never pruned: backups outlive their database. */
export function backupClaim(scope: Construct, { name, namespace, names }: Database, { volume }: Backup): void {
  if (volume.size === undefined) return;
  emit<V1PersistentVolumeClaim>(scope, 'backup-claim', {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: names.backup,
      namespace,
      labels: { ...managedBy, [databaseLabel]: name },
      annotations: {
        // It waits for the first backup, which may be a day away, and so would the application.
        'argocd.argoproj.io/ignore-healthcheck': 'true',
        'argocd.argoproj.io/sync-options': 'Delete=false,Prune=false',
        'kustomize.toolkit.fluxcd.io/prune': 'disabled',
      },
    },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: String(volume.size) } },
      storageClassName: volume.storageClass,
      volumeMode: 'Filesystem',
    },
  });
}

/** The CronJob that dumps every database. */
export function backupSchedule(scope: Construct, database: Database, backup: Backup): void {
  const { name, namespace, names } = database;
  const labels = { ...informativeLabels(name, 'backup'), [databaseLabel]: name };
  emit<V1CronJob>(scope, 'backup', {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: {
      name: names.backup,
      namespace,
      labels,
      // One failed run must not hold up a deployment: the DatabaseService tells of it (argo-cd#24428).
      annotations: { 'argocd.argoproj.io/ignore-healthcheck': 'true' },
    },
    spec: {
      concurrencyPolicy: 'Forbid',
      failedJobsHistoryLimit: 3,
      jobTemplate: { metadata: { labels }, spec: jobSpec(database, backup) },
      schedule: backup.schedule,
      // With a deadline shorter than its distance, `@every` is never due: the controller then reckons from the deadline, not from the last Job
      // (`mostRecentScheduleTime` in pkg/controller/cronjob/utils.go of Kubernetes 1.36).
      startingDeadlineSeconds: backup.schedule.startsWith('@every') ? undefined : defaults.backupStartSeconds,
      successfulJobsHistoryLimit: 3,
      suspend: backup.suspend,
      timeZone: backup.timeZone,
    },
  });
}

function jobSpec(database: Database, backup: Backup): Json<V1JobSpec> {
  const { name, names } = database;
  return {
    activeDeadlineSeconds: defaults.backupRunSeconds,
    backoffLimit: 1,
    completionMode: 'NonIndexed',
    completions: 1,
    parallelism: 1,
    suspend: false,
    template: {
      metadata: { labels: { ...informativeLabels(name, 'backup'), ...backupSelector(name) } },
      spec: {
        automountServiceAccountToken: false,
        containers: [container(database, backup)],
        enableServiceLinks: false,
        restartPolicy: 'Never',
        securityContext: podSecurity,
        serviceAccountName: names.backup,
        terminationGracePeriodSeconds: 60,
        volumes: [
          {
            name: 'backup',
            persistentVolumeClaim: { claimName: backup.volume.claimName ?? names.backup, readOnly: false },
          },
          {
            name: 'scripts',
            configMap: {
              name: names.patroni,
              items: [{ key: 'backup.sh', path: 'backup.sh' }],
              defaultMode: 0o555,
              optional: false,
            },
          },
          {
            name: 'system',
            secret: {
              secretName: names.system,
              items: [{ key: 'superuser', path: 'superuser' }],
              defaultMode: 0o440,
              optional: false,
            },
          },
          memory('run', '1Mi'),
          { name: 'tmp', emptyDir: { sizeLimit: '64Mi' } },
        ],
        ...placement(database),
      },
    },
  };
}

/** No shell text is made of the spec: the script takes its facts from arguments. */
function container(database: Database, backup: Backup): Json<V1Container> {
  return {
    name: 'backup',
    image: database.image,
    imagePullPolicy: 'IfNotPresent',
    command: ['bash', `${paths.scripts}/backup.sh`],
    args: [
      `--host=${database.names.database}`,
      `--port=${defaults.port}`,
      `--username=${systemRoles.superuser}`,
      `--password-file=${paths.system}/superuser`,
      `--into=${paths.backup}/${database.name}`,
      `--keep=${backup.keep}`,
      `--time-zone=${backup.timeZone}`,
    ],
    // No PGSSLMODE: libpq's default, prefer, encrypts where the members do, and works where they don't.
    env: [
      { name: 'HOME', value: '/tmp' },
      { name: 'LC_ALL', value: 'C.UTF-8' },
    ],
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '512Mi' } },
    securityContext: containerSecurity,
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: [
      mount('backup', paths.backup, false),
      mount('scripts', paths.scripts, true),
      mount('system', paths.system, true),
      mount('run', paths.run, false),
      mount('tmp', '/tmp', false),
    ],
  };
}
