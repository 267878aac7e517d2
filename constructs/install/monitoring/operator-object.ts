import type { Construct } from 'constructs';
import { emit } from '../../emit.ts';
import { controllerLabels } from '../labels.ts';
import type { Settings } from '../settings.ts';
import type { MonitoringSettings } from './options.ts';

/** An object of a kind of the Prometheus operator. https://prometheus-operator.dev/docs/api-reference/api/ */
interface OperatorObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly spec: unknown;
}

/** What of it is its own. */
interface OwnPart {
  readonly kind: string;
  readonly name: string;
  readonly spec: object;
}

/** Adds one beside the installation, with the labels by which that operator selects it. */
export function operatorObject(
  scope: Construct,
  id: string,
  { kind, name, spec }: OwnPart,
  { namespace }: Settings,
  { selectedBy }: MonitoringSettings,
): void {
  emit<OperatorObject>(scope, id, {
    apiVersion: 'monitoring.coreos.com/v1',
    kind,
    metadata: { name, namespace, labels: { ...selectedBy, ...controllerLabels } },
    spec,
  });
}
