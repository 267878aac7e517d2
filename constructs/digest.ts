import { hash } from 'node:crypto';

/** 64 bits over a value, the same for values that say the same: the order of keys and keys without a value don't count. */
export function digestOf(value: unknown): string {
  return hash('sha256', JSON.stringify(sorted(value)) ?? '', 'hex').slice(0, 16);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, inner]) => [key, sorted(inner)]);
}
