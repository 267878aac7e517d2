import { keyOf, type KubeObject, type ObjectKey } from './resource.ts';

/** What is remembered of an object: enough to see that it was deleted, replaced or changed. */
export interface Known {
  readonly uid: string;
  readonly resourceVersion: string;
}

/** The objects that a reflector has told its handler of. */
export class KnownObjects {
  readonly #byKey = new Map<ObjectKey, Known>();

  get size(): number {
    return this.#byKey.size;
  }

  get(key: ObjectKey): Known | undefined {
    return this.#byKey.get(key);
  }

  set(key: ObjectKey, known: Known): void {
    this.#byKey.set(key, known);
  }

  delete(key: ObjectKey): void {
    this.#byKey.delete(key);
  }

  keysMissingFrom(present: ReadonlySet<ObjectKey>): readonly ObjectKey[] {
    return [...this.#byKey.keys()].filter((key) => !present.has(key));
  }
}

export function identityOf({ metadata }: KubeObject): Known & { readonly key: ObjectKey } {
  return { key: keyOf(metadata), uid: metadata.uid ?? '', resourceVersion: metadata.resourceVersion ?? '' };
}
