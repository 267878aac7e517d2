/** One family of series that is read from memory when somebody asks, and kept nowhere else. */
export interface Family {
  readonly name: string;
  readonly help: string;
  /** Defaults to a gauge. */
  readonly type?: 'counter' | 'gauge';
  readonly labels: readonly string[];
}

/** A value with those of its labels, in the order of its family's. */
export type Sample = readonly [value: number, ...labels: readonly string[]];

/** Writes samples as Prometheus reads them (text format 0.0.4). */
export function headOf({ name, help, type = 'gauge' }: Family): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

export function lineOf({ name, labels }: Family, [value, ...values]: Sample): string {
  const pairs = labels.map((label, index) => `${label}="${escaped(values[index] ?? '')}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`;
}

function escaped(text: string): string {
  return /[\\"\n]/.test(text) ? text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n') : text;
}
