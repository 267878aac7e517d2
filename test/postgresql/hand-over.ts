import { patroniLabels } from '../../constructs/labels.ts';
import { namesOf } from '../../constructs/names.ts';
import { typeOf } from '../../controller/database/kinds.ts';
import { eventually } from '../controller/running-plumbline.ts';
import type { NodeDatabase } from './node-database.ts';

/** Makes a member the primary, and waits until it is and all stream from it. */
export async function handOver(database: NodeDatabase, to: string): Promise<void> {
  const { kube, namespace, name } = database;
  await eventually(`${to} is the primary`, async () => {
    const from = await database.leader();
    if (from === to) return true;
    // Patroni drops what it cannot do at that moment, such as when the member has not caught up.
    const annotations = { leader: from ?? '', member: to };
    const metadata = {
      name: namesOf(name).patroniFailover,
      namespace,
      labels: { ...patroniLabels(name) },
      annotations,
    };
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
    await kube.apply(body, { type: typeOf(body), fieldManager: 'test', force: true });
    await new Promise((resolve) => setTimeout(resolve, 500));
    return undefined;
  });
  await database.allStream();
}
