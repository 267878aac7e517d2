import type { V1NetworkPolicy, V1Service } from '@kubernetes/client-node';
import type { Construct } from 'constructs';
import { emit } from '../emit.ts';
import { controllerLabels, controllerSelector } from './labels.ts';
import { ports } from './ports.ts';
import { controllerName, type Settings } from './settings.ts';

/** Of the Service; the controller's own certificate is of this name. */
export const metricsName = 'plumbline-metrics';

/** Name of the port: its scheme, for the API server's proxy and for people. */
export function metricsScheme({ metricsAuth }: Pick<Settings, 'metricsAuth'>): 'http' | 'https' {
  return metricsAuth === 'Tokens' ? 'https' : 'http';
}

/** Leads to the metrics of each pod. Where they ask nobody who he is, only pods that are named get to them. */
export function metrics(scope: Construct, settings: Settings): void {
  const { namespace, metricsAuth, metricsFrom } = settings;
  emit<V1Service>(scope, 'metrics-service', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: metricsName, namespace, labels: controllerLabels },
    spec: {
      type: 'ClusterIP',
      internalTrafficPolicy: 'Cluster',
      sessionAffinity: 'None',
      // Of one that is not ready the metrics tell why.
      publishNotReadyAddresses: true,
      selector: controllerSelector,
      ports: [{ name: metricsScheme(settings), port: ports.metrics, protocol: 'TCP', targetPort: 'metrics' }],
    },
  });
  if (metricsAuth === 'Tokens') return;
  emit<V1NetworkPolicy>(scope, 'network-policy', {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: controllerName, namespace, labels: controllerLabels },
    spec: {
      podSelector: { matchLabels: controllerSelector },
      policyTypes: ['Ingress'],
      ingress: [{ from: metricsFrom, ports: [{ port: 'metrics', protocol: 'TCP' }] }],
    },
  });
}
