/**
 * A Kubernetes quantity as a whole number of thousandths of a millionth: exact, so that `0.1` and `100m` are equal.
 * Source: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
 */
export class Quantity {
  readonly nano: bigint;
  constructor(nano: bigint) {
    this.nano = nano;
  }

  /** Reads a quantity such as `1.5Gi`, `250m`, `1e3`; undefined when it is none. */
  static parse(text: string): Quantity | undefined {
    const match = /^([+-]?)(\d*)(?:\.(\d*))?((?:[KMGTPE]i)|[numkMGTPE]|[eE][+-]?\d+)?$/.exec(text);
    const [, sign, whole = '', fraction = '', suffix = ''] = match ?? [];
    if (!match || whole + fraction === '') return undefined;
    const digits = BigInt(whole + fraction);
    const [factor, divisor] = scale(suffix);
    const scaled = digits * factor * nanos;
    const unit = divisor * 10n ** BigInt(fraction.length);
    // Kubernetes rounds up what is finer than a nano.
    const nano = scaled / unit + (scaled % unit === 0n ? 0n : 1n);
    return new Quantity(sign === '-' ? -nano : nano);
  }

  compareTo(other: Quantity): number {
    return this.nano < other.nano ? -1 : this.nano > other.nano ? 1 : 0;
  }

  isInteger(): boolean {
    return this.nano % nanos === 0n;
  }
}

const nanos = 1_000_000_000n;
const decimal: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };

function scale(suffix: string): readonly [factor: bigint, divisor: bigint] {
  if (suffix.endsWith('i')) return [1024n ** BigInt('KMGTPE'.indexOf(suffix.charAt(0)) + 1), 1n];
  const power = decimal[suffix] ?? Number(suffix.slice(1));
  const bounded = Math.max(-40, Math.min(40, power));
  return bounded < 0 ? [1n, 10n ** BigInt(-bounded)] : [10n ** BigInt(bounded), 1n];
}
