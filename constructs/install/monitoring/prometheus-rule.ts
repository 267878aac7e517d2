import type { Construct } from 'constructs';
import { controllerName, type Settings } from '../settings.ts';
import type { Alert } from './alerts/alert.ts';
import { controllerAlerts } from './alerts/controller-alerts.ts';
import { databaseAlerts } from './alerts/database-alerts.ts';
import { memberAlerts } from './alerts/member-alerts.ts';
import { alertRule, type AlertRule } from './alerts/rules.ts';
import { operatorObject } from './operator-object.ts';
import type { MonitoringSettings } from './options.ts';

/** https://prometheus-operator.dev/docs/api-reference/api/#monitoring.coreos.com/v1.PrometheusRuleSpec: a file of rules of Prometheus. */
interface PrometheusRuleSpec {
  readonly groups: readonly { readonly name: string; readonly rules: readonly AlertRule[] }[];
}

/** The alerts. */
export function prometheusRule(scope: Construct, settings: Settings, own: MonitoringSettings): void {
  const rules = (alerts: readonly Alert[]): readonly AlertRule[] =>
    alerts.map((alert) => alertRule(alert, own.runbooks));
  const spec: PrometheusRuleSpec = {
    groups: [
      { name: 'plumbline-controller', rules: rules(controllerAlerts(settings.namespace)) },
      { name: 'plumbline-databases', rules: rules(databaseAlerts) },
      { name: 'plumbline-members', rules: rules(memberAlerts) },
    ],
  };
  operatorObject(scope, 'rules', { kind: 'PrometheusRule', name: controllerName, spec }, settings, own);
}
