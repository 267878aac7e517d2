/**
 * A Kubernetes quantity as a whole number of nanos (10⁻⁹), which is as fine as Kubernetes keeps one: exact, so that `0.1` and `100m` are equal.
 * Source: k8s.io/apimachinery/pkg/api/resource/quantity.go, `ParseQuantity`
 */
export class Quantity {
  readonly nano: bigint;
  constructor(nano: bigint) {
    this.nano = nano;
  }

  /** Reads a quantity such as `1.5Gi`, `250m`, `1e3`; undefined when it is none. */
  static parse(text: string): Quantity | undefined {
    const match = /^([+-]?)(\d*)(?:\.(\d*))?((?:[KMGTPE]i)|[numkMGTPE]|[eE][+-]?\d{1,3})?$/.exec(text);
    const [, sign, whole = '', fraction = '', suffix = ''] = match ?? [];
    if (!match || whole + fraction === '') return undefined;
    const [factor, divisor] = scale(suffix);
    const nano = dividedUp(BigInt(whole + fraction) * factor * nanos, divisor * 10n ** BigInt(fraction.length));
    const capped = suffix.endsWith('i') && nano > most ? most : nano;
    return new Quantity(sign === '-' ? -capped : capped);
  }

  compareTo(other: Quantity): number {
    return this.nano < other.nano ? -1 : this.nano > other.nano ? 1 : 0;
  }
}

const nanos = 1_000_000_000n;

/** Kubernetes caps binary quantities at the greatest int64. */
const most = (2n ** 63n - 1n) * nanos;

const decimal: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };

function scale(suffix: string): readonly [factor: bigint, divisor: bigint] {
  if (suffix.endsWith('i')) return [1024n ** BigInt('KMGTPE'.indexOf(suffix.charAt(0)) + 1), 1n];
  const power = decimal[suffix] ?? Number(suffix.slice(1));
  return power < 0 ? [1n, 10n ** BigInt(-power)] : [10n ** BigInt(power), 1n];
}

/** Kubernetes rounds up what is finer than a nano. */
function dividedUp(amount: bigint, divisor: bigint): bigint {
  return amount / divisor + (amount % divisor === 0n ? 0n : 1n);
}
