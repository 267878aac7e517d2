import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { restartedAtAnnotation } from '../../constructs/labels.ts';
import type { Drift } from '../drift/index.ts';
import { isManaged } from './is-managed.ts';

/** What `kubectl rollout restart` adds. Source: https://kubernetes.io/docs/reference/labels-annotations-taints/#kubectl-k8s-io-restart-at */
const restartOfKubectl = 'spec.template.metadata.annotations[kubectl.kubernetes.io/restartedAt]';

/** How to get what somebody meant by `kubectl rollout restart`, in a sentence; undefined where Kubernetes does it, and where nobody asked. */
export function restartRemedy(
  { metadata, spec }: StoredDatabaseService,
  added: readonly Pick<Drift, 'object' | 'field'>[],
): string | undefined {
  const { name, namespace } = metadata;
  const isAsked = added.some(({ object, field }) => object === `StatefulSet/${name}` && field === restartOfKubectl);
  if (!isAsked || !isManaged({ spec })) return undefined;
  return `No member restarts for that; to have them made again, replicas first: kubectl -n ${namespace} annotate dbs ${name} ${restartedAtAnnotation}=$(date +%s) --overwrite`;
}
