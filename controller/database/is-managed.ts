import type { StoredDatabaseService } from '../../constructs/api/resource.ts';

/** Whether we renew the members; otherwise Kubernetes does as soon as it has the template. One that is past the schema may be without a spec. */
export function isManaged({ spec }: Pick<StoredDatabaseService, 'spec'>): boolean {
  return (spec?.upgrade?.rollout ?? 'Managed') === 'Managed';
}
