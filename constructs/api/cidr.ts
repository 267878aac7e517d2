import { isIP } from 'node:net';

/** A range of IP addresses, as Kubernetes' CEL has it (`cidr()`, `isCIDR()`), which is Go's `netip.ParsePrefix`. */
export class Cidr {
  readonly family: 4 | 6;
  readonly length: number;
  private readonly bits: string;

  private constructor(family: 4 | 6, bits: string, length: number) {
    this.family = family;
    this.bits = bits;
    this.length = length;
  }

  /** Undefined for what is no range: no zone, no leading zeros in the length, no IPv4 inside IPv6. */
  static parse(text: string): Cidr | undefined {
    const [, address = '', length = ''] = /^([^/%]+)\/(0|[1-9][0-9]{0,2})$/.exec(text) ?? [];
    const family = isIP(address);
    if (family === 0 || Number(length) > (family === 4 ? 32 : 128)) return undefined;
    const bits = family === 4 ? bitsOf(address.split('.'), 10, 8) : bitsOf(groups(address), 16, 16);
    if (family === 6 && bits.startsWith(mappedPrefix)) return undefined;
    return new Cidr(family === 4 ? 4 : 6, bits, Number(length));
  }

  contains(other: Cidr): boolean {
    return (
      this.family === other.family &&
      this.length <= other.length &&
      this.bits.slice(0, this.length) === other.bits.slice(0, this.length)
    );
  }
}

const mappedPrefix = '0'.repeat(80) + '1'.repeat(16);

function bitsOf(parts: readonly string[], base: number, width: number): string {
  return parts.map((part) => Number.parseInt(part, base).toString(2).padStart(width, '0')).join('');
}

/** The eight groups of an IPv6 address. */
function groups(address: string): readonly string[] {
  const plain = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a: string, b: string, c: string, d: string) =>
    [256 * Number(a) + Number(b), 256 * Number(c) + Number(d)].map((group) => group.toString(16)).join(':'),
  );
  const [head = '', tail] = plain.split('::');
  const [before, after] = [head, tail ?? ''].map((side) => side.split(':').filter(Boolean)) as [string[], string[]];
  return tail === undefined
    ? before
    : [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
}
