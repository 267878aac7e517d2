import type { DatabaseServiceDocument } from '../../constructs/api/resource.ts';
import { namesOf } from '../../constructs/names.ts';
import { statefulSets, typeOf } from '../../controller/database/kinds.ts';
import type { KubeObject } from '../../controller/kube/index.ts';
import { repairTime } from '../repair-time.ts';
import { statusOf } from './life.ts';
import type { Report, Summary } from './report.ts';
import type { Target } from './target.ts';
import { waitFor } from './wait.ts';

const somebody = 'kubectl-edit';
const foreignImage = 'registry.example/somebody/postgresql:17';

type Repairs = Summary['drift'];

/** Somebody changes the image and deletes a Service; Plumbline says who changed what, and puts it back. */
export async function driftOf(target: Target, database: DatabaseServiceDocument, report: Report): Promise<Repairs> {
  const times = [await editImage(target, database, report), await deleteService(target, database, report)];
  const receipts = await waitFor(
    'two receipts in the status',
    async () => {
      const found = (await statusOf(target, database))?.drift?.receipts ?? [];
      return found.length >= times.length ? found : undefined;
    },
    target,
  );
  // The newest receipt comes first.
  return receipts.toReversed().map(({ object, field, was = null, now = null, manager }, index) => {
    const repairMs = times[index] ?? NaN;
    const what = field === '' ? `${object} was deleted` : `${object} ${field}\n  was ${was}\n  now ${now}`;
    report.fact(`${what}\n  by ${manager}; put back after ${repairMs} ms`);
    return { object, field, was, now, manager, repairMs };
  });
}

async function editImage(
  { kube, signal }: Target,
  { metadata }: DatabaseServiceDocument,
  report: Report,
): Promise<number> {
  const ref = { namespace: metadata.namespace, name: metadata.name };
  const right = imageOf(await kube.get(statefulSets, ref));
  const body = { spec: { template: { spec: { containers: [{ name: 'postgres', image: foreignImage }] } } } };
  const edit = () => kube.patch(statefulSets, ref, { kind: 'strategic', body, fieldManager: somebody });
  const ms = await repairTime(kube, statefulSets, ref, edit, (object) => imageOf(object) === right, signal);
  report.done(`${somebody} changed the image of StatefulSet ${ref.name}, and it was put back`);
  return Math.ceil(ms);
}

async function deleteService(
  { kube, signal }: Target,
  { metadata }: DatabaseServiceDocument,
  report: Report,
): Promise<number> {
  const services = typeOf({ kind: 'Service' });
  const ref = { namespace: metadata.namespace, name: namesOf(metadata.name).readOnly };
  const ms = await repairTime(
    kube,
    services,
    ref,
    () => kube.delete(services, ref),
    (_, event) => event !== 'DELETED',
    signal,
  );
  report.done(`Service ${ref.name} was deleted, and is there again`);
  return Math.ceil(ms);
}

function imageOf(object: KubeObject): string | undefined {
  const spec = object['spec'] as { template: { spec: { containers: { name: string; image: string }[] } } };
  return spec.template.spec.containers.find(({ name }) => name === 'postgres')?.image;
}
