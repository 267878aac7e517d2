import { isDeepStrictEqual } from 'node:util';
import { databaseServices, typeOf } from '../../controller/database/kinds.ts';
import { stateAll } from '../../controller/database/stated.ts';
import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import type { KubeObject } from '../../controller/kube/index.ts';
import { newNamespace, sharedCluster } from '../cluster/index.ts';
import { databaseService, eventually, installCrd, RunningPlumbline } from '../controller/running-plumbline.ts';
import { repairTime } from '../repair-time.ts';
import { edits, valueAt, type Edit } from './edits.ts';
import { median, quantile, type Result } from './figures.ts';

const databases = 10;
const bareRounds = 20;
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
  const ratios: number[] = [];
  const before = running.requests.length;
  for (let i = 0; i < databases; i++) {
    for (const [n, edit] of edits.entries()) {
      const ms = await repaired(running, namespace, `db-${i}`, edit, i * edits.length + n);
      times.push(ms);
      ratios.push(ms / median(floor.get(`${edit.kind}${edit.suffix}`) ?? []));
    }
  }
  await settled(running);
  return {
    figures: {
      edits: times.length,
      bareApplyMs: median([...floor.values()].flat()),
      bareApplyOfStatefulSetMs: median(floor.get('StatefulSet') ?? []),
      repairP50Ms: median(times),
      repairP99Ms: quantile(times, 0.99),
      p50ToBareApply: median(ratios),
      p99ToBareApply: quantile(ratios, 0.99),
      requestsPerRepair: running.requestsAfter(before).length / times.length,
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

/** The floor: the same objects applied with one changed label each time, where no controller watches. By kind and suffix of the name. */
async function bareApplies(
  { kube }: RunningPlumbline,
  resource: StoredDatabaseService,
  namespace: string,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const stated = stateAll(resource).filter(({ object }) => object.kind !== 'PersistentVolumeClaim');
  const times = new Map<string, number[]>(stated.map(({ object }) => [objectKey(object, resource), []]));
  for (let round = 0; round <= bareRounds; round++) {
    for (const { object } of stated) {
      const { ownerReferences: _, ...metadata } = object.metadata;
      const labels = { ...metadata.labels, round: `${round}` };
      const start = performance.now();
      await kube.apply(
        { ...object, metadata: { ...metadata, labels, namespace } },
        { type: typeOf(object), fieldManager: 'bare', force: true },
      );
      // The first one creates.
      if (round > 0) times.get(objectKey(object, resource))?.push(performance.now() - start);
    }
  }
  return times;
}

function objectKey({ kind, metadata }: KubeObject, resource: StoredDatabaseService): string {
  return `${kind}${metadata.name.slice(resource.metadata.name.length)}`;
}

async function settled(running: RunningPlumbline): Promise<void> {
  await eventually('no request for a second', async () => {
    const before = running.requests.length;
    await new Promise((resolve) => setTimeout(resolve, 1000));
    return running.requestsAfter(before).length === 0 || undefined;
  });
}
