import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../../controller/kube/index.ts';

/** Whether two states of an object are the same, but for what the server keeps about it. */
export function isSame(a: KubeObject, b: KubeObject): boolean {
  return isDeepStrictEqual(content(a), content(b));
}

/** What differs, as `/place: before became after`. */
export function difference(before: KubeObject, after: KubeObject): string {
  return between(content(before), content(after), '');
}

/** Of an object what somebody wrote: no status, and none of what the server counts. */
export function content({ metadata, status: _, ...rest }: KubeObject): object {
  const { managedFields: __, resourceVersion: ___, generation: ____, ...kept } = metadata;
  return { ...rest, metadata: kept };
}

function between(a: unknown, b: unknown, path: string): string {
  if (!isNode(a) || !isNode(b)) return `${path}: ${JSON.stringify(a)} became ${JSON.stringify(b)}`;
  return [...new Set([...Object.keys(a), ...Object.keys(b)])]
    .filter((name) => !isDeepStrictEqual(Reflect.get(a, name), Reflect.get(b, name)))
    .map((name) => between(Reflect.get(a, name), Reflect.get(b, name), `${path}/${name}`))
    .join('; ');
}

function isNode(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
