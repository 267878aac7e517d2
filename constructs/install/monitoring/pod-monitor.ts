import type { Construct } from 'constructs';
import { databaseLabel, monitoredLabel } from '../../labels.ts';
import type { Settings } from '../settings.ts';
import { operatorObject } from './operator-object.ts';
import type { MonitoringSettings } from './options.ts';

/** https://prometheus-operator.dev/docs/api-reference/api/#monitoring.coreos.com/v1.PodMonitorSpec, as far as it is used here. */
interface PodMonitorSpec {
  readonly namespaceSelector: { readonly any: true } | { readonly matchNames: readonly string[] };
  readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly podMetricsEndpoints: readonly {
    readonly port: string;
    readonly path: string;
    readonly scheme: string;
    readonly relabelings: readonly {
      readonly action: string;
      readonly sourceLabels: readonly string[];
      readonly targetLabel: string;
    }[];
  }[];
}

/**
 * Has the members of every database scraped that is monitored, at the exporter and at Patroni. One for all, and not one beside each: so no manifest of a
 * database needs a kind that may not be in the cluster, and a new one is found by its label.
 */
export function podMonitor(scope: Construct, settings: Settings, own: MonitoringSettings): void {
  const { watchNamespaces } = settings;
  const spec: PodMonitorSpec = {
    namespaceSelector: watchNamespaces.length === 0 ? { any: true } : { matchNames: watchNamespaces },
    selector: { matchLabels: { [monitoredLabel]: 'true' } },
    podMetricsEndpoints: ['exporter', 'patroni'].map((port) => ({
      port,
      path: '/metrics',
      scheme: 'http',
      relabelings: [{ action: 'replace', sourceLabels: [metaLabel(databaseLabel)], targetLabel: 'database' }],
    })),
  };
  operatorObject(scope, 'pod-monitor', { kind: 'PodMonitor', name: 'plumbline-databases', spec }, settings, own);
}

/** What Prometheus calls a label of a pod while it relabels. */
function metaLabel(label: string): string {
  return `__meta_kubernetes_pod_label_${label.replace(/[^a-zA-Z0-9_]/g, '_')}`;
}
