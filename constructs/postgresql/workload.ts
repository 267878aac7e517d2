import type { V1StatefulSet, V1StatefulSetSpec } from '@kubernetes/client-node';
import type { Construct } from 'constructs';
import { digestOf } from '../digest.ts';
import { emit, type Json } from '../emit.ts';
import {
  databaseLabel,
  informativeLabels,
  memberSelector,
  monitoredLabel,
  patroniLabels,
  restartedAtAnnotation,
  templateAnnotation,
} from '../labels.ts';
import { dataVolume } from '../names.ts';
import { postgresContainer, stewardContainer } from './containers.ts';
import type { Database } from './defaults.ts';
import { exporterContainer } from './exporter.ts';
import { podSecurity } from './pod-security.ts';
import { placement, spread } from './scheduling.ts';
import { memberVolumes } from './volumes.ts';

/** The members. */
export function workload(scope: Construct, database: Database): void {
  const { name, namespace, names } = database;
  emit<V1StatefulSet>(scope, 'members', {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: {
      name: names.database,
      namespace,
      labels: { ...informativeLabels(name, 'database', database.version), [databaseLabel]: name },
    },
    spec: {
      minReadySeconds: 0,
      // No member waits for another: each may be the one that the others need.
      podManagementPolicy: 'Parallel',
      // Neither a StatefulSet that is deleted nor one that is scaled by hand takes data with it.
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      replicas: database.replicas,
      revisionHistoryLimit: 10,
      selector: { matchLabels: memberSelector(name) },
      serviceName: names.members,
      template: podTemplate(database),
      updateStrategy: updateStrategy(database),
      volumeClaimTemplates: [claimTemplate(database)],
    },
  });
}

/** RollingUpdate cannot know the primary; it is for teams that run no controller. */
function updateStrategy({ rollout }: Database): Json<V1StatefulSetSpec['updateStrategy']> {
  return rollout === 'StatefulSet' ? { type: 'RollingUpdate', rollingUpdate: { partition: 0 } } : { type: 'OnDelete' };
}

/** What a pod bears that was made from the template of these settings. */
export function templateDigest(database: Database): string {
  return digestOf(bareTemplate(database));
}

/**
 * The template bears its own digest: so a pod can be told from one of an older template, also when somebody else adds to the template, which
 * Kubernetes takes for a new revision. By what a restart was asked for is no part of it: nobody restarts because that is taken away.
 */
function podTemplate(database: Database): Json<V1StatefulSetSpec['template']> {
  const { metadata, spec } = bareTemplate(database);
  const { restartedAt } = database;
  const asked: Record<string, string> = restartedAt === undefined ? {} : { [restartedAtAnnotation]: restartedAt };
  return { metadata: { ...metadata, annotations: { ...asked, [templateAnnotation]: templateDigest(database) } }, spec };
}

/** No version label: it would restart members whose image is the same. */
function bareTemplate(database: Database): Json<V1StatefulSetSpec['template']> {
  const { name, names, monitoring } = database;
  return {
    metadata: {
      labels: {
        ...informativeLabels(name, 'database'),
        ...memberSelector(name),
        ...patroniLabels(name),
        ...(monitoring ? { [monitoredLabel]: 'true' } : {}),
      },
    },
    spec: {
      automountServiceAccountToken: true,
      containers: [
        postgresContainer(database),
        stewardContainer(database),
        ...(monitoring ? [exporterContainer(database, monitoring)] : []),
      ],
      // A Service named `pg` or `patroni` would become configuration (pgbackrest#942).
      enableServiceLinks: false,
      restartPolicy: 'Always',
      securityContext: podSecurity,
      serviceAccountName: names.members,
      shareProcessNamespace: false,
      // A clean stop writes a checkpoint, which takes as long as the disk takes.
      terminationGracePeriodSeconds: 300,
      topologySpreadConstraints: spread(database),
      volumes: memberVolumes(database),
      ...placement(database),
      priorityClassName: database.scheduling.priorityClass,
    },
  };
}

/** Immutable, so it holds nothing that may change: no informative labels, which would also make a GitOps tool claim the volumes. */
function claimTemplate({
  name,
  storage,
}: Database): NonNullable<Json<V1StatefulSetSpec['volumeClaimTemplates']>>[number] {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: dataVolume, labels: memberSelector(name) },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: String(storage.size) } },
      storageClassName: storage.storageClass,
      volumeMode: 'Filesystem',
    },
  };
}
