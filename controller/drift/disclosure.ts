import type { FieldPath } from './field-path.ts';
import { isFields } from './value.ts';

const longest = 256;

/** Steps below which a value may hold a secret: environment values, arguments, commands, data of Secrets and ConfigMaps. */
const hidden: ReadonlySet<string> = new Set([
  'f:env',
  'f:envFrom',
  'f:args',
  'f:command',
  'f:data',
  'f:stringData',
  'f:binaryData',
]);

/** How a value at the path may be shown: in full, or only as `(hidden)`. Annotations show their key alone. */
export function disclosed(kind: string, path: FieldPath): (value: unknown) => string | undefined {
  const isHidden =
    path.some((step) => hidden.has(step)) ||
    kind === 'Secret' ||
    path[1] === 'f:annotations' ||
    path.includes('f:annotations');
  return (value) => {
    if (value === undefined) return undefined;
    if (isHidden || holdsHidden(value)) return '(hidden)';
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return text.length > longest ? `${text.slice(0, longest)}…` : text;
  };
}

/** Whether something below must not be shown: a whole container that was removed carries its environment. */
function holdsHidden(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsHidden);
  if (!isFields(value)) return false;
  return Object.entries(value).some(([name, below]) => hidden.has(`f:${name}`) || holdsHidden(below));
}
