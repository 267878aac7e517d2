import { connect, KubeClient, type KubeClientOptions } from '../../../controller/kube/index.ts';
import { newNamespace, sharedCluster } from '../../cluster/index.ts';

export interface RealClient extends AsyncDisposable {
  readonly kube: KubeClient;
  /** Of this test alone. */
  readonly namespace: string;
}

/** An administrator's client of the shared cluster. */
export async function realClient(options: KubeClientOptions = {}): Promise<RealClient> {
  const cluster = await sharedCluster();
  const connection = await connect({ kubeconfig: cluster.kubeconfig });
  return {
    kube: new KubeClient(connection, options),
    namespace: await newNamespace(cluster, 'kube'),
    [Symbol.asyncDispose]: () => connection.close(),
  };
}
