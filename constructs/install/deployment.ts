import type { V1Container, V1Deployment, V1EnvVar } from '@kubernetes/client-node';
import type { Construct } from 'constructs';
import { emit, type Json } from '../emit.ts';
import { imageUser } from './image.ts';
import { controllerLabels, controllerSelector } from './labels.ts';
import { ports } from './ports.ts';
import { liveness, readiness, startup } from './probes.ts';
import { controllerName, type Settings } from './settings.ts';

/** The controller. Its pods fit the Pod Security level "restricted" and write nowhere but in `/tmp`. */
export function deployment(scope: Construct, settings: Settings): void {
  const { namespace, replicas, imagePullSecrets, nodeSelector, priorityClass } = settings;
  emit<V1Deployment>(scope, 'deployment', {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: controllerName, namespace, labels: controllerLabels },
    spec: {
      replicas,
      selector: { matchLabels: controllerSelector },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      template: {
        metadata: { labels: controllerLabels },
        spec: {
          serviceAccountName: controllerName,
          automountServiceAccountToken: true,
          enableServiceLinks: false,
          imagePullSecrets: imagePullSecrets?.map((name) => ({ name })),
          nodeSelector,
          priorityClassName: priorityClass,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: imageUser,
            runAsGroup: imageUser,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          // Work in progress has 30 s to end, then the lease is given back.
          terminationGracePeriodSeconds: 45,
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'kubernetes.io/hostname',
              // A cluster of one node has both.
              whenUnsatisfiable: 'ScheduleAnyway',
              labelSelector: { matchLabels: controllerSelector },
            },
          ],
          containers: [container(settings)],
          volumes: [{ name: 'tmp', emptyDir: {} }],
        },
      },
    },
  });
}

function container(settings: Settings): Json<V1Container> {
  const { requests, limits } = settings.resources;
  return {
    name: 'controller',
    image: settings.image,
    imagePullPolicy: 'IfNotPresent',
    env: variables(settings),
    livenessProbe: liveness,
    ports: [
      { name: 'metrics', containerPort: ports.metrics, protocol: 'TCP' },
      { name: 'health', containerPort: ports.health, protocol: 'TCP' },
    ],
    readinessProbe: readiness,
    resources: { requests: { ...requests }, limits: { ...limits } },
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      privileged: false,
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
    },
    startupProbe: startup,
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
  };
}

function variables({
  environment = {},
  namespace,
  watchNamespaces,
  logLevel,
  workers,
  metricsAuth,
  clusterName,
  git,
}: Settings): Json<V1EnvVar[]> {
  const own: Readonly<Record<string, string | undefined>> = {
    HOME: '/tmp',
    PLUMBLINE_NAMESPACE: watchNamespaces.length === 0 ? undefined : watchNamespaces.join(','),
    PLUMBLINE_LEASE_NAMESPACE: namespace,
    PLUMBLINE_LEASE_NAME: controllerName,
    PLUMBLINE_LOG_LEVEL: logLevel,
    PLUMBLINE_WORKERS: workers?.toString(),
    PLUMBLINE_METRICS_ADDRESS: `:${ports.metrics}`,
    PLUMBLINE_METRICS_AUTH: metricsAuth === 'Tokens' ? 'tokens' : 'none',
    PLUMBLINE_HEALTH_ADDRESS: `:${ports.health}`,
    PLUMBLINE_GIT_URL: git?.url,
    PLUMBLINE_GIT_BRANCH: git?.branch,
    PLUMBLINE_CLUSTER_NAME: clusterName,
  };
  const all = [...Object.entries(own), ...Object.entries(environment)];
  return all.flatMap(([name, value]) => (value === undefined ? [] : { name, value }));
}
