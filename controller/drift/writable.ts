import type { KubeObject } from '../kube/index.ts';
import type { Fields } from './value.ts';

/** The part of an object that can be written, and so owned: of the metadata, what is not its identity; never the status. */
export function writable({ apiVersion: _, kind: __, metadata, status: ___, ...rest }: KubeObject): Fields & {
  readonly metadata: Fields;
} {
  const { labels, annotations, ownerReferences, finalizers } = metadata;
  return { metadata: { labels, annotations, ownerReferences, finalizers }, ...rest };
}
