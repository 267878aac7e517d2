import type { ManagedFieldsEntry } from '../kube/index.ts';
import { field, type FieldPath } from './field-path.ts';
import type { FieldTree } from './owned-fields.ts';

const metadata = field('metadata');

/** Claims are filled in by Kubernetes, pods and Jobs made by it, and Secrets are created and not applied. */
const notCompared: ReadonlySet<string> = new Set(['PersistentVolumeClaim', 'Pod', 'Job', 'Secret']);

/** What is everybody's, at the root of an object of a kind: Patroni keeps its own in ConfigMaps. */
const everybodys: Readonly<Record<string, ReadonlySet<string>>> = {
  ConfigMap: new Set(['data', 'binaryData'].map(field)),
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
 */
export function fieldsThatCount(kind: string, { manager = '', fieldsV1 }: ManagedFieldsEntry): FieldTree | undefined {
  if (notCompared.has(kind)) return undefined;
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

function metadataThatCounts(kind: string, tree: FieldTree): FieldTree | undefined {
  const names = kind === 'ServiceAccount' ? ofServiceAccounts : ofMetadata;
  const found = Object.entries(tree).filter(([step]) => names.has(step));
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

/** Of a running deletion, and of the load balancer of a Service. */
const finalizersOfKubernetes: ReadonlySet<string> = new Set(
  ['foregroundDeletion', 'orphan', 'service.kubernetes.io/load-balancer-cleanup'].map((name) => `v:"${name}"`),
);

/** Annotations by which tools that deliver manifests know what is theirs. */
const ofDelivery = /^f:([\w.-]+\.)?(kubectl\.kubernetes|argocd\.argoproj|fluxcd|meta\.helm|openshift)\.(io|sh)\//;

/** Whether something in the metadata is there for Kubernetes or a tool of delivery, whoever wrote it. */
export function isOfKubernetes(path: FieldPath): boolean {
  const last = path.at(-1) ?? '';
  if (path[0] !== metadata) return false;
  return path[1] === field('finalizers') ? finalizersOfKubernetes.has(last) : ofDelivery.test(last);
}
