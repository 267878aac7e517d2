import { Gauge, type Registry } from 'prom-client';

export interface ReadGauge<L extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels: Readonly<Record<L, string>>;
  /** Asked at each scrape. */
  readonly read: () => number;
}

/** A gauge with one series, whose value is read when somebody asks. */
export function readGauge<L extends string>(registry: Registry, { name, help, labels, read }: ReadGauge<L>): void {
  const gauge: Gauge<L> = new Gauge<L>({
    name,
    help,
    labelNames: Object.keys(labels) as L[],
    registers: [registry],
    collect: () => gauge.set(labels, read()),
  });
}
