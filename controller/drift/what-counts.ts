import type { ManagedFieldsEntry } from '../kube/index.ts';
import { field, type FieldPath } from './field-path.ts';
import type { FieldTree } from './owned-fields.ts';

const metadata = field('metadata');

/** Pods and Jobs are made by Kubernetes, and Secrets are created and not applied. */
const notCompared: ReadonlySet<string> = new Set(['Pod', 'Job', 'Secret']);

/** What is everybody's, at the root of an object of a kind: Patroni keeps its own in ConfigMaps, and Kubernetes fills in claims. */
const everybodys: Readonly<Record<string, ReadonlySet<string>>> = {
  ConfigMap: new Set(['data', 'binaryData'].map(field)),
  PersistentVolumeClaim: new Set([field('spec')]),
};

/** What counts of the metadata: what keeps an object from going, or has it go. The annotations of a ServiceAccount give rights in clouds. */
const ofMetadata: ReadonlySet<string> = new Set(['finalizers', 'ownerReferences'].map(field));
const ofServiceAccounts: ReadonlySet<string> = new Set([...ofMetadata, field('annotations')]);

/**
 * The names of pull secrets and tokens, and who gives them to a ServiceAccount for Kubernetes or a distribution of it. Anybody can give himself such a
 * name, so nothing else is left to it.
 */
const ofHelpers: ReadonlySet<string> = new Set(['secrets', 'imagePullSecrets'].map(field));
const helpers: ReadonlySet<string> = new Set(['kube-controller-manager', 'openshift-controller-manager']);

/**
 * The part of what somebody wrote in which an addition is one; undefined where there is none. What is written by way of the status counts too: the API
 * server stores the metadata of such a write, finalizers and owners among it.
 *
 * @param own what we own of the object
 */
export function fieldsThatCount(
  kind: string,
  { manager = '', fieldsV1 }: ManagedFieldsEntry,
  own: FieldTree,
): FieldTree | undefined {
  if (notCompared.has(kind) || isMadeByKubernetes(kind, own)) return undefined;
  const isHelper = kind === 'ServiceAccount' && helpers.has(manager);
  let found: Record<string, FieldTree> | undefined;
  for (const [step, below] of Object.entries((fieldsV1 ?? {}) as FieldTree)) {
    if (step === field('status') || everybodys[kind]?.has(step) === true) continue;
    if (isHelper && ofHelpers.has(step)) continue;
    const counts = step === metadata ? metadataThatCounts(kind, below) : below;
    if (counts !== undefined) found = { ...found, [step]: counts };
  }
  return found;
}

/** Claims of members are made from the template of the StatefulSet, whose controller gives them owners too: of those we state no size. */
function isMadeByKubernetes(kind: string, own: FieldTree): boolean {
  return kind === 'PersistentVolumeClaim' && own[field('spec')] === undefined;
}

function metadataThatCounts(kind: string, tree: FieldTree): FieldTree | undefined {
  const names = kind === 'ServiceAccount' ? ofServiceAccounts : ofMetadata;
  const found = Object.entries(tree).filter(([step]) => names.has(step));
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

/** Of a running deletion, of the load balancer of a Service, and of a claim that a pod, a snapshot or a clone uses. */
const finalizersOfKubernetes: ReadonlySet<string> = new Set(
  [
    'foregroundDeletion',
    'orphan',
    'service.kubernetes.io/load-balancer-cleanup',
    'kubernetes.io/pvc-protection',
    'snapshot.storage.kubernetes.io/pvc-as-source-protection',
    'provisioner.storage.kubernetes.io/cloning-protection',
  ].map((name) => `v:"${name}"`),
);

/** Annotations by which tools that deliver manifests know what is theirs. */
const ofDelivery = /^f:([\w.-]+\.)?(kubectl\.kubernetes|argocd\.argoproj|fluxcd|meta\.helm|openshift)\.(io|sh)\//;

/** Whether something in the metadata is there for Kubernetes or a tool of delivery, whoever wrote it. */
export function isOfKubernetes(path: FieldPath): boolean {
  const last = path.at(-1) ?? '';
  if (path[0] !== metadata) return false;
  return path[1] === field('finalizers') ? finalizersOfKubernetes.has(last) : ofDelivery.test(last);
}
