import type { Cluster, NodeCluster } from './cluster.ts';
import { existingCluster } from './existing-cluster.ts';
import { createNamespace } from './namespace.ts';
import { postgresqlImage } from './node/postgresql-image.ts';
import { whyNoNode } from './node/requirements.ts';
import { sharedNodeCluster } from './shared.ts';

/** A cluster on which pods run: our own with a node, or an existing one that was named. */
export interface PodCluster extends Pick<Cluster, 'kubeconfig' | 'kubectl' | 'kubectlRun'> {
  /** Reference of an image with PostgreSQL 17 that its nodes have, or can pull. */
  readonly image: string;
  /** The same cluster with what only whoever started the node can do to it. Undefined for an existing one. */
  readonly own: NodeCluster | undefined;
  /** Use `newNamespace` for one that nobody else uses. */
  createNamespace(name: string): Promise<void>;
}

/** The cluster for all tests of this process whose pods run: the existing one that was named, otherwise `sharedNodeCluster`. */
export async function sharedPodCluster(): Promise<PodCluster> {
  return existingCluster() ?? podClusterOf(await sharedNodeCluster());
}

/** @param own whose node knows the `postgresqlImage` */
export async function podClusterOf(own: NodeCluster): Promise<PodCluster> {
  const { reference: image } = await postgresqlImage();
  return {
    own,
    image,
    kubeconfig: own.kubeconfig,
    kubectl: own.kubectl,
    kubectlRun: (args, stdin) => own.kubectlRun(args, stdin),
    createNamespace: (name) => createNamespace(own, name),
  };
}

/** For the `skip` of a test: why no pods run here, in one line; false where they do. */
export function withoutPods(): string | false {
  if (existingCluster() !== undefined) return false;
  const reason = whyNoNode();
  return reason === undefined ? false : `No node here: ${reason}.`;
}

/** The same for a test that does to a node what only its owner can. @param what such as `signals its processes` */
export function withoutOwnNode(what: string): string | false {
  if (existingCluster() === undefined) return withoutPods();
  return `It ${what}, which needs a node that the tests have started themselves.`;
}
