import type { Construct } from 'constructs';
import { controllerSelector } from '../labels.ts';
import { metricsName, metricsScheme } from '../metrics.ts';
import type { Settings } from '../settings.ts';
import { operatorObject } from './operator-object.ts';
import type { MonitoringSettings } from './options.ts';

/** https://prometheus-operator.dev/docs/api-reference/api/#monitoring.coreos.com/v1.ServiceMonitorSpec, as far as it is used here. */
interface ServiceMonitorSpec {
  readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly endpoints: readonly {
    readonly port: string;
    readonly path: string;
    readonly scheme: string;
    readonly honorLabels: boolean;
    readonly bearerTokenFile?: string;
    readonly tlsConfig?: { readonly insecureSkipVerify: boolean };
  }[];
}

/** How the Prometheus operator finds the metrics. */
export function serviceMonitor(scope: Construct, settings: Settings, own: MonitoringSettings): void {
  const scheme = metricsScheme(settings);
  const spec: ServiceMonitorSpec = {
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
  };
  operatorObject(scope, 'service-monitor', { kind: 'ServiceMonitor', name: metricsName, spec }, settings, own);
}
