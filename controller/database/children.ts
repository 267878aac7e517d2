import { isDeepStrictEqual } from 'node:util';
import { isOlder, keyOf, type KubeObject, type Listed, type ObjectKey } from '../kube/index.ts';
import type { Ended } from '../health/symptom.ts';
import { Store } from '../runtime/store.ts';
import { childKey, databaseKeyOf, holdersOf, lookOf, observedChild, watchedHash, type Child } from './child.ts';

/**
 * Why a database is to be looked at. `object`: one of its objects is new, gone, or not what was accepted. `health`: one is healthier or sicker;
 * such events come in bursts. `absence`: one was missing from a list, its deletion was not seen, or one has lost its owner; then the database may be gone
 * as well.
 */
export type Change = 'object' | 'health' | 'absence';

/** How a deletion became known. */
export interface Deletion {
  readonly uid: string;
  /** By the deletion's own event, and not only because a list lacks it. */
  readonly isSeen: boolean;
}

/** The objects of all databases, as the watches and our own writes last showed them. */
export class Children {
  readonly #store = new Store<Child>((child) => [child.databaseKey]);
  readonly #changed: (databaseKey: string, change: Change) => void;
  /** uids whose deletion was seen last: the answer to an earlier apply of ours must not bring them back. */
  readonly #gone = new Set<string>();
  /** How pods ended that nobody had deleted, by their keys, until one of the same name is ready. */
  readonly #ends = new Map<string, Ended>();
  /** The names that a database waits for, since something else has them. */
  readonly #awaited = new Map<string, ReadonlySet<string>>();

  constructor(changed: (databaseKey: string, change: Change) => void) {
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

  /**
   * Takes an object from a watch. A state from before our last write of it is passed over.
   * @param isInitial it was there at the start, where every database is looked at in any case. Defaults to false.
   */
  upsert(object: KubeObject, isInitial = false): void {
    const key = childKey(object);
    const before = this.#store.get(key);
    const isSame = before !== undefined && before.uid === object.metadata.uid;
    if (isSame && isOlder(object.metadata.resourceVersion, before.awaitedVersion)) return;
    this.#gone.delete(object.metadata.uid ?? '');
    const child = this.#withPredecessor(key, observedChild(object, before));
    this.#store.set(key, child);
    if (isInitial) return;
    if (before !== undefined && before.databaseKey !== child.databaseKey) this.#changed(before.databaseKey, 'object');
    // The garbage collector takes owners away where a database is deleted and what it owns is to stay.
    const isOrphan = before?.owner !== undefined && child.owner === undefined;
    if (child.suspect !== undefined) this.#changed(child.databaseKey, isOrphan ? 'absence' : 'object');
    else if (before === undefined || !isDeepStrictEqual(pulse(before), pulse(child))) {
      this.#changed(child.databaseKey, 'health');
    }
  }

  /** Takes a deletion from a watch, or that an object has lost its label. */
  delete(kind: string, key: ObjectKey, { uid, isSeen }: Deletion): void {
    const storeKey = `${kind}/${key}`;
    this.#remember(uid);
    const child = this.#store.get(storeKey);
    if (child !== undefined && child.uid === uid) {
      this.#store.delete(storeKey);
      this.#changed(child.databaseKey, isSeen ? 'object' : 'absence');
    }
    for (const [databaseKey, keys] of this.#awaited) if (keys.has(storeKey)) this.#changed(databaseKey, 'object');
  }

  /**
   * Takes a list that followed a watch that was cut off. What we have written meanwhile and is not in it has been deleted again, and no watch has
   * shown or will show either.
   *
   * @param namespace that was listed; undefined for all
   */
  listed(kind: string, namespace: string | undefined, { version, keys }: Listed): void {
    for (const storeKey of this.#store.keys()) {
      const child = this.#store.get(storeKey);
      if (child?.kind !== kind || child.awaitedVersion === undefined || version === undefined) continue;
      if (namespace !== undefined && child.namespace !== namespace) continue;
      if (isOlder(version, child.awaitedVersion) || keys.has(keyOf(child))) continue;
      this.delete(kind, keyOf(child), { uid: child.uid, isSeen: false });
    }
  }

  /**
   * Notes that a live object is what we state (the answer to an apply of ours, or an object that was compared), or, with `isDrifted`, that it is
   * not and is left as it is. A newer state that a watch showed since then stays; if it differs it stays suspect, or the database is woken.
   */
  accept(object: KubeObject, statedHash: string, isDrifted = false): void {
    const { uid = '', resourceVersion } = object.metadata;
    // Without our label no watch would ever tell of it again.
    if (this.#gone.has(uid) || databaseKeyOf(object) === undefined) return;
    const key = childKey(object);
    const before = this.#store.get(key);
    const now = observedChild(object, before);
    const isShown = before?.uid === uid && !isOlder(before.resourceVersion, resourceVersion);
    const seen = isShown ? before : { ...now, awaitedVersion: resourceVersion };
    const holders = holdersOf(now.foreign);
    const { generation } = now;
    // Where they are equal, the text that is there already.
    const fingerprint = seen.fingerprint === now.fingerprint ? seen.fingerprint : now.fingerprint;
    const look = statedHash === watchedHash ? lookOf(object) : undefined;
    const accepted = { fingerprint, statedHash, holders, generation, isDrifted, look };
    const isSame =
      look === undefined
        ? seen.fingerprint === fingerprint && seen.generation === generation && holdersOf(seen.foreign) === holders
        : seen.resourceVersion === resourceVersion;
    const suspect = isSame ? undefined : seen.suspect;
    this.#store.set(key, { ...seen, accepted, suspect });
    if (!isSame && suspect === undefined) this.#changed(seen.databaseKey, 'object');
  }

  /** The database is woken when one of these names becomes free; replaces what it waited for. */
  await(databaseKey: string, keys: readonly string[]): void {
    if (keys.length === 0) this.#awaited.delete(databaseKey);
    else this.#awaited.set(databaseKey, new Set(keys));
  }

  /** Forgets what was noted for a database that is gone. */
  forget(databaseKey: string): void {
    this.#awaited.delete(databaseKey);
    const prefix = `Pod/${databaseKey}-`;
    for (const key of this.#ends.keys()) {
      if (key.startsWith(prefix) && /^\d+$/.test(key.slice(prefix.length))) this.#ends.delete(key);
    }
  }

  /** Notes that the history of the server went back: that a version is older than our last write says nothing any more. */
  forgetVersions(kind: string): void {
    for (const key of this.#store.keys()) {
      const child = this.#store.get(key);
      if (child?.kind === kind) this.#store.set(key, { ...child, awaitedVersion: undefined });
    }
  }

  /** A pod that has ended is made anew within a moment; then nothing but this tells why. */
  #withPredecessor(key: string, child: Child): Child {
    const { facts, isDeleting } = child;
    if (facts.kind !== 'Pod') return child;
    if (facts.isReady) this.#ends.delete(key);
    else if (facts.symptom?.kind === 'ended' && !isDeleting) this.#ends.set(key, facts.symptom);
    return { ...child, predecessor: this.#ends.get(key) };
  }

  #remember(uid: string): void {
    this.#gone.add(uid);
    const [oldest] = this.#gone;
    if (this.#gone.size > 1024 && oldest !== undefined) this.#gone.delete(oldest);
  }
}

/** What a reconcile looks at beside the fields. */
function pulse({ isDeleting, facts, uid }: Child): unknown {
  return { isDeleting, uid, facts: facts.kind === 'Pod' ? { ...facts, position: undefined } : facts };
}
