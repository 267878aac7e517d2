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

/** The free texts of probes, hooks and volumes, by what they stand in: a path may carry a password, as a header may. */
const hiddenIn: Readonly<Record<string, ReadonlySet<string>>> = {
  httpGet: new Set(['path', 'host']),
  tcpSocket: new Set(['host']),
  grpc: new Set(['service']),
  gitRepo: new Set(['repository']),
};

/** An address that names a user, wherever it stands: his password, or a token in the place of his name, is in it. */
const addressOfUser = /\/\/[^/\s]*@/;

/** How a value at the path may be shown: in full, or only as `(hidden)`. */
export function disclosed(kind: string, path: FieldPath): (value: unknown) => string | undefined {
  const names = path.map((step) => (step.startsWith('f:') ? step.slice(2) : ''));
  const isHidden = kind === 'Secret' || names.some((name, index) => isHiddenName(name, names[index - 1]));
  return (value) => {
    if (value === undefined) return undefined;
    if (isHidden || holdsHidden(value, names.at(-1))) return hiddenValue;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return text.length > longest ? `${text.slice(0, longest)}…` : text;
  };
}

function isHiddenName(name: string, above = ''): boolean {
  return hidden.has(name) || hiddenIn[above]?.has(name) === true;
}

/** Whether something in a value must not be shown: a whole container that was removed carries its environment. */
function holdsHidden(value: unknown, above: string | undefined): boolean {
  if (typeof value === 'string') return addressOfUser.test(value);
  if (Array.isArray(value)) return value.some((item) => holdsHidden(item, undefined));
  if (!isFields(value)) return false;
  return Object.entries(value).some(([name, below]) => isHiddenName(name, above) || holdsHidden(below, name));
}
