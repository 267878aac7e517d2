import { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import { databaseLabel, informativeLabels, memberSelector } from '../labels.ts';
import type { Database } from './defaults.ts';

/** One member at a time may be evicted; a database of one member does not hold up a node drain. */
export function disruption(scope: Construct, { name, namespace, names }: Database): void {
  new k8s.KubePodDisruptionBudget(scope, 'disruption-budget', {
    metadata: {
      name: names.database,
      namespace,
      labels: { ...informativeLabels(name, 'database'), [databaseLabel]: name },
    },
    spec: {
      maxUnavailable: k8s.IntOrString.fromNumber(1),
      selector: { matchLabels: memberSelector(name) },
      unhealthyPodEvictionPolicy: 'IfHealthyBudget',
    },
  });
}
