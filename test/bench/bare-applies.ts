import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { typeOf } from '../../controller/database/kinds.ts';
import { stateAll } from '../../controller/database/stated.ts';
import type { Kube, KubeObject } from '../../controller/kube/index.ts';
import { benchDatabase } from './database.ts';

const rounds = 20;

/**
 * The floor of a repair: each rendered object applied with one changed label, again and again, where no controller watches.
 *
 * @returns milliseconds of each apply, by kind and suffix of the name, such as `Service-ro`
 */
export async function bareApplies(kube: Kube, namespace: string): Promise<ReadonlyMap<string, readonly number[]>> {
  const database = benchDatabase(namespace, 'db') as unknown as StoredDatabaseService;
  const stated = stateAll(database).filter(({ object }) => object.kind !== 'PersistentVolumeClaim');
  const times = new Map<string, number[]>(stated.map(({ object }) => [keyOf(object, database), []]));
  for (let round = 0; round <= rounds; round++) {
    for (const { object } of stated) {
      const { ownerReferences: _, ...metadata } = object.metadata;
      const labels = { ...metadata.labels, round: `${round}` };
      const start = performance.now();
      await kube.apply(
        { ...object, metadata: { ...metadata, labels } },
        { type: typeOf(object), fieldManager: 'bare', force: true },
      );
      // The first one creates.
      if (round > 0) times.get(keyOf(object, database))?.push(performance.now() - start);
    }
  }
  return times;
}

function keyOf({ kind, metadata }: KubeObject, database: StoredDatabaseService): string {
  return `${kind}${metadata.name.slice(database.metadata.name.length)}`;
}
