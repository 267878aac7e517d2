import { isDeepStrictEqual } from 'node:util';
import { databaseServices, typeOf } from '../../controller/database/kinds.ts';
import { stateAll } from '../../controller/database/stated.ts';
import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { newNamespace, sharedCluster } from '../cluster/index.ts';
import { databaseService, eventually, installCrd, RunningPlumbline } from '../controller/running-plumbline.ts';
import { repairTime } from '../repair-time.ts';
import { edits, valueAt, type Edit } from './edits.ts';
import { median, quantile, type Result } from './figures.ts';

const databases = 10;
const spec = { replicas: 3, durability: 'Sync', backup: { schedule: '30 2 * * *', volume: { size: '1Gi' } } };

/** 200 edits of owned fields, one after the other: from the edit's own answer to the repaired value in a watch. */
export async function drift(progress: (line: string) => void): Promise<Result> {
  const cluster = await sharedCluster();
  await installCrd(cluster);
  const [namespace, bareNamespace] = [await newNamespace(cluster), await newNamespace(cluster)];
  await using running = await RunningPlumbline.start(cluster, { namespace });
  progress(`${databases} databases`);
  for (let i = 0; i < databases; i++)
    await running.kube.create(databaseService(namespace, `db-${i}`, spec), {
      type: databaseServices,
      fieldManager: 'bench',
    });
  await settled(running);
  const resource = (await running.database(namespace, 'db-0')) as unknown as StoredDatabaseService;
  progress('bare applies of the same objects');
  const floor = await bareApplies(running, resource, bareNamespace);
  progress(`${databases * edits.length} edits`);
  const times: number[] = [];
  const before = running.requests.length;
  for (let i = 0; i < databases; i++) {
    for (const [n, edit] of edits.entries())
      times.push(await repaired(running, namespace, `db-${i}`, edit, i * edits.length + n));
  }
  await settled(running);
  const requests = running.requestsAfter(before).length / times.length;
  const bare = median(floor);
  return {
    figures: {
      edits: times.length,
      bareApplyMs: bare,
      repairP50Ms: median(times),
      repairP99Ms: quantile(times, 0.99),
      p50ToBareApply: median(times) / bare,
      p99ToBareApply: quantile(times, 0.99) / bare,
      requestsPerRepair: requests,
      namedEditors: running.drifts.filter(({ editor }) => editor.manager === 'kubectl-edit').length / times.length,
    },
    targets: { p50ToBareApply: 4, p99ToBareApply: 20, requestsPerRepair: 3 },
  };
}

async function repaired(
  { kube }: RunningPlumbline,
  namespace: string,
  database: string,
  edit: Edit,
  n: number,
): Promise<number> {
  const type = typeOf(edit);
  const ref = { namespace, name: `${database}${edit.suffix}` };
  const right = valueAt(await kube.get(type, ref), edit.path);
  const act = () => kube.patch(type, ref, { kind: edit.patch, body: edit.body(n), fieldManager: 'kubectl-edit' });
  return repairTime(kube, type, ref, act, (object) => isDeepStrictEqual(valueAt(object, edit.path), right));
}

/** The floor: the same objects applied with one changed label each time, where no controller watches. */
async function bareApplies(
  { kube }: RunningPlumbline,
  resource: StoredDatabaseService,
  namespace: string,
): Promise<readonly number[]> {
  const stated = stateAll(resource).filter(({ object }) => object.kind !== 'PersistentVolumeClaim');
  const times: number[] = [];
  for (let round = 0; times.length < 220; round++) {
    for (const { object } of stated) {
      const { ownerReferences: _, ...metadata } = object.metadata;
      const labels = { ...metadata.labels, round: `${round}` };
      const start = performance.now();
      await kube.apply(
        { ...object, metadata: { ...metadata, labels, namespace } },
        { type: typeOf(object), fieldManager: 'bare', force: true },
      );
      if (round > 0) times.push(performance.now() - start);
    }
  }
  return times;
}

async function settled(running: RunningPlumbline): Promise<void> {
  await eventually('no request for a second', async () => {
    const before = running.requests.length;
    await new Promise((resolve) => setTimeout(resolve, 1000));
    return running.requestsAfter(before).length === 0 || undefined;
  });
}
