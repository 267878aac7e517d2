import { isDeepStrictEqual } from 'node:util';
import { childKey, fieldManager } from '../../../controller/database/child.ts';
import { typeOf } from '../../../controller/database/kinds.ts';
import { stateWithSecrets } from '../../../controller/database/stated.ts';
import { contestRules, type Drift } from '../../../controller/drift/index.ts';
import { connect, isOlder, KubeError, type Connection, type KubeObject } from '../../../controller/kube/index.ts';
import { Shop } from '../database/shop.ts';
import { eventually } from '../running-plumbline.ts';
import { difference, isSame } from './content.ts';
import { besideIn, expectedAdditions, expectedDrifts, type Expected } from './expectation.ts';
import { mutated, type Mutation } from './mutations.ts';
import { Schema } from './schema.ts';
import { toldWords, wrongIn, wrongInMoved } from './verdict.ts';
import { authorOf, Writers, type Author, type Verb } from './writers.ts';

/** One live object with what is stated of it. */
export interface Specimen {
  readonly stated: KubeObject;
  readonly schema: Schema;
}

export type Outcome =
  /** All is as it has to be: the drift told with its editor and put back, or silence about what is not ours. */
  | 'drift'
  | 'no drift'
  /** Nothing to judge: the API server took no such edit, or it can't be written that way. */
  | 'refused'
  | 'inexpressible'
  /** Not as it has to be. */
  | 'missed'
  | 'false alarm'
  | 'wrong'
  | 'not repaired'
  /** The API server refuses what we state as long as the edit is there. */
  | 'held';

export interface Result {
  readonly outcome: Outcome;
  readonly words: string;
}

/** An edit that was made. */
interface Edited {
  readonly specimen: Specimen;
  readonly mutation: Mutation;
  readonly before: KubeObject;
  /** The server's answer to the edit. */
  readonly after: KubeObject;
  readonly author: Author;
}

const patienceMs = 60_000;

/** Where edits are made, and where what the controller says of them is heard. */
export class Bench implements AsyncDisposable {
  readonly shop: Shop;
  readonly #writers: Writers;
  readonly #connection: Connection;
  /** What the controller has told of each object since its last case. */
  readonly #told: Map<string, readonly Drift[]>;

  private constructor(shop: Shop, connection: Connection, told: Map<string, readonly Drift[]>) {
    this.shop = shop;
    this.#writers = new Writers(shop.kube, connection);
    this.#connection = connection;
    this.#told = told;
  }

  static async open(): Promise<Bench> {
    const told = new Map<string, readonly Drift[]>();
    const hear = (drift: Drift): void => void told.set(drift.object, [...(told.get(drift.object) ?? []), drift]);
    // So many edits of one field would be a fight, whoever makes them.
    const contest = { ...contestRules, flips: 10_000 };
    const shop = await Shop.open({ contest, onDrift: (_, drift) => hear(drift) });
    return new Bench(shop, await connect({ kubeconfig: shop.cluster.kubeconfig }), told);
  }

  /** What was told beyond all cases. */
  get unexpected(): readonly string[] {
    return [...this.#told.values()].flat().map((drift) => `${drift.object} ${toldWords(drift)}`);
  }

  async specimens(database: string): Promise<readonly Specimen[]> {
    const specimens: Specimen[] = [];
    for (const { object } of stateWithSecrets(await this.shop.resource(database))) {
      specimens.push({ stated: object, schema: await Schema.of(this.shop.kube, typeOf(object)) });
    }
    return specimens;
  }

  /** Makes one edit, waits for the controller's verdict, compares it with what the edit did, and leaves the object as it was. */
  async run(specimen: Specimen, mutation: Mutation, verb: Verb, number: number): Promise<Result> {
    const { stated, schema } = specimen;
    const author = authorOf(verb, number);
    for (;;) {
      const before = await this.#live(stated);
      const to = mutated(before, mutation);
      if (to === undefined || isDeepStrictEqual(to, before)) return { outcome: 'inexpressible', words: '' };
      const late = this.#told.get(nameOf(stated));
      if (late !== undefined)
        return { outcome: 'false alarm', words: `told late: ${late.map((one) => toldWords(one)).join()}` };
      try {
        const edit = { type: typeOf(stated), schema, from: before, to, author };
        const after = await this.#writers.write(verb, edit);
        if (after === undefined) return { outcome: 'inexpressible', words: '' };
        const result = await this.#judge({ specimen, mutation, before, after, author });
        await this.#restore(before, author, result.outcome === 'no drift');
        return result;
      } catch (error) {
        if (!(error instanceof KubeError) || error.status === undefined) throw error;
        // Its status was written meanwhile.
        if (error.status !== 409) return { outcome: 'refused', words: error.serverMessage };
      }
    }
  }

  async #judge(edited: Edited): Promise<Result> {
    const { specimen, mutation, before, after, author } = edited;
    const { stated, schema } = specimen;
    // Another spelling is no other value; but nobody else may own the field, so it is written again in silence.
    if (mutation.kind === 'respell') return this.#judgeSilence(edited, before);
    const changes = mutation.kind === 'wipe' ? wiped(stated) : expectedDrifts(stated, before, after, schema);
    const additions = expectedAdditions(stated, before, after, schema);
    const isMoved = mutation.kind === 'rekey' || mutation.kind === 'swap';
    const expected = isMoved ? changes : [...changes, ...additions];
    if (expected.length === 0) return this.#judgeSilence(edited, after);
    const told = await this.#untilTold(stated, expected.length);
    if (told === undefined) return this.#judgeNothing(edited, expected);
    // What others added stays.
    const isTrue = (live: KubeObject): boolean =>
      additions.length > 0 && mutation.kind !== 'swap'
        ? expectedDrifts(stated, before, live, schema).length === 0
        : isSame(live, before);
    const wrong = isMoved
      ? wrongInMoved(told, changes, mutation.kind === 'swap' ? besideIn(stated, mutation, schema) : additions, author)
      : wrongIn(told, expected, author);
    if (wrong !== undefined) return { outcome: 'wrong', words: wrong };
    const left = await this.#untilRepaired(before, isTrue);
    return left === undefined ? { outcome: 'drift', words: '' } : { outcome: 'not repaired', words: left };
  }

  /** Nothing of ours is another: the controller has to see the edit, and to say nothing. */
  async #judgeSilence({ specimen, after }: Edited, wanted: KubeObject): Promise<Result> {
    const { stated } = specimen;
    await this.#seen(after);
    const told = this.#told.get(nameOf(stated));
    if (told !== undefined) return { outcome: 'false alarm', words: told.map((one) => toldWords(one)).join('; ') };
    const live = await this.#live(stated);
    if (isSame(live, wanted)) return { outcome: 'no drift', words: '' };
    return { outcome: 'false alarm', words: `changed untold: ${difference(wanted, live)}` };
  }

  async #judgeNothing({ specimen: { stated } }: Edited, expected: readonly Expected[]): Promise<Result> {
    const told = this.#told.get(nameOf(stated))?.map((one) => toldWords(one)) ?? [];
    const words = `${expected.map(({ field }) => field).join(', ')}; told: ${told.join('; ')}`;
    const options = { type: typeOf(stated), fieldManager, force: true, dryRun: true };
    const refusal = await this.shop.kube.apply(stated, options).then(
      () => undefined,
      (error: unknown) => String(error),
    );
    return refusal === undefined ? { outcome: 'missed', words } : { outcome: 'held', words: `${words}; ${refusal}` };
  }

  async #untilTold(stated: KubeObject, count: number): Promise<readonly Drift[] | undefined> {
    const told = (): readonly Drift[] | undefined => {
      const found = this.#told.get(nameOf(stated)) ?? [];
      return found.length < count ? undefined : found;
    };
    return eventually('it is told', told, patienceMs).catch(() => undefined);
  }

  /** @returns what is not as it has to be */
  async #untilRepaired(before: KubeObject, isTrue: (live: KubeObject) => boolean): Promise<string | undefined> {
    let live = before;
    const check = async (): Promise<boolean> => {
      live = await this.#live(before);
      return isTrue(live);
    };
    const isRepaired = await eventually('it is repaired', check, patienceMs).catch(() => false);
    return isRepaired ? undefined : difference(before, live);
  }

  /** Undoes what the controller leaves alone, and forgets the author; then nothing more may be told. */
  async #restore(before: KubeObject, author: Author, isUntouched: boolean): Promise<void> {
    for (;;) {
      const live = await this.#live(before);
      const { resourceVersion = '', managedFields: entries = [] } = live.metadata;
      const others = entries.filter(({ manager }) => manager !== author.manager);
      const managedFields = isUntouched ? (before.metadata.managedFields ?? []) : others;
      const to = { ...before, metadata: { ...before.metadata, resourceVersion, managedFields } };
      try {
        await this.#seen(isSame(to, live) && others.length === entries.length ? live : await this.#put(to));
        this.#told.delete(nameOf(before));
        return;
      } catch (error) {
        if (!(error instanceof KubeError) || error.status !== 409) throw error;
      }
    }
  }

  #put(object: KubeObject): Promise<KubeObject> {
    return this.#writers.put(typeOf(object), object, 'restorer');
  }

  /** Waits until the controller has seen this state of an object, and has nothing more to do about it. */
  async #seen(object: KubeObject): Promise<void> {
    const isSeen = (): boolean => {
      const child = this.shop.running.plumbline.children.get(childKey(object));
      if (child === undefined || child.suspect !== undefined) return false;
      return !isOlder(child.resourceVersion, object.metadata.resourceVersion);
    };
    await eventually('it is seen', isSeen, patienceMs);
  }

  async #live(object: KubeObject): Promise<KubeObject> {
    return this.shop.kube.get(typeOf(object), object.metadata);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.shop[Symbol.asyncDispose]();
    await this.#connection.close();
  }
}

/** Nobody applies Secrets, so nothing of them is owned but what others gave away. */
function wiped({ kind }: KubeObject): readonly Expected[] {
  if (kind === 'Secret') return [];
  return [{ field: 'metadata.managedFields', kind: 'removed', was: undefined, now: undefined }];
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind}/${metadata.name}`;
}
