import type { ResourceType } from './resource.ts';

/**
 * The path of a request with `{namespace}` and `{name}` in the place of those: `/api/v1/namespaces/{namespace}/pods/{name}`. It is the same for all
 * objects of a kind, so it can name a span.
 *
 * @param type absent for a path that is no resource's, which is its own template
 * @param path as it is asked for, query and all
 */
export function urlTemplate(type: ResourceType | undefined, path: string): string {
  const [whole = ''] = path.split('?');
  if (type === undefined) return whole;
  const segments = whole.split('/');
  // After `/api/v1` or `/apis/group/version`.
  const root = type.apiVersion.includes('/') ? 4 : 3;
  const isInNamespace = type.namespaced && segments[root] === 'namespaces';
  const plural = isInNamespace ? root + 2 : root;
  if (isInNamespace) segments[root + 1] = '{namespace}';
  if (segments.length > plural + 1) segments[plural + 1] = '{name}';
  return segments.join('/');
}
