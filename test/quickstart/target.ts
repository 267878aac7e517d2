import { connect, KubeClient, type Connection } from '../../controller/kube/index.ts';
import { plumblineCrd, startCluster, type Cluster } from '../cluster/index.ts';
import type { Report } from './report.ts';

/** The cluster that the quickstart works on, and how to reach it. */
export interface Target {
  readonly kube: KubeClient;
  /** Flags of the controller that lead to it. */
  readonly flags: readonly string[];
  /** How a person looks at it. */
  readonly hint: string;
  /** Whether it is somebody's own, so that everything has to be cleaned up. */
  readonly isForeign: boolean;
  close(): Promise<void>;
}

/** An existing cluster, only when it is named. */
export async function namedCluster(context: string): Promise<Target> {
  const connection = await connect({ context });
  return target(connection, ['--context', context], `kubectl --context ${context}`, true, async () => undefined);
}

/** A control plane of our own: etcd, API server, controller manager, scheduler. */
export async function ownCluster(report: Report, keep: boolean): Promise<Target> {
  const cluster = await startCluster({ keep, crds: [plumblineCrd], onProgress: (line) => report.fact(line) });
  const connection = await connect({ kubeconfig: cluster.kubeconfig });
  const hint = `${cluster.kubectl} --kubeconfig ${cluster.kubeconfig}`;
  return target(
    connection,
    ['--kubeconfig', cluster.kubeconfig],
    keep ? `${hint}\n${stopHint(cluster)}` : hint,
    false,
    async () => {
      if (!keep) await cluster.stop();
    },
  );
}

function stopHint({ stopScript }: Cluster): string {
  return `To stop it: sh ${stopScript}`;
}

function target(
  connection: Connection,
  flags: readonly string[],
  hint: string,
  isForeign: boolean,
  end: () => Promise<void>,
): Target {
  return {
    kube: new KubeClient(connection),
    flags,
    hint,
    isForeign,
    close: async () => {
      await connection.close();
      await end();
    },
  };
}
