import { connect, KubeClient, type Connection, type Kube } from '../../controller/kube/index.ts';
import { builtBinaries } from '../cluster/build.ts';
import { sharedCluster, type Cluster } from '../cluster/index.ts';
import { installCrd } from '../controller/running-plumbline.ts';
import { peers } from './peers.ts';

/** A cluster in which contenders are measured, one after the other so that none disturbs another. */
export class Arena implements AsyncDisposable {
  readonly cluster: Cluster;
  /** Of an administrator, who is no contender. */
  readonly kube: Kube;
  readonly #connection: Connection;

  private constructor(cluster: Cluster, connection: Connection) {
    this.cluster = cluster;
    this.kube = new KubeClient(connection);
    this.#connection = connection;
  }

  /** Builds what is missing, before anything is measured. */
  static async open(): Promise<Arena> {
    await builtBinaries(peers);
    const cluster = await sharedCluster();
    await installCrd(cluster);
    return new Arena(cluster, await connect({ kubeconfig: cluster.kubeconfig }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.close();
  }
}
