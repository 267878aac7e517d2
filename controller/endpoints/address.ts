import { isIPv6 } from 'node:net';

/** Where a server listens. */
export interface Address {
  /** Undefined: on all addresses of the machine. */
  readonly host: string | undefined;
  /** 0 has the system choose one. */
  readonly port: number;
}

const longestPort = 65_535;

/** Reads `host:port`, `:port` or `[IPv6]:port`. @returns undefined where it is none of these */
export function parseAddress(text: string): Address | undefined {
  const [, bracketed, plain = '', digits = ''] = /^(?:\[([^\]]+)\]|([^:[\]\s]*)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === '' || port > longestPort) return undefined;
  if (bracketed !== undefined) return isIPv6(bracketed) ? { host: bracketed, port } : undefined;
  return { host: plain === '' ? undefined : plain, port };
}

/** As it is written in a URL or a flag. */
export function addressInWords({ host = '', port }: Address): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
