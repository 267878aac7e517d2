import { join } from 'node:path';
import { unpackedPackage, whyNoPackages } from './debian-package.ts';

/** Paths of the programs of Debian's package `prometheus`. */
export interface PrometheusPrograms {
  readonly prometheus: string;
  readonly promtool: string;
}

/** Why they cannot be had on this machine, as one sentence. Undefined when they can. */
export function whyNoPrometheus(): string | undefined {
  const reason = whyNoPackages();
  return reason === undefined ? undefined : `Prometheus is taken from a Debian package, and ${reason}`;
}

/** Downloads the package, the first time, and unpacks it into the cache. */
export async function prometheusPrograms(onProgress?: (line: string) => void): Promise<PrometheusPrograms> {
  const folder = await unpackedPackage('prometheus', onProgress);
  return { prometheus: join(folder, 'usr/bin/prometheus'), promtool: join(folder, 'usr/bin/promtool') };
}
