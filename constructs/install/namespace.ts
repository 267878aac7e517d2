import type { V1Namespace } from '@kubernetes/client-node';
import type { Construct } from 'constructs';
import { emit } from '../emit.ts';
import { controllerLabels } from './labels.ts';
import type { Settings } from './settings.ts';

/** Where the controller runs, and nothing that asks for more than its pods do. */
export function namespace(scope: Construct, { namespace: name }: Settings): void {
  emit<V1Namespace>(scope, 'namespace', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels: { ...controllerLabels, 'pod-security.kubernetes.io/enforce': 'restricted' } },
  });
}
