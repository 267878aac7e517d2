import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { databaseLabel } from '../../constructs/labels.ts';
import { childKey } from '../database/child.ts';
import { databaseServices, typeOf, watchedKinds } from '../database/kinds.ts';
import type { Stated } from '../database/stated.ts';
import { isObjectMissing, keyOf, type Kube, type KubeObject } from '../kube/index.ts';

/** Reads what the watches of a controller would show of one database. */
export class LiveObjects {
  readonly #kube: Kube;
  readonly #signal: AbortSignal | undefined;

  constructor(kube: Kube, signal: AbortSignal | undefined) {
    this.#kube = kube;
    this.#signal = signal;
  }

  /** What bears the label of a database, by key; of Secrets the metadata. @throws KubeError */
  async labelled({ metadata }: StoredDatabaseService): Promise<Map<string, KubeObject>> {
    const found = new Map<string, KubeObject>();
    const { namespace, name } = metadata;
    for (const { type, metadataOnly } of watchedKinds) {
      const labelSelector = `${databaseLabel}=${name}`;
      const options = { namespace, labelSelector, metadataOnly, signal: this.#signal };
      for await (const { items } of this.#kube.list(type, options)) {
        for (const object of items) found.set(childKey(object), object);
      }
    }
    return found;
  }

  /** What has the name of something stated, whatever its labels; undefined when nothing has. @throws KubeError */
  async named({ object }: Stated): Promise<KubeObject | undefined> {
    try {
      const options = { metadataOnly: object.kind === 'Secret', signal: this.#signal };
      return await this.#kube.get(typeOf(object), object.metadata, options);
    } catch (error) {
      if (!isObjectMissing(error)) throw error;
      return undefined;
    }
  }

  /** The databases beside this one, by `namespace/name`. @throws KubeError */
  async databases({ metadata }: StoredDatabaseService): Promise<ReadonlyMap<string, StoredDatabaseService>> {
    const found = new Map<string, StoredDatabaseService>();
    const options = { namespace: metadata.namespace, signal: this.#signal };
    for await (const { items } of this.#kube.list(databaseServices, options)) {
      for (const item of items) found.set(keyOf(item.metadata), item as unknown as StoredDatabaseService);
    }
    return found;
  }
}
