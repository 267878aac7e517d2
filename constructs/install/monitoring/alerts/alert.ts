/** One alert, as people write it; {@link alertRule} makes a rule of Prometheus of it. */
export interface Alert {
  /** `Plumbline…`; the section of docs/alerts.md that says what to do has the same name. */
  readonly name: string;
  /** critical: a database is not there, or soon will not be, or nobody looks after any; somebody has to get up. warning: it can wait until morning. */
  readonly severity: 'critical' | 'warning';
  /** PromQL. Series that several controllers tell of one thing are put together, so that there is one alert. */
  readonly expr: string;
  /** How long it has to hold, such as `5m`. Defaults to no time: what is seen once is true. */
  readonly for?: string;
  /** What is wrong with what, in a few words; a template of Prometheus. */
  readonly summary: string;
  /** What that means, in sentences; a template of Prometheus. */
  readonly description: string;
}
