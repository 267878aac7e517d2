/** What a panel of Grafana needs to be told; the rest is Grafana's own default. */
export interface Panel {
  readonly title: string;
  /** What it is good for, in a sentence or two. */
  readonly description: string;
  /** `table` shows the labels of what is there now, and no time. */
  readonly type: 'timeseries' | 'stat' | 'table';
  /** Of Grafana, such as `s` or `bytes`. Defaults to `short`. */
  readonly unit?: string;
  /** Of 24 columns. Defaults to 8. */
  readonly width?: number;
  readonly queries: readonly Query[];
}

export interface Query {
  /** PromQL, in which `$controller`, `$namespace` and `$__rate_interval` stand for what is chosen above. */
  readonly expr: string;
  /** What a series is called, such as `{{ phase }}`. */
  readonly legend: string;
}

/** Panels under a title. */
export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}
