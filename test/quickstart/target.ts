import { connect, KubeClient } from '../../controller/kube/index.ts';
import { plumblineCrd, postgresqlImage, startCluster } from '../cluster/index.ts';
import { NoGoError } from '../cluster/go.ts';
import type { Report } from './report.ts';
import type { Going } from './started.ts';

/** The cluster that the quickstart works on, and how to reach it. */
export interface Target extends Going {
  readonly kube: KubeClient;
  /** Flags of the controller that lead to it. */
  readonly flags: readonly string[];
  /** How a person calls kubectl for it. */
  readonly kubectl: string;
  /** Without it nobody deletes what a deleted object owns: a folder of KUBEBUILDER_ASSETS may lack kube-controller-manager. */
  readonly hasGarbageCollector: boolean;
  /** Whether it is somebody's own, so that everything has to be cleaned up. */
  readonly isForeign: boolean;
  /** Ends whatever waits for something to happen there. */
  readonly signal: AbortSignal;
}

/** An existing cluster, only when it is named. */
export async function namedCluster(context: string, signal: AbortSignal): Promise<Target> {
  const connection = await connect({ context });
  const kubectl = `kubectl --context ${context}`;
  return {
    kube: new KubeClient(connection),
    flags: ['--context', context],
    kubectl,
    isForeign: true,
    hasGarbageCollector: true,
    signal,
    look: [kubectl],
    stop: [],
    end: () => connection.close(),
    release: () => connection.close(),
  };
}

export interface OwnClusterProps {
  readonly report: Report;
  /** Lets it outlive this process. */
  readonly keep: boolean;
  readonly hasNode: boolean;
  readonly signal: AbortSignal;
}

/** A control plane of our own: etcd, API server, controller manager, scheduler; and a node, if one is asked for. */
export async function ownCluster({ report, keep, hasNode, signal }: OwnClusterProps): Promise<Target> {
  const onProgress = (line: string): void => report.fact(line);
  const options = { keep, crds: [plumblineCrd], onProgress };
  const start = async () =>
    hasNode
      ? startCluster({ ...options, node: true, images: [await postgresqlImage(onProgress)] })
      : startCluster(options);
  const cluster = await start().catch(orNamed);
  const connection = await connect({ kubeconfig: cluster.kubeconfig });
  const kubectl = `${cluster.kubectl} --kubeconfig ${cluster.kubeconfig}`;
  return {
    kube: new KubeClient(connection),
    flags: ['--kubeconfig', cluster.kubeconfig],
    kubectl,
    isForeign: false,
    hasGarbageCollector: cluster.parts.includes('kube-controller-manager'),
    signal,
    look: [kubectl],
    stop: [`sh ${cluster.stopScript}`],
    end: async () => {
      await connection.close();
      await cluster.stop();
    },
    release: () => connection.close(),
  };
}

/** Here there is one more way without Go. */
function orNamed(error: unknown): never {
  if (!(error instanceof NoGoError)) throw error;
  throw new Error(`${error.message.replace(/\.$/, '')}, or name a cluster of your own: --context NAME.`, {
    cause: error,
  });
}
