import { Construct } from 'constructs';
import { emit } from '../emit.ts';
import { controllerLabels, controllerSelector } from './labels.ts';
import { metricsName, metricsScheme } from './metrics.ts';
import type { InstallationProps } from './options.ts';
import { settingsOf } from './settings.ts';

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
      readonly bearerTokenFile?: string;
      readonly tlsConfig?: { readonly insecureSkipVerify: boolean };
    }[];
  };
}

/**
 * How the Prometheus operator finds an {@link Installation}; its kinds have to be in the cluster, so it is no part of that. Takes the same options.
 */
export class Monitoring extends Construct {
  constructor(scope: Construct, id: string, props: InstallationProps = {}) {
    super(scope, id);
    const settings = settingsOf(props);
    const scheme = metricsScheme(settings);
    emit<ServiceMonitor>(this, 'service-monitor', {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'ServiceMonitor',
      metadata: { name: metricsName, namespace: settings.namespace, labels: controllerLabels },
      spec: {
        selector: { matchLabels: controllerSelector },
        endpoints: [
          {
            port: scheme,
            path: '/metrics',
            scheme,
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
}
