import type { V1CronJob, V1PersistentVolumeClaim } from '@kubernetes/client-node';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DatabaseServiceSpec } from '../../../constructs/api/spec.ts';
import { render } from '../../../constructs/render.ts';
import { orders, rendered } from './orders.ts';

type Backup = NonNullable<DatabaseServiceSpec['backup']>;

function cronJob(backup: Backup) {
  return rendered<V1CronJob>(orders({ backup }), 'CronJob', 'orders-backup');
}

const daily: Backup = { schedule: '30 2 * * *', volume: { size: '20Gi' } };

test('without backup nothing of it is rendered', () => {
  assert.ok(render(orders()).every(({ metadata }) => !metadata.name.endsWith('-backup')));
});

test('everything whose default matters is stated', () => {
  const { jobTemplate, ...schedule } = cronJob(daily).spec ?? {};
  const { template, ...job } = jobTemplate?.spec ?? {};
  assert.deepEqual(schedule, {
    concurrencyPolicy: 'Forbid',
    failedJobsHistoryLimit: 3,
    schedule: '30 2 * * *',
    startingDeadlineSeconds: 3600,
    successfulJobsHistoryLimit: 3,
    suspend: false,
    timeZone: 'Etc/UTC',
  });
  assert.deepEqual(job, {
    activeDeadlineSeconds: 21600,
    backoffLimit: 1,
    completionMode: 'NonIndexed',
    completions: 1,
    parallelism: 1,
    suspend: false,
  });
  assert.equal(template?.spec?.restartPolicy, 'Never');
});

test('schedule, zone, suspend and retention are those of the spec', () => {
  const { spec } = cronJob({ ...daily, timeZone: 'Europe/Berlin', suspend: true, retention: { keep: 3 } });
  assert.equal(spec?.timeZone, 'Europe/Berlin');
  assert.equal(spec.suspend, true);
  const args = spec.jobTemplate.spec?.template.spec?.containers[0]?.args ?? [];
  assert.deepEqual(args.slice(-2), ['--keep=3', '--time-zone=Europe/Berlin']);
});

test('a distance has no deadline to begin: with one that is shorter Kubernetes would never begin', () => {
  assert.equal(cronJob({ ...daily, schedule: '@every 6h' }).spec?.startingDeadlineSeconds, undefined);
});

test('Argo CD does not judge the CronJob: one failed run must not hold up a deployment (argo-cd#24428)', () => {
  assert.equal(cronJob(daily).metadata.annotations?.['argocd.argoproj.io/ignore-healthcheck'], 'true');
});

test('with a size a claim is rendered that no tool prunes', () => {
  const claim = rendered<V1PersistentVolumeClaim>(
    orders({ backup: { ...daily, volume: { size: '20Gi', storageClass: 'slow' } } }),
    'PersistentVolumeClaim',
    'orders-backup',
  );
  assert.deepEqual(claim.spec, {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '20Gi' } },
    storageClassName: 'slow',
    volumeMode: 'Filesystem',
  });
  assert.equal(claim.metadata.annotations?.['argocd.argoproj.io/sync-options'], 'Delete=false,Prune=false');
  assert.equal(
    claim.metadata.annotations['argocd.argoproj.io/ignore-healthcheck'],
    'true',
    'until the first backup it is bound to no volume, which Argo CD takes for Progressing',
  );
});

test('with a claim of one’s own that one is mounted and none is rendered', () => {
  const backup: Backup = { ...daily, volume: { claimName: 'shared-backups' } };
  const volumes = cronJob(backup).spec?.jobTemplate.spec?.template.spec?.volumes;
  assert.deepEqual(volumes?.find(({ name }) => name === 'backup')?.persistentVolumeClaim, {
    claimName: 'shared-backups',
    readOnly: false,
  });
  assert.ok(render(orders({ backup })).every(({ kind }) => kind !== 'PersistentVolumeClaim'));
});

test('two databases on one claim write to folders of their own', () => {
  const into = (name: string) =>
    rendered<V1CronJob>(
      orders({ backup: daily }, name),
      'CronJob',
      `${name}-backup`,
    ).spec?.jobTemplate.spec?.template.spec?.containers[0]?.args?.find((argument) => argument.startsWith('--into='));
  assert.equal(into('orders'), '--into=/backup/orders');
  assert.equal(into('bills'), '--into=/backup/bills');
});

test('the backup never mounts a volume of a member', () => {
  const volumes = cronJob(daily).spec?.jobTemplate.spec?.template.spec?.volumes ?? [];
  assert.deepEqual(
    volumes.flatMap(({ persistentVolumeClaim: claim }) => (claim ? [claim.claimName] : [])),
    ['orders-backup'],
  );
});
