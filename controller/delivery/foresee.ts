import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { restartedAtAnnotation, templateAnnotation } from '../../constructs/labels.ts';
import type { Action } from '../database/action.ts';
import type { Leeway } from '../database/additions.ts';
import { blockerOf, credentialsMissing, deletionPending, nameTaken } from '../database/blocker.ts';
import { fieldManager, observedChild, type Child } from '../database/child.ts';
import { typeOf } from '../database/kinds.ts';
import { plan } from '../database/plan.ts';
import { restartsInWords, restartsOf, type Restarts } from '../database/restarts.ts';
import { isStatedBy, stateWithSecrets, type Stated } from '../database/stated.ts';
import { historyManifest, storedApplied, storedFights, storedHistory } from '../database/stored-history.ts';
import {
  contestsOf,
  deviations,
  fightsOf,
  differences,
  isAddition,
  isWithin,
  restorations,
  without,
  type Difference,
  type Drift,
  type FieldPath,
} from '../drift/index.ts';
import type { CallOptions, Kube, KubeObject } from '../kube/index.ts';
import type { Foreseen } from './foreseen.ts';
import { additionsAmong, hurdles } from './hurdle.ts';
import { LiveObjects } from './live-objects.ts';

/**
 * What would change if a database were brought to its spec now, in the order of application; changes nothing, for the API server is asked with
 * dry runs. That a rollout, a pause or a fight holds a change back for a time is left out: in the end it is made.
 *
 * @param resource as it is stored, or with another valid spec in it
 * @returns empty when nothing would change, and for what a GitOps tool applies
 * @throws KubeError when what is there cannot be read
 */
export async function foresee(
  kube: Kube,
  resource: StoredDatabaseService,
  { signal }: Pick<CallOptions, 'signal'> = {},
): Promise<readonly Foreseen[]> {
  if (resource.spec.delivery?.apply === false) return [];
  const objects = new LiveObjects(kube, signal);
  const live = await objects.labelled(resource);
  const children = new Map([...live].map(([key, object]) => [key, observedChild(object, undefined)]));
  const labelled = [...children.values()];
  const history = storedHistory(labelled, resource.metadata.name);
  const applied = storedApplied(labelled, resource.metadata.name);
  const contests = contestsOf(storedFights(labelled, resource.metadata.name), Infinity);
  const beside = { applied: applied.size === 0 ? undefined : applied, fights: fightsOf(contests) };
  const kept = history && historyManifest(resource, history, beside);
  const stated = stateWithSecrets(resource, kept === undefined ? [] : [kept]);
  for (const one of stated) {
    const found = live.has(one.key) ? undefined : await objects.named(one);
    if (found === undefined) continue;
    live.set(one.key, found);
    children.set(one.key, observedChild(found, undefined));
  }
  const databases = await objects.databases(resource);
  const actions = plan(
    {
      resource,
      isHeld: false,
      applied,
      children: labelled,
      find: (key) => children.get(key),
      states: (database, key) => isStatedBy(databases.get(database), key),
      known: new Set(),
      left: new Map(),
      restraint: () => undefined,
    },
    stated,
  );
  const seer = new Seer(kube, live, { resource, children }, signal);
  const foreseen: Foreseen[] = [];
  for (const action of actions) foreseen.push(...(await seer.outcomeOf(action)));
  return foreseen;
}

/** Changes with what the spec makes of the template, and not with what somebody else does to it. */
const templateDigest = `spec.template.metadata.annotations[${templateAnnotation}]`;
/** With another value members are made again from the same template. */
const restartedAt = `spec.template.metadata.annotations[${restartedAtAnnotation}]`;

/** Finds out what becomes of each action of a plan. */
class Seer {
  readonly #kube: Kube;
  readonly #live: ReadonlyMap<string, KubeObject>;
  readonly #leeway: Leeway;
  readonly #restarts: Restarts;
  readonly #signal: AbortSignal | undefined;

  constructor(
    kube: Kube,
    live: ReadonlyMap<string, KubeObject>,
    { resource, children }: { readonly resource: StoredDatabaseService; readonly children: ReadonlyMap<string, Child> },
    signal: AbortSignal | undefined,
  ) {
    this.#kube = kube;
    this.#live = live;
    this.#leeway = { resource, isHeld: false };
    this.#restarts = restartsOf(resource, [...children.values()]);
    this.#signal = signal;
  }

  async outcomeOf(action: Action): Promise<readonly Foreseen[]> {
    switch (action.kind) {
      case 'keep':
      case 'accept':
      case 'leave':
      case 'lack':
      case 'ignore':
        return [];
      case 'create':
        return [await this.#created(action.stated)];
      case 'apply':
        return this.#changed(action.stated, without(action.stated.object, action.yielded), action.drifts, action.taken);
      case 'verify':
        return this.#changed(action.stated, action.stated.object, [], []);
      case 'miss':
        return [failing(action.stated, credentialsMissing(action.stated).message)];
      case 'await':
        return [failing(action.stated, deletionPending(action.stated).message)];
      case 'refuse':
        return [failing(action.stated, nameTaken(action.stated, action.holder, action.isWatched).message)];
      case 'remove': {
        const { kind, name } = action.child;
        return [{ object: `${kind}/${name}`, action: 'remove', fields: [], why: undefined }];
      }
    }
  }

  async #created(stated: Stated): Promise<Foreseen> {
    // A Secret gets its values when it is made.
    const { object } = stated;
    const { would, error } = object.kind === 'Secret' ? { would: object } : await this.#tried(object);
    if (would === undefined) return failing(stated, blockerOf(error, nameOf(object), object).message);
    return { object: nameOf(object), action: 'create', fields: [], why: undefined };
  }

  async #changed(
    stated: Stated,
    applied: KubeObject,
    drifts: readonly Drift[],
    taken: readonly FieldPath[],
  ): Promise<readonly Foreseen[]> {
    const { key, object } = stated;
    const live = this.#live.get(key);
    if (live === undefined) return [];
    const { uid = '' } = live.metadata;
    const { would, error } = await this.#tried({ ...applied, metadata: { ...applied.metadata, uid } });
    const inTheWay = would === undefined ? hurdles(error, applied, live, this.#leeway) : [];
    if (would === undefined && taken.length === 0 && inTheWay.length === 0) {
      return [failing(stated, blockerOf(error, nameOf(object), object).message)];
    }
    // What others have is made ours before it is taken out or changed, which a dry run does not show: the port of another number, for example.
    const told = [...drifts, ...additionsAmong(inTheWay, live, drifts)];
    const removed = told.filter(isAddition).map(({ field, now }) => ({ field, was: now, now: undefined }));
    const fields = [...(would === undefined ? turned(applied, live, told) : differences(live, would)), ...removed];
    if (fields.length === 0) return [];
    return [{ object: nameOf(object), action: 'change', fields, why: undefined, restarts: this.#cost(object, fields) }];
  }

  #cost(object: KubeObject, fields: readonly Difference[]): string | undefined {
    const isOfSpec = fields.some(
      ({ field, now }) => field === templateDigest || (field === restartedAt && now !== undefined),
    );
    if (isOfSpec && this.#restarts.isManaged) return 'All members restart for that, replicas first.';
    return restartsInWords(
      fields.map(({ field }) => ({ object: nameOf(object), field })),
      this.#restarts,
      isOfSpec,
    );
  }

  /** @returns the object as it would be, or why it could not */
  async #tried(object: KubeObject): Promise<{ readonly would?: KubeObject; readonly error?: unknown }> {
    const options = { type: typeOf(object), fieldManager, force: true, dryRun: true, signal: this.#signal };
    try {
      return { would: (await this.#kube.apply(object, options)).object };
    } catch (error) {
      this.#signal?.throwIfAborted();
      return { error };
    }
  }
}

/** What becomes of an object, by what is told of it and by what it is stated to be, where the API server cannot be asked. */
function turned(stated: KubeObject, live: KubeObject, told: readonly Drift[]): readonly Difference[] {
  const back = told.filter((one) => !isAddition(one)).map(({ field, was, now }) => ({ field, was: now, now: was }));
  const rest = restorations(deviations(stated, live, fieldManager), live);
  return [...back, ...rest.filter(({ field }) => !told.some((one) => isWithin(field, one.field)))];
}

function failing({ object }: Stated, why: string): Foreseen {
  return { object: nameOf(object), action: 'fail', fields: [], why };
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind}/${metadata.name}`;
}
