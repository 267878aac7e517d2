import type { StoredDatabaseService } from '../../../constructs/api/resource.ts';
import { databaseLabel } from '../../../constructs/labels.ts';
import { typeOf } from '../../../controller/database/kinds.ts';
import { stateAll } from '../../../controller/database/stated.ts';
import type { Kube, KubeObject } from '../../../controller/kube/index.ts';

/** In the place of the label by which the controller knows what belongs to a database: what the plain loop applies is none of its business. */
export const floorLabel = databaseLabel.replace('/', '.floor/');

/** Applies what is rendered for a database as another one, one body after the other, and nothing else. */
export async function applyPlainly(
  kube: Kube,
  sample: StoredDatabaseService,
  as: { readonly namespace: string; readonly name: string },
): Promise<void> {
  const resource = { ...sample, metadata: { ...sample.metadata, ...as } };
  for (const { object } of stateAll(resource)) {
    const { ownerReferences: _, ...metadata } = object.metadata;
    const body = relabelled({ ...object, metadata });
    await kube.apply(body, { type: typeOf(object), fieldManager: 'bare', force: true });
  }
}

function relabelled(object: KubeObject): KubeObject {
  return JSON.parse(JSON.stringify(object).replaceAll(databaseLabel, floorLabel)) as KubeObject;
}
