import assert from 'node:assert/strict';
import { monitoringFiles } from '../../../../constructs/install/files.ts';
import type { AlertRule } from '../../../../constructs/install/monitoring/alerts/rules.ts';
import type { MonitoringProps } from '../../../../constructs/install/monitoring/options.ts';
import type { Manifest } from '../../../../constructs/manifest.ts';

/** The spec of a PrometheusRule, which is a file of rules of Prometheus. */
export interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly AlertRule[] }[];
}

/** The dashboard, as far as tests look at it. */
export interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly type: string;
    readonly title: string;
    readonly description?: string;
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
    readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: unknown }[] };
}

/** The one object of a kind in what is rendered for monitoring. */
export function rendered(kind: string, props?: MonitoringProps): Manifest {
  const found = monitoringFiles(props).find(([, manifest]) => manifest.kind === kind);
  assert(found, kind);
  return found[1];
}

export function ruleFile(props?: MonitoringProps): RuleFile {
  return rendered('PrometheusRule', props)['spec'] as RuleFile;
}

export function rules(props?: MonitoringProps): readonly AlertRule[] {
  return ruleFile(props).groups.flatMap((group) => group.rules);
}

export function dashboard(): Dashboard {
  const data = rendered('ConfigMap')['data'] as Readonly<Record<string, string>>;
  return JSON.parse(data['plumbline.json'] ?? '') as Dashboard;
}

/** Every expression of the dashboard with something chosen for its variables. */
export function dashboardExpressions(): readonly string[] {
  const chosen: Readonly<Record<string, string>> = { controller: '.+', namespace: '.+', __rate_interval: '1m' };
  return dashboard()
    .panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
    .map((expr) => expr.replaceAll(/\$(\w+)/g, (_, name: string) => chosen[name] ?? assert.fail(`$${name} is chosen`)));
}
