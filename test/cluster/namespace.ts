import { randomBytes } from 'node:crypto';
import { Admin } from './admin.ts';
import type { Cluster } from './cluster.ts';
import type { PodCluster } from './pod-cluster.ts';
import { untilReady } from './readiness.ts';

/**
 * Creates a namespace that nobody else uses, in which pods can be created at once, and returns its name.
 * @param prefix defaults to `test`; a random part follows
 */
export async function newNamespace(cluster: Cluster | PodCluster, prefix = 'test'): Promise<string> {
  const name = `${prefix}-${randomBytes(4).toString('hex')}`;
  await ('createNamespace' in cluster ? cluster.createNamespace(name) : createNamespace(cluster, name));
  return name;
}

/** The same with a name. @throws Error when somebody has it */
export async function createNamespace(cluster: Cluster, name: string): Promise<void> {
  const admin = new Admin(cluster.kubeconfig);
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
  const { status, body } = await admin.send('POST', `${cluster.server}/api/v1/namespaces`, namespace);
  if (status !== 201) throw new Error(`Namespace ${name} could not be created: ${status} ${body}`);
  if (cluster.parts.includes('kube-controller-manager')) {
    await untilReady(admin, serviceAccountUrl(cluster.server, name), []);
  }
}

/** What pods of a namespace run as unless they say otherwise. The controller manager creates it a moment after the namespace. */
export function serviceAccountUrl(server: string, namespace: string): string {
  return `${server}/api/v1/namespaces/${namespace}/serviceaccounts/default`;
}
