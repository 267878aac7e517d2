import type { Construct } from 'constructs';
import { emit } from '../../emit.ts';
import { controllerLabels } from '../labels.ts';
import { controllerName, type Settings } from '../settings.ts';
import type { Alert } from './alerts/alert.ts';
import { controllerAlerts } from './alerts/controller-alerts.ts';
import { databaseAlerts } from './alerts/database-alerts.ts';
import { memberAlerts } from './alerts/member-alerts.ts';
import { alertRule, type AlertRule } from './alerts/rules.ts';
import type { MonitoringSettings } from './options.ts';

/** https://prometheus-operator.dev/docs/api-reference/api/#monitoring.coreos.com/v1.PrometheusRule; the spec is a file of rules of Prometheus. */
interface PrometheusRule {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly spec: { readonly groups: readonly { readonly name: string; readonly rules: readonly AlertRule[] }[] };
}

/** The alerts. */
export function prometheusRule(scope: Construct, { namespace }: Settings, settings: MonitoringSettings): void {
  const { selectedBy, runbooks } = settings;
  const rules = (alerts: readonly Alert[]): readonly AlertRule[] => alerts.map((alert) => alertRule(alert, runbooks));
  emit<PrometheusRule>(scope, 'rules', {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: controllerName, namespace, labels: { ...selectedBy, ...controllerLabels } },
    spec: {
      groups: [
        { name: 'plumbline-controller', rules: rules(controllerAlerts(namespace)) },
        { name: 'plumbline-databases', rules: rules(databaseAlerts) },
        { name: 'plumbline-members', rules: rules(memberAlerts) },
      ],
    },
  });
}
