import type { StoredSpec } from '../api/spec.ts';
import { bytesOf } from './memory.ts';
import { Quantity } from '../api/quantity.ts';

/** Resources of the postgres container. Memory is always bounded, so that a LimitRange has nothing to fill in (mariadb-operator#1399). */
export interface SettledResources {
  readonly requests: { readonly cpu: string; readonly memory: string };
  readonly limits: { readonly cpu?: string; readonly memory: string };
}

/**
 * Fills in what the spec leaves out: the memory limit is the request, the request is the limit, and both are 512Mi; 250m of CPU are requested,
 * or what the limit allows, and no limit on CPU is set.
 */
export function settleResources(resources: StoredSpec['resources']): SettledResources {
  const { requests, limits } = resources ?? {};
  const memory = String(requests?.memory ?? limits?.memory ?? '512Mi');
  const cpuLimit = limits?.cpu === undefined ? undefined : String(limits.cpu);
  return {
    requests: { cpu: requests?.cpu === undefined ? smaller('250m', cpuLimit) : String(requests.cpu), memory },
    limits: { ...(cpuLimit === undefined ? {} : { cpu: cpuLimit }), memory: String(limits?.memory ?? memory) },
  };
}

/** Bytes that the postgres container may use. */
export function memoryLimit(resources: SettledResources): number {
  return bytesOf(resources.limits.memory);
}

function smaller(wanted: string, limit: string | undefined): string {
  if (limit === undefined) return wanted;
  const [a, b] = [Quantity.parse(wanted), Quantity.parse(limit)];
  return a !== undefined && b !== undefined && a.compareTo(b) > 0 ? limit : wanted;
}
