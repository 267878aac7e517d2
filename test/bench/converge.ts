import { getHeapStatistics } from 'node:v8';
import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { databaseServices, typeOf } from '../../controller/database/kinds.ts';
import { stateAll } from '../../controller/database/stated.ts';
import { newNamespace, sharedCluster } from '../cluster/index.ts';
import { databaseService, eventually, installCrd, RunningPlumbline } from '../controller/running-plumbline.ts';
import type { Result } from './figures.ts';

const count = 200;
const spec = { replicas: 3, durability: 'Sync', backup: { schedule: '30 2 * * *', volume: { size: '1Gi' } } };

/** 200 DatabaseServices created at once until all their objects exist, against the same bodies applied by a plain loop. */
export async function converge(progress: (line: string) => void): Promise<Result> {
  const cluster = await sharedCluster();
  await installCrd(cluster);
  const namespace = await newNamespace(cluster);
  await using running = await RunningPlumbline.start(cluster, { namespace });
  const sample = await anyResource(running, namespace);
  progress(`${count} databases by a plain loop`);
  const floorMs = await plainLoop(running, sample, await newNamespace(cluster), 1);
  const floor8Ms = await plainLoop(running, sample, await newNamespace(cluster), 8);
  progress(`${count} databases by the controller`);
  const before = running.requests.length;
  const wanted = running.plumbline.children.of(`${namespace}/sample`).length;
  const start = performance.now();
  await inParallel(8, count, (i) =>
    running.kube.create(databaseService(namespace, `db-${i}`, spec), { type: databaseServices, fieldManager: 'bench' }),
  );
  await eventually(
    'all objects exist',
    () => running.plumbline.children.size >= wanted * (count + 1) || undefined,
    600_000,
  );
  const ms = performance.now() - start;
  const requests = running.requestsAfter(before).length;
  return {
    figures: {
      databases: count,
      objectsPerDatabase: wanted,
      plainLoopSeconds: floorMs / 1000,
      eightLoopsSeconds: floor8Ms / 1000,
      convergeSeconds: ms / 1000,
      toPlainLoop: ms / floorMs,
      toEightLoops: ms / floor8Ms,
      requestsPerDatabase: requests / count,
      peakRssMb: process.resourceUsage().maxRSS / 1024,
      heapMb: getHeapStatistics().used_heap_size / 1024 / 1024,
    },
    targets: { toPlainLoop: 2 },
  };
}

async function anyResource(running: RunningPlumbline, namespace: string): Promise<StoredDatabaseService> {
  await running.kube.create(databaseService(namespace, 'sample', spec), {
    type: databaseServices,
    fieldManager: 'bench',
  });
  await eventually('the sample is made', async () => {
    const { status } = (await running.database(namespace, 'sample')) as { status?: { phase?: string } };
    return status?.phase === 'Provisioning' || undefined;
  });
  return (await running.database(namespace, 'sample')) as unknown as StoredDatabaseService;
}

async function plainLoop(
  { kube }: RunningPlumbline,
  sample: StoredDatabaseService,
  namespace: string,
  loops: number,
): Promise<number> {
  const start = performance.now();
  await inParallel(loops, count, async (i) => {
    const resource = { ...sample, metadata: { ...sample.metadata, name: `db-${i}`, namespace } };
    for (const { object } of stateAll(resource)) {
      const { ownerReferences: _, ...metadata } = object.metadata;
      await kube.apply({ ...object, metadata }, { type: typeOf(object), fieldManager: 'bare', force: true });
    }
  });
  return performance.now() - start;
}

async function inParallel(loops: number, count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: loops }, async () => {
      for (let i = next++; i < count; i = next++) await work(i);
    }),
  );
}
