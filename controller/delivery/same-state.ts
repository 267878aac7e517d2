import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../kube/index.ts';

/**
 * Whether the answer to a dry run is the object as it is: then an apply would change nothing. A dry run answers with the version of the live
 * object and the generation that there would be; of managedFields it makes new times only where something changes.
 */
export function isSameState(answer: KubeObject, live: KubeObject): boolean {
  return isDeepStrictEqual(withoutBookkeeping(answer), withoutBookkeeping(live));
}

function withoutBookkeeping({ metadata, ...rest }: KubeObject): object {
  const { managedFields: _, resourceVersion: __, ...kept } = metadata;
  return { ...rest, metadata: kept };
}
