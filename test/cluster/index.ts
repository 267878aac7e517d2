export type { Cluster, ClusterOptions } from './cluster.ts';
export type { KubectlResult } from './kubectl.ts';
export { newNamespace } from './namespace.ts';
export type { Part } from './parts.ts';
export { StartError } from './readiness.ts';
export { plumblineCrd, sharedCluster } from './shared.ts';
export { startCluster } from './start.ts';
