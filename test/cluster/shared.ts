import type { Cluster } from './cluster.ts';
import { startCluster } from './start.ts';

let shared: Promise<Cluster> | undefined;

/**
 * One cluster for everything in this process that needs no cluster of its own: started by the first call, stopped when the
 * process has nothing more to do. Use `newNamespace` to keep apart from others.
 */
export function sharedCluster(): Promise<Cluster> {
  shared ??= startShared();
  return shared;
}

async function startShared(): Promise<Cluster> {
  const cluster = await startCluster();
  // Its guard would end it anyway; this way it is gone before the process is.
  process.once('beforeExit', () => void cluster.stop());
  return cluster;
}
