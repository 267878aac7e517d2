import { Quantity } from '../../constructs/api/quantity.ts';

type Fields = Readonly<Record<string, unknown>>;
export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const quantities: ReadonlySet<string> = new Set(['requests', 'limits', 'capacity', 'sizeLimit', 'divisor', 'hard']);

/** What the API server leaves out of an object when it stores it. */
export function isZero(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isFields(value)) return Object.keys(value).length === 0;
  return value === false || value === 0 || value === '';
}

/**
 * Whether the live value says what we state. The server may spell a quantity otherwise (`1000m` is `1`), and fill in defaults inside of what
 * has one owner as a whole, so there ours must be contained; a list must have as many items.
 */
export function says(live: unknown, stated: unknown, path: readonly string[] = []): boolean {
  if (isFields(stated)) {
    if (!isFields(live)) return live === undefined && isZero(stated);
    return Object.entries(stated).every(([name, value]) => says(live[name], value, [...path, name]));
  }
  if (Array.isArray(stated)) {
    if (!Array.isArray(live)) return live === undefined && isZero(stated);
    return live.length === stated.length && stated.every((value, index) => says(live[index], value, path));
  }
  if (live === undefined) return isZero(stated);
  return live === stated || sameQuantity(live, stated, path);
}

function sameQuantity(live: unknown, stated: unknown, path: readonly string[]): boolean {
  if (!path.some((name) => quantities.has(name)) || !isScalar(live) || !isScalar(stated)) return false;
  const a = Quantity.parse(String(live));
  const b = Quantity.parse(String(stated));
  return a !== undefined && b !== undefined && a.compareTo(b) === 0;
}

function isScalar(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}
