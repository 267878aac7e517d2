import { connect, KubeClient } from '../../controller/kube/index.ts';
import { plumblineCrd, postgresqlImage, startCluster, type Cluster } from '../cluster/index.ts';
import type { Report } from './report.ts';

/** The cluster that the quickstart works on, and how to reach it. */
export interface Target {
  readonly kube: KubeClient;
  /** Flags of the controller that lead to it. */
  readonly flags: readonly string[];
  /** How a person looks at it. */
  readonly hint: string;
  /** Without it nobody deletes what a deleted object owns: a folder of KUBEBUILDER_ASSETS may lack kube-controller-manager. */
  readonly hasGarbageCollector: boolean;
  /** Whether it is somebody's own, so that everything has to be cleaned up. */
  readonly isForeign: boolean;
  close(): Promise<void>;
}

/** An existing cluster, only when it is named. */
export async function namedCluster(context: string): Promise<Target> {
  const connection = await connect({ context });
  const flags = ['--context', context];
  return {
    kube: new KubeClient(connection),
    flags,
    hint: `kubectl ${flags.join(' ')}`,
    isForeign: true,
    hasGarbageCollector: true,
    close: () => connection.close(),
  };
}

/** A control plane of our own: etcd, API server, controller manager, scheduler; and a node, if one is asked for. */
export async function ownCluster(report: Report, keep: boolean, hasNode: boolean): Promise<Target> {
  const onProgress = (line: string): void => report.fact(line);
  const options = { keep, crds: [plumblineCrd], onProgress };
  const cluster = hasNode
    ? await startCluster({ ...options, node: true, images: [await postgresqlImage(onProgress)] })
    : await startCluster(options);
  const connection = await connect({ kubeconfig: cluster.kubeconfig });
  const kubectl = `${cluster.kubectl} --kubeconfig ${cluster.kubeconfig}`;
  return {
    kube: new KubeClient(connection),
    flags: ['--kubeconfig', cluster.kubeconfig],
    hint: keep ? `${kubectl}\n${stopHint(cluster)}` : kubectl,
    isForeign: false,
    hasGarbageCollector: cluster.parts.includes('kube-controller-manager'),
    close: async () => {
      await connection.close();
      if (!keep) await cluster.stop();
    },
  };
}

function stopHint({ stopScript }: Cluster): string {
  return `To stop it: sh ${stopScript}`;
}
