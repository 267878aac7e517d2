import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { typeOf } from '../../controller/database/kinds.ts';
import type { Kube } from '../../controller/kube/index.ts';
import { newNamespace } from '../cluster/index.ts';
import { repairTime } from '../repair-time.ts';
import { Arena } from './arena.ts';
import { bareApplies } from './bare-applies.ts';
import { compare, naming, plumbline, reapply, type Contender } from './contender.ts';
import { Contestant, type Usage } from './contestant.ts';
import { edits, valueAt, type Edit } from './edits.ts';
import { median, quantile, type Result } from './figures.ts';
import { asked } from './request-counts.ts';

const databases = 10;
const editor = 'kubectl-edit';
/** After each repair, so that everybody has done with one edit before the next one comes. */
const pauseMs = 300;

/** How one contender put back all edits. */
interface Repairs {
  /** From the edit's own answer to the repaired value in a watch, in milliseconds. */
  readonly times: readonly number[];
  /** Each to the median bare apply of the same object. */
  readonly ratios: readonly number[];
  readonly usage: Usage;
}

type Floor = Awaited<ReturnType<typeof bareApplies>>;

/** 200 edits of owned fields, one after the other, put back by each contender in its turn. */
export async function drift(progress: (line: string) => void): Promise<Result> {
  await using arena = await Arena.open();
  progress('bare applies of the same objects');
  const floor = await bareApplies(arena.kube, await newNamespace(arena.cluster));
  const repairsBy = async (contender: Contender): Promise<Repairs> => {
    progress(`${contender.title}: ${databases} databases`);
    // No interval of a loop is shorter than none.
    await using contestant = await Contestant.start(arena, { contender, databases, intervalSeconds: 0 });
    progress(`${contender.title}: ${databases * edits.length} edits`);
    const repairs = await repairAll(arena.kube, contestant, floor);
    progress(`${contender.title}: ${JSON.stringify(columns(repairs))}`);
    return repairs;
  };
  const ours = await repairsBy(plumbline);
  const reapplied = await repairsBy(reapply);
  const compared = await repairsBy(compare);
  console.table({
    [plumbline.title]: columns(ours),
    [reapply.title]: columns(reapplied),
    [compare.title]: columns(compared),
  });
  return result(floor, ours, reapplied, compared);
}

async function repairAll(kube: Kube, contestant: Contestant, floor: Floor): Promise<Repairs> {
  const times: number[] = [];
  const ratios: number[] = [];
  const usage = await contestant.usageDuring(async () => {
    const { databases, namespace } = contestant.stage;
    for (const { metadata } of databases) {
      for (const edit of edits) {
        const ms = await repaired(kube, namespace, metadata.name, edit, times.length);
        times.push(ms);
        ratios.push(ms / median(floor.get(`${edit.kind}${edit.suffix}`) ?? []));
        await delay(pauseMs);
      }
    }
    await contestant.atRest();
  });
  return { times, ratios, usage };
}

async function repaired(kube: Kube, namespace: string, database: string, edit: Edit, n: number): Promise<number> {
  const type = typeOf(edit);
  const ref = { namespace, name: `${database}${edit.suffix}` };
  const right = valueAt(await kube.get(type, ref), edit.path);
  const act = () => kube.patch(type, ref, { kind: edit.patch, body: edit.body(n), fieldManager: editor });
  return repairTime(kube, type, ref, act, (object) => isDeepStrictEqual(valueAt(object, edit.path), right));
}

function columns({ times, usage }: Repairs): Readonly<Record<string, number | string>> {
  return {
    'p50 ms': median(times).toFixed(1),
    'p99 ms': quantile(times, 0.99).toFixed(1),
    'requests per repair': requestsPerRepair({ times, usage }).toFixed(1),
    'CPU ms per repair': ((1000 * usage.cpuSeconds) / times.length).toFixed(1),
    'editors named': naming(usage.reports, editor) / times.length,
  };
}

function requestsPerRepair({ times, usage }: Pick<Repairs, 'times' | 'usage'>): number {
  return asked(usage.requests) / times.length;
}

function result(floor: Floor, ours: Repairs, reapplied: Repairs, compared: Repairs): Result {
  const p99 = ({ times }: Repairs): number => quantile(times, 0.99);
  return {
    figures: {
      edits: ours.times.length,
      bareApplyMs: median([...floor.values()].flat()),
      bareApplyOfStatefulSetMs: median(floor.get('StatefulSet') ?? []),
      repairP50Ms: median(ours.times),
      repairP99Ms: p99(ours),
      p50ToBareApply: median(ours.ratios),
      p99ToBareApply: quantile(ours.ratios, 0.99),
      requestsPerRepair: requestsPerRepair(ours),
      namedEditors: naming(ours.usage.reports, editor) / ours.times.length,
      reapplyP50Ms: median(reapplied.times),
      reapplyP99Ms: p99(reapplied),
      reapplyRequestsPerRepair: requestsPerRepair(reapplied),
      compareP50Ms: median(compared.times),
      compareP99Ms: p99(compared),
      compareRequestsPerRepair: requestsPerRepair(compared),
      p50ToReapply: median(ours.times) / median(reapplied.times),
      p99ToReapply: p99(ours) / p99(reapplied),
    },
    targets: { p50ToBareApply: 4, p99ToBareApply: 20, requestsPerRepair: 3, p50ToReapply: 1.2, p99ToReapply: 2 },
  };
}
