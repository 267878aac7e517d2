import { fileURLToPath } from 'node:url';
import type { Cluster, NodeCluster } from './cluster.ts';
import { postgresqlImage } from './node/postgresql-image.ts';
import { startCluster } from './start.ts';

/** The CRD of Plumbline, as it is committed. */
export const plumblineCrd = fileURLToPath(new URL('../../crds/plumbline.dev_databaseservices.yaml', import.meta.url));

/** Where the controllers have their ServiceAccounts that are installed, and those that run in a process of tests. */
const audited = ['plumbline-system', 'plumbline-tests'].map((namespace) => `system:serviceaccounts:${namespace}`);

/**
 * The audit log of both has what controllers ask for. And as on OpenShift, nobody may name an owner whose finalizers he may not write.
 */
const watched = {
  crds: [plumblineCrd],
  auditLog: { groups: audited },
  apiServerFlags: ['--enable-admission-plugins=OwnerReferencesPermissionEnforcement'],
} as const;

let shared: Promise<Cluster> | undefined;
let sharedWithNode: Promise<NodeCluster> | undefined;

/**
 * One cluster for everything in this process that needs no cluster of its own: started by the first call, stopped when the
 * process has nothing more to do. Use `newNamespace` to keep apart from others.
 */
export function sharedCluster(): Promise<Cluster> {
  shared ??= startShared();
  return shared;
}

/** The same with a node, which has the PostgreSQL image; see `whyNoNode`. */
export function sharedNodeCluster(): Promise<NodeCluster> {
  sharedWithNode ??= startSharedWithNode();
  return sharedWithNode;
}

async function startSharedWithNode(): Promise<NodeCluster> {
  const images = [await postgresqlImage()];
  const cluster = await startCluster({ node: true, images, ...watched });
  process.once('beforeExit', () => void cluster.stop());
  return cluster;
}

async function startShared(): Promise<Cluster> {
  const cluster = await startCluster(watched);
  // Its guard would end it anyway; this way it is gone before the process is.
  process.once('beforeExit', () => void cluster.stop());
  return cluster;
}
