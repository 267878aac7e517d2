import { fileURLToPath } from 'node:url';
import { Leaks } from '../leaks/leaks.ts';
import { generated } from '../leaks/mark.ts';
import { leaveRecord } from '../rights/record.ts';
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
  return endsWithTests(await startCluster({ node: true, images, ...watched }));
}

async function startShared(): Promise<Cluster> {
  return endsWithTests(await startCluster(watched));
}

/** Its guard would end it anyway; this way it is gone before the process is, and has told where there was a password that was not to be there, and what was asked for. */
function endsWithTests<T extends Cluster>(cluster: T): T {
  const leaks = new Leaks(generated, cluster);
  process.once('beforeExit', () => {
    // Not in a hook of the test runner: when one fails that belongs to no test, a run in one process passes all the same.
    for (const place of leaks.places()) {
      process.exitCode = 1;
      console.error(`A password was seen where none belongs: ${place}`);
    }
    leaks[Symbol.dispose]();
    leaveRecord(cluster);
    void cluster.stop();
  });
  return cluster;
}
