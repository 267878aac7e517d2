import { locateBinaries } from './binaries.ts';
import type { Cluster, ClusterOptions, NodeCluster } from './cluster.ts';
import { ControlPlane } from './control-plane.ts';
import { createFolder, removeStaleFolders } from './folder.ts';
import { ClusterWithNode } from './node/cluster-with-node.ts';
import { imageStore } from './node/image-store.ts';
import { locateNodeBinaries } from './node/parts.ts';
import { installNodePrograms, whyNoNode } from './node/requirements.ts';
import type { Ports } from './parts.ts';
import { freePort } from './ports.ts';
import { Guard } from './process.ts';
import { StartError } from './readiness.ts';

const portAttempts = 5;

/**
 * Starts a control plane and resolves when all of it is ready, a few seconds later. The first start on a machine builds it from
 * source, which takes minutes; see `locateBinaries`.
 * @throws StartError when a part ends early or does not become ready, with the last lines of its log; then nothing is left.
 */
export async function startCluster(options: ClusterOptions & { readonly node: true }): Promise<NodeCluster>;
export async function startCluster(options?: ClusterOptions): Promise<Cluster>;
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const create = await creator(options);
  removeStaleFolders();
  const begin = performance.now();
  for (let attempt = 1; ; attempt += 1) {
    const ports: Ports = {
      apiServer: await freePort(),
      controllerManager: await freePort(),
      scheduler: await freePort(),
    };
    const guard = new Guard(createFolder());
    try {
      const cluster = await create(ports, guard);
      await cluster.start();
      if (options.keep === true) await guard.keep();
      options.onProgress?.(`Kubernetes is ready after ${((performance.now() - begin) / 1000).toFixed(1)} s.`);
      return cluster;
    } catch (error) {
      await guard.close();
      if (!(error instanceof StartError && error.isPortTaken) || attempt === portAttempts) throw error;
    }
  }
}

/** Finds or builds what the cluster consists of, and returns a function that puts it together. */
async function creator(options: ClusterOptions): Promise<(ports: Ports, guard: Guard) => Promise<ControlPlane>> {
  const binaries = await locateBinaries(options.onProgress);
  if (options.node !== true) return async (ports, guard) => new ControlPlane(binaries, options, ports, guard);
  const reason = whyNoNode();
  if (reason !== undefined) throw new Error(`No node can be started: ${reason}.`);
  await installNodePrograms(options.onProgress);
  const all = { ...binaries, ...(await locateNodeBinaries(options.onProgress)) };
  const store = await imageStore(options.images ?? [], all, options.onProgress);
  return (ports, guard) => ClusterWithNode.create({ binaries: all, store, options, ports, guard });
}
