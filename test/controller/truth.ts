import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { fieldManager } from '../../controller/database/child.ts';
import { databaseServices, typeOf } from '../../controller/database/kinds.ts';
import { stateAll } from '../../controller/database/stated.ts';
import { isObjectMissing, type Kube, type ObjectRef } from '../../controller/kube/index.ts';
import { difference, isSame } from './drift-corpus/content.ts';

/**
 * What of a database is not as it is rendered, by the API server's own word: an apply of what is rendered would change it.
 *
 * @returns undefined when all is true
 */
export async function falsehood(kube: Kube, database: ObjectRef): Promise<string | undefined> {
  const resource = await kube.get(databaseServices, database);
  for (const { object } of stateAll(resource as unknown as StoredDatabaseService)) {
    const type = typeOf(object);
    const what = `${object.kind} ${object.metadata.name}`;
    try {
      const live = await kube.get(type, object.metadata);
      const would = await kube.apply(object, { type, fieldManager, force: true, dryRun: true });
      if (!isSame(live, would.object)) return `${what}: ${difference(live, would.object)}`;
    } catch (error) {
      if (!isObjectMissing(error)) throw error;
      return `${what} is missing`;
    }
  }
  return undefined;
}
