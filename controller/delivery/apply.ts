import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { isIndependent, nameOf, type Action, type ActionOf } from '../database/action.ts';
import { blockerOf, claimDiffers, credentialsMissing, deletionPending, nameTaken } from '../database/blocker.ts';
import { fieldManager, observedChild, unstatedHash, type Child } from '../database/child.ts';
import type { Children } from '../database/children.ts';
import { takenAway } from '../database/claims.ts';
import type { ApplyDelivery, Outcome } from '../database/delivery.ts';
import { statefulSets, typeOf } from '../database/kinds.ts';
import { findChild } from '../database/lookups.ts';
import { wantedMembers } from '../database/observed-members.ts';
import { planOne, type Observed } from '../database/plan.ts';
import { withoutOwner, type Stated } from '../database/stated.ts';
import { handBack, statedTree, without, type Drift, type FieldPath } from '../drift/index.ts';
import { hasFacts } from '../health/facts.ts';
import { record } from '../health/fields.ts';
import {
  asSeen,
  classify,
  isObjectMissing,
  isOlder,
  type Clock,
  type Kube,
  type KubeObject,
  type Seen,
  type Verdict,
} from '../kube/index.ts';
import { Attempts } from './attempts.ts';
import { createOnly } from './create-only.ts';
import { createSecret } from './create-secret.ts';
import { additionsAmong, hurdles, isContradictory } from './hurdle.ts';
import { isSameState } from './same-state.ts';
import { takingOver, writeManagedFields } from './take-over.ts';
import { Tally } from './tally.ts';

/** Carries plans out by server-side apply. */
export class ClusterDelivery implements ApplyDelivery {
  readonly #kube: Kube;
  readonly #children: Children;
  readonly #clock: Clock;
  readonly #attempts: Attempts;

  /** @param clock a wall clock */
  constructor(kube: Kube, children: Children, clock: Clock) {
    this.#kube = kube;
    this.#children = children;
    this.#clock = clock;
    this.#attempts = new Attempts(clock);
  }

  /** One action after the other. After one that is blocked nothing new is made, but what was there before is still repaired. */
  async carryOut(actions: readonly Action[], observed: Observed, signal: AbortSignal): Promise<Outcome> {
    const tally = new Tally();
    for (const action of actions) {
      signal.throwIfAborted();
      if (tally.isOver) break;
      if (tally.blocker !== undefined && !isIndependent(action)) continue;
      try {
        await this.#carryOut(action, observed, tally, signal);
      } catch (error) {
        signal.throwIfAborted();
        const { class: errorClass } = classify(error);
        if (errorClass === 'retry-now') tally.outdated = error;
        // A claim cannot be given another size or class; it serves as it is, so what mounts it is made all the same.
        else if (isClaim(action) && errorClass === 'terminal') tally.remark(claimDiffers(action.stated));
        else tally.block(blockerOf(error, nameOf(action), 'stated' in action ? action.stated.object : undefined));
      }
    }
    return tally.finish();
  }

  async leave({ object }: Stated, live: KubeObject, isCurrent: boolean, signal: AbortSignal): Promise<KubeObject> {
    const back = handBack(live, fieldManager, withoutOwner(object), object);
    if (back === undefined || (back.hasRest && !isCurrent)) return live;
    if (!back.hasRest) return writeManagedFields(this.#kube, live, back.managedFields, signal);
    // The last apply takes out what only we have: the tool would never know of it.
    const { uid } = live.metadata;
    const body = { ...object, metadata: { ...object.metadata, ...(uid === undefined ? {} : { uid }) } };
    const options = { type: typeOf(object), fieldManager, force: true, signal };
    const cleared = (await this.#kube.apply(body, options)).object;
    const after = handBack(cleared, fieldManager, withoutOwner(object), object);
    return after === undefined ? cleared : writeManagedFields(this.#kube, cleared, after.managedFields, signal);
  }

  /** @param isSecondLook the object was read just now, since it was not as the watch had shown it */
  async #carryOut(
    action: Action,
    observed: Observed,
    tally: Tally,
    signal: AbortSignal,
    isSecondLook = false,
  ): Promise<void> {
    switch (action.kind) {
      case 'keep':
        return tally.make(action.stated, []);
      case 'create':
        return this.#create(action, observed, tally, signal);
      case 'apply':
      case 'verify':
        return this.#bringAsSeen(action, observed, tally, signal, isSecondLook);
      case 'accept':
        this.#children.accept(action.live, action.stated.hash);
        return tally.make(action.stated, []);
      case 'leave':
        if (action.live !== undefined) this.#children.accept(action.live, action.stated.hash, true);
        return tally.leave(action.stated, action.drifts);
      case 'lack':
      case 'miss':
        return this.#lookFor(action, observed, tally, signal);
      case 'await':
        tally.awaited.push(action.stated.key);
        return tally.block(deletionPending(action.stated));
      case 'refuse':
        tally.awaited.push(action.stated.key);
        tally.refuse(action.stated, action.drifts);
        return tally.block(nameTaken(action.stated, action.holder, action.isWatched));
      case 'remove':
        return this.#remove(action, observed, signal);
      case 'ignore':
        return this.#children.accept(action.live, unstatedHash);
    }
  }

  async #create(action: ActionOf<'create'>, observed: Observed, tally: Tally, signal: AbortSignal): Promise<void> {
    const { stated } = action;
    try {
      if (stated.object.kind === 'Secret') await this.#createSecret(stated, observed, signal);
      else await this.#apply(stated, { resourceVersion: createOnly }, signal);
      tally.make(stated, action.drifts);
    } catch (error) {
      const { kind } = classify(error);
      if (kind !== 'version-conflict' && kind !== 'already-exists') throw noted(error, action, tally);
      // Something has the name after all: it was not in our watch, since it lacks our label.
      const found = await findChild(this.#kube, stated, this.#children, signal);
      if (found === undefined) tally.outdated = error;
      else await this.#carryOut(planOne(observed, stated, found), observed, tally, signal);
    }
  }

  async #createSecret(stated: Stated, { resource }: Observed, signal: AbortSignal): Promise<void> {
    const created = await createSecret(this.#kube, stated, resource, this.#clock.now(), signal);
    if (stated.object.metadata.ownerReferences === undefined) this.#children.accept(created, stated.hash);
    else await this.#apply(stated, asSeen(created.metadata), signal);
  }

  /** Does what was decided for an object as it was seen. Where it has changed since, it is read and decided again, once. */
  async #bringAsSeen(
    action: ActionOf<'apply' | 'verify'>,
    observed: Observed,
    tally: Tally,
    signal: AbortSignal,
    isSecondLook: boolean,
  ): Promise<void> {
    try {
      if (action.kind === 'apply') await this.#repair(action, observed, tally, signal);
      else await this.#verify(action, tally, signal);
    } catch (error) {
      if (isSecondLook || classify(error).kind !== 'version-conflict') throw error;
      const found = await this.#newer(action, signal);
      // With its owner the database may have gone, which is asked before it is put back.
      const isOrphan = action.stated.object.metadata.ownerReferences !== undefined && found?.owner === undefined;
      if (found === undefined || isOrphan) throw error;
      await this.#carryOut(planOne(observed, action.stated, found), observed, tally, signal, true);
    }
  }

  /** As the watch has shown it since, or as it is. */
  async #newer(action: ActionOf<'apply' | 'verify'>, signal: AbortSignal): Promise<Child | undefined> {
    const { uid, resourceVersion } = action.kind === 'apply' ? action : asSeen(action.live.metadata);
    const known = this.#children.get(action.stated.key);
    const isNewer = known?.uid === uid && isOlder(resourceVersion, known.resourceVersion);
    return isNewer ? known : findChild(this.#kube, action.stated, this.#children, signal);
  }

  async #repair(action: ActionOf<'apply'>, observed: Observed, tally: Tally, signal: AbortSignal): Promise<void> {
    try {
      const removed = await this.#bring(action, observed, signal);
      tally.make(action.stated, [...action.drifts, ...removed], action.untold);
      if (action.contested !== undefined) tally.leave(action.stated, action.contested);
    } catch (error) {
      throw noted(error, action, tally);
    }
  }

  /**
   * Applies, after what has to go was made ours. What the server refuses because of something that others added is applied again without that.
   *
   * @returns what was removed for that
   */
  async #bring(action: ActionOf<'apply'>, observed: Observed, signal: AbortSignal): Promise<readonly Drift[]> {
    const { stated, uid, resourceVersion, taken, yielded, hasOldHands } = action;
    const kept = yielded.length === 0 ? stated : { ...stated, object: without(stated.object, yielded) };
    const { object } = kept;
    const isDrifted = action.contested !== undefined;
    const isBusy = action.live !== undefined && isStatusDue(action.live);
    const read = () => this.#kube.get(typeOf(object), object.metadata, { signal });
    const inherited = hasOldHands ? statedTree(object) : undefined;
    const take = (live: KubeObject, paths: readonly FieldPath[]) =>
      this.#attempts.once(stated, this.#children.get(stated.key), paths, () =>
        takingOver(
          this.#kube,
          live,
          { taken: paths, inherited },
          () => this.#apply(kept, { uid }, signal, isDrifted),
          signal,
        ),
      );
    try {
      if (taken.length === 0 && inherited === undefined)
        await this.#apply(kept, isBusy ? { uid } : { uid, resourceVersion }, signal, isDrifted);
      else await take(action.live ?? (await read()), taken);
      return [];
    } catch (error) {
      if (!isContradictory(error)) throw error;
      const live = await read();
      const inTheWay = hurdles(error, object, live, observed);
      if (inTheWay.length === 0) throw error;
      await take(live, [...taken, ...inTheWay.map(({ path }) => path)]);
      return additionsAmong(inTheWay, live, action.drifts);
    }
  }

  /** @param isDrifted something of it is left as others made it */
  async #apply({ object, hash }: Stated, guard: Partial<Seen>, signal: AbortSignal, isDrifted = false): Promise<void> {
    const body = { ...object, metadata: { ...object.metadata, ...guard } };
    // Nobody else holds anything of what was just made, so there is nothing more to be learned from it.
    const metadataOnly = guard.resourceVersion === createOnly && !hasFacts(object);
    const applied = await this.#kube.apply(body, {
      type: typeOf(object),
      fieldManager,
      force: true,
      metadataOnly,
      signal,
    });
    this.#children.accept(applied.object, hash, isDrifted);
  }

  async #verify({ stated, live }: ActionOf<'verify'>, tally: Tally, signal: AbortSignal): Promise<void> {
    const { object, hash } = stated;
    const seen = asSeen(live.metadata);
    const body = { ...object, metadata: { ...object.metadata, uid: seen.uid } };
    const options = { type: typeOf(object), fieldManager, force: true, dryRun: true, signal };
    const would = await this.#kube.apply(body, options);
    if (isSameState(would.object, live)) this.#children.accept(live, hash);
    else await this.#apply(stated, seen, signal);
    tally.make(stated, []);
  }

  /** What is not in our watch may only have lost its label. */
  async #lookFor(
    action: ActionOf<'lack' | 'miss'>,
    observed: Observed,
    tally: Tally,
    signal: AbortSignal,
  ): Promise<void> {
    const { stated } = action;
    const found = await findChild(this.#kube, stated, this.#children, signal);
    if (found !== undefined) {
      // Whoever puts a missing Secret back does as we asked, and need not know our labels.
      const child = action.kind === 'miss' ? { ...found, isMadeByUs: true } : found;
      return this.#carryOut(planOne(observed, stated, child), observed, tally, signal);
    }
    if (action.kind === 'lack') tally.leave(stated, action.drifts);
    else tally.block(credentialsMissing(stated));
  }

  async #remove({ child }: ActionOf<'remove'>, { resource }: Observed, signal: AbortSignal): Promise<void> {
    const { uid, resourceVersion, kind } = child;
    if (kind === 'PersistentVolumeClaim' && (await this.#isAskedFor(child, resource, signal))) return;
    const options = { uid, resourceVersion, propagationPolicy: 'Background', signal } as const;
    await this.#kube.delete(typeOf(child), child, options).catch((error) => {
      if (!isObjectMissing(error)) throw error;
    });
  }

  /** A claim may be seen before the change of the StatefulSet that it was made for. */
  async #isAskedFor(claim: Child, resource: StoredDatabaseService, signal: AbortSignal): Promise<boolean> {
    const { name, namespace } = resource.metadata;
    const set = await this.#kube.get(statefulSets, { name, namespace }, { signal }).catch((error: unknown) => {
      if (!isObjectMissing(error)) throw error;
      return undefined;
    });
    return set !== undefined && !takenAway(resource, wantedMembers([observedChild(set, undefined)], name))(claim);
  }
}

function isClaim(action: Action): action is ActionOf<'apply' | 'verify'> {
  return (action.kind === 'apply' || action.kind === 'verify') && action.stated.object.kind === 'PersistentVolumeClaim';
}

/**
 * Whether an object's own controller has yet to say in its status that it has seen the last change, as it does within milliseconds: a version that was
 * looked at before would then hold for no write.
 */
function isStatusDue({ metadata, status }: KubeObject): boolean {
  const { observedGeneration } = record(status);
  return typeof observedGeneration === 'number' && observedGeneration !== metadata.generation;
}

const notRefused: ReadonlySet<Verdict['kind']> = new Set([
  'network',
  'timeout',
  'namespace-terminating',
  'namespace-missing',
] as const);

/**
 * The error, after what was not put back for it is noted. What is looked at again at once is not known well enough to be told, where no answer came
 * nothing was refused, and in a namespace that goes nobody is accused.
 */
function noted(error: unknown, action: ActionOf<'apply' | 'create'>, tally: Tally): unknown {
  const { stated, drifts } = action;
  const contested = action.kind === 'apply' ? (action.contested ?? []) : [];
  const { class: errorClass, kind } = classify(error);
  if (errorClass !== 'retry-now' && !notRefused.has(kind)) tally.refuse(stated, [...drifts, ...contested]);
  return error;
}
