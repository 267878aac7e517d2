import { createNamespace, plumblineCrd, startCluster, type Cluster } from '../../cluster/index.ts';
import { defaultClass } from '../../controller/database/shop.ts';
import { installCrd } from '../../controller/running-plumbline.ts';

/**
 * What of kube-controller-manager is at work. The others would take the processor for what nobody here looks at: EndpointSlices of pods that have no
 * address, claims that no volume is for, and, looking through all there is, what is to be deleted.
 */
const controllers = [
  'statefulset-controller',
  'disruption-controller',
  'namespace-controller',
  'serviceaccount-controller',
];

/** A namespace of a team. In one of thousands Kubernetes itself would look through all pods and Services of it for each that changes. */
export const perNamespace = 50;

/** A control plane whose pods no node runs and no scheduler places, with namespaces that are made as they are needed. */
export class Grounds implements AsyncDisposable {
  readonly cluster: Cluster;
  readonly #namespaces = new Set<string>();

  private constructor(cluster: Cluster) {
    this.cluster = cluster;
  }

  static async open(): Promise<Grounds> {
    const cluster = await startCluster({
      scheduler: false,
      crds: [plumblineCrd],
      controllerManagerFlags: [`--controllers=${controllers.join(',')}`],
    });
    try {
      await installCrd(cluster);
      const { code, stderr } = await cluster.kubectlRun(['apply', '-f', '-'], JSON.stringify(defaultClass));
      if (code !== 0) throw new Error(stderr);
      return new Grounds(cluster);
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  /** Makes the namespaces of so many databases. */
  async prepare(prefix: string, databases: number): Promise<void> {
    for (let i = 0; i < databases; i += perNamespace) {
      const name = namespaceOf(prefix, i);
      if (this.#namespaces.has(name)) continue;
      await createNamespace(this.cluster, name);
      this.#namespaces.add(name);
    }
  }

  /** Path of a kubeconfig of a user who may do everything. */
  async kubeconfigFor(user: string): Promise<string> {
    const grant = ['create', 'clusterrolebinding', user, '--clusterrole=cluster-admin', `--user=${user}`];
    const { code, stderr } = await this.cluster.kubectlRun(grant);
    if (code !== 0) throw new Error(stderr);
    return this.cluster.kubeconfigFor(user);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cluster.stop();
  }
}

/** The namespace of the database of a number. */
export function namespaceOf(prefix: string, number: number): string {
  return `${prefix}-${Math.floor(number / perNamespace)}`;
}
