import type { InstallationProps } from '../options.ts';

type Labels = Readonly<Record<string, string>>;

/** How an installation is monitored: its own options, and these. */
export interface MonitoringProps extends InstallationProps {
  /** More labels of the ServiceMonitor, the PodMonitor and the PrometheusRule, by which your Prometheus selects them, such as `release: prometheus`. Defaults to none. */
  readonly selectedBy?: Labels;
  /** Labels by which your Grafana finds the ConfigMap of the dashboard. Defaults to `grafana_dashboard: "1"`, as Grafana's own chart has it. */
  readonly dashboardLabels?: Labels;
  /**
   * URL of the page that says what to do about each alert, docs/alerts.md. Defaults to `https://plumbline.dev/docs/alerts.md`, which is not
   * published yet: name where yours can be read.
   */
  readonly runbooks?: string;
}

/** The options, with the defaults in the place of what was left out. */
export type MonitoringSettings = MonitoringProps &
  Required<Pick<MonitoringProps, 'selectedBy' | 'dashboardLabels' | 'runbooks'>>;

/** @throws RangeError for a page of runbooks that alerts could not lead to */
export function monitoringSettingsOf(props: MonitoringProps): MonitoringSettings {
  const { runbooks = 'https://plumbline.dev/docs/alerts.md' } = props;
  if (!URL.canParse(runbooks) || runbooks.includes('#'))
    throw new RangeError(`runbooks is ${runbooks}: a URL without #`);
  return { selectedBy: {}, dashboardLabels: { grafana_dashboard: '1' }, ...props, runbooks };
}
