import type { Alert } from './alert.ts';

/** A rule of Prometheus. https://prometheus.io/docs/prometheus/latest/configuration/alerting_rules/ */
export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: Alert['severity'] };
  readonly annotations: { readonly summary: string; readonly description: string; readonly runbook_url: string };
}

/** @param runbooks URL of the page with a section for each alert */
export function alertRule({ name, severity, expr, for: lasting, ...words }: Alert, runbooks: string): AlertRule {
  return {
    alert: name,
    expr,
    ...(lasting === undefined ? {} : { for: lasting }),
    labels: { severity },
    annotations: { ...words, runbook_url: `${runbooks}#${name.toLowerCase()}` },
  };
}
