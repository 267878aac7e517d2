import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { databaseServices, typeOf } from '../../controller/database/kinds.ts';
import { stateAll } from '../../controller/database/stated.ts';
import { connect, KubeClient, type Kube } from '../../controller/kube/index.ts';
import { newNamespace, sharedCluster } from '../cluster/index.ts';
import { eventually, installCrd } from '../controller/running-plumbline.ts';
import type { ControllerReport } from './controller-child.ts';
import { benchDatabase } from './database.ts';
import type { Result } from './figures.ts';
import { inParallel } from './in-parallel.ts';

const count = 200;

/** 200 DatabaseServices created at once until all their objects exist, against the same bodies applied by a plain loop. */
export async function converge(progress: (line: string) => void): Promise<Result> {
  const cluster = await sharedCluster();
  await installCrd(cluster);
  const namespace = await newNamespace(cluster);
  const connection = await connect({ kubeconfig: cluster.kubeconfig });
  const kube = new KubeClient(connection);
  const controller = fork(fileURLToPath(new URL('./controller-child.ts', import.meta.url)), [
    cluster.kubeconfig,
    namespace,
  ]);
  try {
    const { sample, objects } = await makeSample(kube, controller, namespace);
    progress(`${count} databases by a plain loop`);
    const floorMs = await plainLoop(kube, sample, await newNamespace(cluster), 1);
    progress(`${count} databases by eight loops side by side`);
    const floor8Ms = await plainLoop(kube, sample, await newNamespace(cluster), 8);
    progress(`${count} databases by the controller`);
    const before = await ask(controller);
    const start = performance.now();
    await inParallel(8, count, (i) => create(kube, namespace, `db-${i}`));
    const after = await reported(controller, ({ objects: made }) => made >= objects * (count + 1));
    const ms = performance.now() - start;
    return {
      figures: {
        databases: count,
        objectsPerDatabase: objects,
        plainLoopSeconds: floorMs / 1000,
        eightLoopsSeconds: floor8Ms / 1000,
        convergeSeconds: ms / 1000,
        toPlainLoop: ms / floorMs,
        toEightLoops: ms / floor8Ms,
        requestsPerDatabase: (after.requests - before.requests) / count,
        peakRssMb: after.peakRssMb,
      },
      targets: { toPlainLoop: 2 },
    };
  } finally {
    controller.disconnect();
    await once(controller, 'exit');
    await connection.close();
  }
}

/** One database, to know how many objects it has, pods and claims of its members among them. */
async function makeSample(
  kube: Kube,
  controller: ChildProcess,
  namespace: string,
): Promise<{ sample: StoredDatabaseService; objects: number }> {
  await reported(controller, ({ isLeading }) => isLeading);
  await create(kube, namespace, 'sample');
  // 14 rendered objects, four Secrets, and a pod and a claim for each of three members.
  const { objects } = await reported(controller, (report) => report.objects >= 24);
  const sample = await kube.get(databaseServices, { namespace, name: 'sample' });
  return { sample: sample as unknown as StoredDatabaseService, objects };
}

async function create(kube: Kube, namespace: string, name: string): Promise<void> {
  await kube.create(benchDatabase(namespace, name), { type: databaseServices, fieldManager: 'bench' });
}

async function plainLoop(kube: Kube, sample: StoredDatabaseService, namespace: string, loops: number): Promise<number> {
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

async function ask(controller: ChildProcess): Promise<ControllerReport> {
  const answer = once(controller, 'message');
  controller.send('report');
  const [report] = (await answer) as [ControllerReport];
  return report;
}

function reported(controller: ChildProcess, holds: (report: ControllerReport) => boolean): Promise<ControllerReport> {
  const check = async () => {
    const report = await ask(controller);
    return holds(report) ? report : undefined;
  };
  return eventually('the controller is as far', check, 600_000);
}
