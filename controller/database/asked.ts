import type { StoredSpec } from '../../constructs/api/spec.ts';
import { settleResources } from '../../constructs/postgresql/resources.ts';
import type { Asked } from '../health/trouble.ts';

/** What a spec asks of the cluster; of one that is past the schema, as far as it can be read. */
export function askedOf(spec: StoredSpec | undefined): Asked {
  const { requests } = settleResources(spec?.resources);
  return { ...requests, storage: String(spec?.storage?.size ?? '') };
}
