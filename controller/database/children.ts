import { isOlder, type KubeObject, type ObjectKey } from '../kube/index.ts';
import { Store } from '../runtime/store.ts';
import { childKey, observedChild, type Child } from './child.ts';
import { isDeepStrictEqual } from 'node:util';

/** The objects of all databases, as the watches and our own applies last showed them. */
export class Children {
  readonly #store = new Store<Child>((child) => [child.databaseKey]);
  readonly #changed: (databaseKey: string) => void;
  /** uids whose deletion was seen last: the answer to an earlier apply of ours must not bring them back. */
  readonly #gone = new Set<string>();

  /** @param changed called with the database whose object is new, gone, suspect, or healthier or sicker than before */
  constructor(changed: (databaseKey: string) => void) {
    this.#changed = changed;
  }

  get(key: string): Child | undefined {
    return this.#store.get(key);
  }

  of(databaseKey: string): readonly Child[] {
    return this.#store.byIndex(databaseKey);
  }

  get size(): number {
    return this.#store.size;
  }

  /** Takes an object from a watch. An older state than the known one, such as the echo of our own apply, is passed over. */
  upsert(object: KubeObject): void {
    const key = childKey(object);
    const before = this.#store.get(key);
    if (before !== undefined && isStale(object, before)) return;
    const child = observedChild(object, before);
    this.#store.set(key, child);
    if (before !== undefined && before.databaseKey !== child.databaseKey) this.#changed(before.databaseKey);
    if (before === undefined || child.suspect !== undefined || !isDeepStrictEqual(pulse(before), pulse(child))) {
      this.#changed(child.databaseKey);
    }
  }

  /** Takes a deletion from a watch, or that an object has lost its label. */
  delete(kind: string, key: ObjectKey): void {
    const child = this.#store.delete(`${kind}/${key}`);
    if (child === undefined) return;
    this.#remember(child.uid);
    this.#changed(child.databaseKey);
  }

  /**
   * Notes that a live object is what we state: the answer to an apply of ours, or an object that was compared. A state that a watch
   * showed since then stays, and stays suspect if it differs.
   */
  accept(object: KubeObject, statedHash: string): void {
    if (this.#gone.has(object.metadata.uid ?? '')) return;
    const key = childKey(object);
    const before = this.#store.get(key);
    const seen = before !== undefined && isStale(object, before) ? before : observedChild(object, before);
    const accepted = { fingerprint: observedChild(object, undefined).fingerprint, statedHash };
    const isTrue = seen.fingerprint === accepted.fingerprint;
    this.#store.set(key, { ...seen, accepted, suspect: isTrue ? undefined : seen.suspect });
  }

  /** Notes that the history of the server went back: versions seen before say nothing any more. */
  forgetVersions(): void {
    for (const key of this.#store.keys()) {
      const child = this.#store.get(key);
      if (child !== undefined) this.#store.set(key, { ...child, resourceVersion: '0' });
    }
    this.#gone.clear();
  }

  #remember(uid: string): void {
    this.#gone.add(uid);
    const [oldest] = this.#gone;
    if (this.#gone.size > 1024 && oldest !== undefined) this.#gone.delete(oldest);
  }
}

function isStale(object: KubeObject, known: Child): boolean {
  const version = object.metadata.resourceVersion ?? '';
  return (
    object.metadata.uid === known.uid && (version === known.resourceVersion || isOlder(version, known.resourceVersion))
  );
}

/** What a reconcile looks at beside the fields. */
function pulse({ isDeleting, facts, uid }: Child): unknown {
  return { isDeleting, facts, uid };
}
