import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import type { DatabaseServiceStatus } from '../../constructs/api/status.ts';
import { classify, type Kube } from '../kube/index.ts';
import type { Databases } from './databases.ts';
import { databaseServices } from './kinds.ts';
import { isStatus, strays } from './status.ts';

/** Field manager of the status: nothing else is ever written to the user's object. */
export const statusManager = 'plumbline-status';

/** Writes statuses. */
export class StatusWriter {
  readonly #kube: Kube;
  readonly #databases: Databases;

  constructor(kube: Kube, databases: Databases) {
    this.#kube = kube;
    this.#databases = databases;
  }

  /**
   * Writes the status unless the object has it already, and only over the object as it was seen. A database that is gone needs none.
   *
   * @throws KubeError, of kind `version-conflict` where somebody has written since
   */
  async write(resource: StoredDatabaseService, status: DatabaseServiceStatus, signal: AbortSignal): Promise<void> {
    if (isStatus(status, resource.status)) return;
    try {
      await this.#write(resource, status, signal);
    } catch (error) {
      if (!goneKinds.has(classify(error).kind)) throw error;
    }
  }

  async #write(resource: StoredDatabaseService, status: DatabaseServiceStatus, signal: AbortSignal): Promise<void> {
    const { apiVersion, kind } = resource;
    const { name, namespace, uid, resourceVersion } = resource.metadata;
    const body = { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion }, status };
    const type = databaseServices;
    const options = { type, subresource: 'status', fieldManager: statusManager, force: true, signal };
    const { object } = await this.#kube.apply(body, options);
    this.#databases.written(object);
    const foreign = strays(status, object['status'] as DatabaseServiceStatus | undefined);
    if (foreign.length === 0) return;
    const emptied = Object.fromEntries(foreign.map((field) => [field, null]));
    const patch = { metadata: { uid, resourceVersion: object.metadata.resourceVersion }, status: emptied };
    const options2 = { kind: 'merge', body: patch, fieldManager: statusManager, subresource: 'status' } as const;
    this.#databases.written(await this.#kube.patch(type, { name, namespace }, options2, { signal }));
  }
}

const goneKinds: ReadonlySet<string> = new Set(['object-missing', 'object-gone', 'object-replaced']);
