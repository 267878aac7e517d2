import type { FieldPath } from './field-path.ts';
import { isFields } from './value.ts';

const longest = 256;

/** Stands for a value that is never shown. */
export const hiddenValue = '(hidden)';

/** Fields below which a value may hold a secret. What names them (keys of data, names of variables and annotations) is shown. */
const hidden: ReadonlySet<string> = new Set([
  'env',
  'envFrom',
  'args',
  'command',
  'httpHeaders',
  'data',
  'binaryData',
  'annotations',
  'volumeAttributes',
  'options',
]);

/** How a value at the path may be shown: in full, or only as `(hidden)`. */
export function disclosed(kind: string, path: FieldPath): (value: unknown) => string | undefined {
  const isHidden = kind === 'Secret' || path.some((step) => step.startsWith('f:') && hidden.has(step.slice(2)));
  return (value) => {
    if (value === undefined) return undefined;
    if (isHidden || holdsHidden(value)) return hiddenValue;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return text.length > longest ? `${text.slice(0, longest)}…` : text;
  };
}

/** Whether something below must not be shown: a whole container that was removed carries its environment. */
function holdsHidden(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsHidden);
  if (!isFields(value)) return false;
  return Object.entries(value).some(([name, below]) => hidden.has(name) || holdsHidden(below));
}
