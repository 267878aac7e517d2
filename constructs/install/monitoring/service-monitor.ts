import type { Construct } from 'constructs';
import { emit } from '../../emit.ts';
import { controllerLabels, controllerSelector } from '../labels.ts';
import { metricsName, metricsScheme } from '../metrics.ts';
import type { Settings } from '../settings.ts';
import type { MonitoringSettings } from './options.ts';

/** https://prometheus-operator.dev/docs/api-reference/api/#monitoring.coreos.com/v1.ServiceMonitor, as far as it is used here. */
interface ServiceMonitor {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly endpoints: readonly {
      readonly port: string;
      readonly path: string;
      readonly scheme: string;
      readonly honorLabels: boolean;
      readonly bearerTokenFile?: string;
      readonly tlsConfig?: { readonly insecureSkipVerify: boolean };
    }[];
  };
}

/** How the Prometheus operator finds the metrics. */
export function serviceMonitor(scope: Construct, settings: Settings, { selectedBy }: MonitoringSettings): void {
  const scheme = metricsScheme(settings);
  emit<ServiceMonitor>(scope, 'service-monitor', {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'ServiceMonitor',
    metadata: { name: metricsName, namespace: settings.namespace, labels: { ...selectedBy, ...controllerLabels } },
    spec: {
      selector: { matchLabels: controllerSelector },
      endpoints: [
        {
          port: scheme,
          path: '/metrics',
          scheme,
          // Namespace and pod of a series are those of a database. Otherwise they would be called exported_namespace, beside those of the controller.
          honorLabels: true,
          // Prometheus is who its ServiceAccount is, and the certificate is made by each pod for itself.
          ...(scheme === 'http'
            ? {}
            : {
                bearerTokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token',
                tlsConfig: { insecureSkipVerify: true },
              }),
        },
      ],
    },
  });
}
