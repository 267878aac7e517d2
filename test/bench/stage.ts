import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { databaseServices, typeOf } from '../../controller/database/kinds.ts';
import { stateAll } from '../../controller/database/stated.ts';
import { isObjectMissing, type Kube, type KubeObject, type ResourceType } from '../../controller/kube/index.ts';
import { newNamespace } from '../cluster/index.ts';
import type { Arena } from './arena.ts';
import { benchDatabase } from './database.ts';
import { countRequests, type RequestCounts } from './request-counts.ts';

const clusterRoleBindings: ResourceType = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  namespaced: false,
};

/** What a contender finds when it starts: a namespace of its own with databases of which nothing is made yet. */
export interface Stage {
  readonly namespace: string;
  readonly databases: readonly StoredDatabaseService[];
  /** Path of the kubeconfig of a user who may do everything. */
  readonly kubeconfig: string;
  /** What that user has asked for so far. */
  readonly requests: () => Promise<RequestCounts>;
}

export async function setStage({ cluster, kube }: Arena, prefix: string, databases: number): Promise<Stage> {
  const namespace = await newNamespace(cluster, prefix);
  // A name that nobody else has, in the namespace and beyond.
  const user = namespace;
  await mayDoAll(kube, user);
  const requests = await countRequests(kube, namespace, user);
  const created: StoredDatabaseService[] = [];
  for (let i = 0; i < databases; i++) created.push(await createDatabase(kube, namespace, `db-${i}`));
  return { namespace, databases: created, kubeconfig: await cluster.kubeconfigFor(user), requests };
}

/** The same bodies that Plumbline applies, by the name of the database. */
export function objectsOf(stage: Stage): Readonly<Record<string, readonly KubeObject[]>> {
  return Object.fromEntries(
    stage.databases.map((database) => [database.metadata.name, stateAll(database).map(({ object }) => object)]),
  );
}

/** Whether the API server has the object. */
export async function isMade(kube: Kube, object: KubeObject): Promise<boolean> {
  const { namespace, name } = object.metadata;
  try {
    await kube.get(typeOf(object), { namespace, name }, { metadataOnly: true });
    return true;
  } catch (error) {
    if (isObjectMissing(error)) return false;
    throw error;
  }
}

async function mayDoAll(kube: Kube, user: string): Promise<void> {
  const { apiVersion, kind } = clusterRoleBindings;
  const binding = {
    apiVersion,
    kind,
    metadata: { name: user },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  };
  await kube.create(binding, { type: clusterRoleBindings, fieldManager: 'bench' });
}

async function createDatabase(kube: Kube, namespace: string, name: string): Promise<StoredDatabaseService> {
  const made = await kube.create(benchDatabase(namespace, name), { type: databaseServices, fieldManager: 'bench' });
  return made as unknown as StoredDatabaseService;
}
