import { Quantity } from '../../constructs/api/quantity.ts';

export type Fields = Readonly<Record<string, unknown>>;
export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const quantities: ReadonlySet<string> = new Set(['requests', 'limits', 'capacity', 'sizeLimit', 'divisor', 'hard']);

/** Fields of which the API server stores no false and no 0. In others they are values, whose absence may mean the opposite (`enableServiceLinks`). */
const leftOut: ReadonlySet<string> = new Set([
  'readOnly',
  'minReadySeconds',
  'publishNotReadyAddresses',
  'hostNetwork',
]);

/** Whether the API server leaves the value of this field out of an object when it stores it. */
export function isLeftOut(value: unknown, path: readonly string[]): boolean {
  const isValue = value === false || value === 0;
  return isZero(value) && (!isValue || leftOut.has(path.at(-1) ?? ''));
}

/** What the API server may leave out of an object when it stores it. */
export function isZero(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isFields(value)) return Object.keys(value).length === 0;
  return value === false || value === 0 || value === '';
}

/**
 * Whether the live value says what we state. The server may spell a quantity otherwise (`1000m` is `1`); a list must have as many items.
 *
 * @param additions what else may stand in what has one owner as a whole: `any` where it is ours, so that the server alone can have added it;
 *   `defaults` where somebody else has written it, who may have added anything
 */
export function says(
  live: unknown,
  stated: unknown,
  path: readonly string[] = [],
  additions: 'any' | 'defaults' = 'any',
): boolean {
  if (isFields(stated)) {
    if (!isFields(live)) return live === undefined && isZero(stated);
    const isComplete = Object.entries(stated).every(([name, value]) =>
      says(live[name], value, [...path, name], additions),
    );
    return isComplete && (additions === 'any' || Object.entries(live).every((entry) => isKnown(entry, stated)));
  }
  if (Array.isArray(stated)) {
    if (!Array.isArray(live)) return live === undefined && isZero(stated);
    return live.length === stated.length && stated.every((value, index) => says(live[index], value, path, additions));
  }
  if (live === undefined) return isZero(stated);
  return live === stated || sameQuantity(live, stated, path);
}

/** What the server fills in where a stated value has one owner as a whole. Seen on 1.36 by wiping managedFields of what we render. */
const serverDefaults: Readonly<Record<string, (value: unknown) => boolean>> = {
  protocol: (value) => value === 'TCP',
  volumeMode: (value) => value === 'Filesystem',
  apiVersion: (value) => value === 'v1',
  divisor: (value) => value === '0',
  status: () => true,
};

function isKnown([name, value]: readonly [string, unknown], stated: Fields): boolean {
  return Object.hasOwn(stated, name) || isZero(value) || serverDefaults[name]?.(value) === true;
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
