import type { V1ConfigMap } from '@kubernetes/client-node';
import type { Construct } from 'constructs';
import { emit } from '../../../emit.ts';
import { controllerLabels } from '../../labels.ts';
import type { Settings } from '../../settings.ts';
import type { MonitoringSettings } from '../options.ts';
import { dashboardModel } from './model.ts';

/** The dashboard in a ConfigMap, as the sidecar of Grafana's chart takes it. */
export function dashboard(scope: Construct, { namespace }: Settings, { dashboardLabels }: MonitoringSettings): void {
  emit<V1ConfigMap>(scope, 'dashboard', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'plumbline-dashboard', namespace, labels: { ...dashboardLabels, ...controllerLabels } },
    data: { 'plumbline.json': `${JSON.stringify(dashboardModel(), undefined, 2)}\n` },
  });
}
