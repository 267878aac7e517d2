/** What the controller counts and measures, for Prometheus. */
export { Metrics, type Described, type MetricsOptions, type MetricsSource } from './metrics.ts';
export type { RequestReason } from './requests.ts';
