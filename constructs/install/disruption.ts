import type { V1PodDisruptionBudget } from '@kubernetes/client-node';
import type { Construct } from 'constructs';
import { emit } from '../emit.ts';
import { controllerLabels, controllerSelector } from './labels.ts';
import { controllerName, type Settings } from './settings.ts';

/** One at a time may be evicted, so that another can take over; one that is alone does not hold up a node drain. */
export function disruption(scope: Construct, { namespace }: Settings): void {
  emit<V1PodDisruptionBudget>(scope, 'disruption-budget', {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: controllerName, namespace, labels: controllerLabels },
    spec: {
      maxUnavailable: 1,
      selector: { matchLabels: controllerSelector },
      // Pods that don't become ready hold up nothing.
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
    },
  });
}
