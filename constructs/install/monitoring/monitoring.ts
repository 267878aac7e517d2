import { Construct } from 'constructs';
import { settingsOf } from '../settings.ts';
import { dashboard } from './dashboard/dashboard.ts';
import { monitoringSettingsOf, type MonitoringProps } from './options.ts';
import { podMonitor } from './pod-monitor.ts';
import { prometheusRule } from './prometheus-rule.ts';
import { serviceMonitor } from './service-monitor.ts';

/**
 * How an {@link Installation} is watched: where the Prometheus operator finds its metrics and those of the databases, the alerts, and a dashboard for Grafana. The kinds of that
 * operator have to be in the cluster, so it is no part of the installation. Takes the same options, and more.
 */
export class Monitoring extends Construct {
  /** @throws RangeError for options that no controller could start with, or a page of runbooks that is no URL */
  constructor(scope: Construct, id: string, props: MonitoringProps = {}) {
    super(scope, id);
    const [installed, own] = [settingsOf(props), monitoringSettingsOf(props)];
    serviceMonitor(this, installed, own);
    podMonitor(this, installed, own);
    prometheusRule(this, installed, own);
    dashboard(this, installed, own);
  }
}
