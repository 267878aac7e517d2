import { restartedAtAnnotation } from '../../constructs/labels.ts';
import { claimName, ordinals } from '../../constructs/names.ts';
import {
  additionOf,
  appliedEntry,
  covers,
  creation,
  deletion,
  deviations,
  disclosed,
  drifts,
  field as fieldStep,
  foreignFields,
  hiddenValue,
  isForeign,
  isWiped,
  isWithin,
  moves,
  readable,
  statedTree,
  valueAt,
  withOrphans,
  type Deviation,
  type Drift,
  type Foreign,
} from '../drift/index.ts';
import type { KubeObject } from '../kube/index.ts';
import type { Action, ActionOf } from './action.ts';
import { additionsTo, isAllowed, replicas, type Leeway } from './additions.ts';
import { certificateSecrets } from './certificates.ts';
import type { Applied } from './applied.ts';
import { fieldManager, keyOfChild, unstatedHash, watchedHash, type Child } from './child.ts';
import { stateClaims, takenAway } from './claims.ts';
import { hasLostCredentials, wasSettled } from './conditions.ts';
import { holderOf, isAnothers } from './holder.ts';
import { isRemovable } from './kinds.ts';
import { wantedMembers } from './observed-members.ts';
import { contestsIn, isFightForAll, isFoughtOver, type Restraint } from './restraint.ts';
import type { Stated } from './stated.ts';

export interface Observed extends Leeway {
  /** The objects that bear the label of the database. */
  readonly children: readonly Child[];
  /** The object of a key, whatever database its label names. */
  readonly find: (key: string) => Child | undefined;
  /** Whether there is a DatabaseService of a `namespace/name` that states an object of a key. */
  readonly states: (databaseKey: string, key: string) => boolean;
  /** Keys of what we have found or made true before, so that their absence is a deletion. */
  readonly known: ReadonlySet<string>;
  /** What was applied last, as far as that is to be known after a restart. */
  readonly applied: Applied;
  /** What drift.policy Report left as it was, by key. */
  readonly left: ReadonlyMap<string, readonly Drift[]>;
  /** Why drift of the object of a key is left for a time. */
  readonly restraint: (key: string) => Restraint | undefined;
}

/** Nothing to compare: the spec was settled, every object is there (whatever database its label names), and none is suspect. */
export function isSettled(observed: Observed, settledGeneration: number | undefined): boolean {
  const { resource, children, find, known, left } = observed;
  if (settledGeneration !== resource.metadata.generation) return false;
  if (children.some(({ suspect }) => suspect !== undefined)) return false;
  if ([...left.keys()].some((key) => !isReport(observed, key))) return false;
  if (stateClaims(resource, children).some(({ key }) => !known.has(key))) return false;
  const isTakenAway = takenAway(resource, wantedMembers(children, resource.metadata.name));
  if (children.some((child) => !child.isDeleting && isTakenAway(child))) return false;
  return [...known].every((key) => {
    const child = find(key);
    if (child === undefined) return left.has(key);
    return isAsAccepted(child) && unwanted(observed, child).length === 0;
  });
}

/** A newer state than the one that our answer was about may have come before it. */
function isAsAccepted({ suspect, accepted, fingerprint }: Child): boolean {
  return suspect === undefined && accepted?.fingerprint === fingerprint;
}

/** Compares what is stated with what is observed. Pure; the order is the order of application, then what is not stated. */
export function plan(observed: Observed, rendered: readonly Stated[]): readonly Action[] {
  const stated = [...rendered, ...stateClaims(observed.resource, observed.children)];
  const wanted = new Set(stated.map(({ key }) => key));
  const { resource, children } = observed;
  const others = children.filter((child) => !wanted.has(keyOfChild(child)));
  const isTakenAway = takenAway(resource, wantedMembers(children, resource.metadata.name));
  return [
    ...stated.map((one) => planOne(observed, one, observed.find(one.key))),
    ...others.flatMap((child) => notStated(child, observed, isTakenAway(child))),
  ];
}

/** The action for one object that is stated. */
export function planOne(observed: Observed, stated: Stated, child: Child | undefined): Action {
  if (child === undefined) return absent(observed, stated);
  const holder = holderOf(child, observed.resource, observed.states);
  if (holder !== undefined) {
    return {
      kind: 'refuse',
      stated,
      holder,
      drifts: lost(observed, stated, child),
      isWatched: child.databaseKey !== '',
    };
  }
  if (child.isDeleting) return { kind: 'await', stated };
  if (child.suspect !== undefined) return judge(observed, stated, child, child.suspect);
  const { accepted } = child;
  const isSame = accepted?.statedHash === stated.hash && accepted.fingerprint === child.fingerprint;
  const added = unwantedIn(observed, stated, child);
  // Of what a GitOps tool applied until now nothing was ever ours to lend.
  const withdrawn = wasAnothers(accepted) ? [] : withdrawnFrom(observed, stated, child);
  if (isSame && !accepted.isDrifted && added.length + withdrawn.length === 0) return { kind: 'keep', stated };
  const left = observed.left.get(stated.key) ?? [];
  const drifts = [...left, ...withdrawn.filter((one) => !left.some(({ field }) => field === one.field))];
  if (isSame && isReport(observed, stated.key)) return { kind: 'leave', stated, live: undefined, drifts };
  // What was left as it was is put back when drift.policy becomes Correct.
  return apply(observed, stated, child, { isRepair: isSame, drifts });
}

function wasAnothers(accepted: Child['accepted']): boolean {
  return accepted?.statedHash === unstatedHash || accepted?.statedHash === watchedHash;
}

/** Why an object is applied. */
interface Reasons extends Pick<ActionOf<'apply'>, 'isRepair' | 'drifts'> {
  readonly moved?: readonly Foreign[];
  readonly untold?: readonly Drift[];
  readonly contested?: ActionOf<'apply'>['contested'];
  /** What is left for that. */
  readonly rest?: readonly Deviation[];
}

/** The object is applied, without what others may have or fight for, and what they added is taken out. */
function apply(
  observed: Observed,
  stated: Stated,
  child: Child,
  { isRepair, drifts, moved = [], untold = [], contested, rest = [] }: Reasons,
): Action {
  const added = unwantedIn(observed, stated, child).filter(({ path }) => !moved.some((one) => one.path === path));
  const told = [...drifts, ...added.map(({ drift }) => drift)];
  const taken = [...added, ...moved].map(({ path }) => path);
  const yielded = [...yieldedOf(child, observed), ...rest].map(({ path }) => path);
  const { uid, resourceVersion, hasOldHands, suspect: live } = child;
  const seen = { uid, resourceVersion, hasOldHands, live };
  return { kind: 'apply', stated, ...seen, isRepair, drifts: told, taken, yielded, contested, untold };
}

/** What others added and is to go, but for what the spec has come to state. */
function unwantedIn(observed: Observed, { object }: Stated, child: Child): ReturnType<typeof unwanted> {
  const added = unwanted(observed, child);
  if (added.length === 0) return added;
  const tree = statedTree(object);
  return added.filter(({ path }) => !covers(tree, path));
}

/** What others added and is to go. */
function unwanted(observed: Observed, child: Child): ReturnType<typeof additionsTo> {
  const { resource, left } = observed;
  if (child.foreign.length === 0 || resource.spec.drift?.additions !== 'Remove') return [];
  if (isReport(observed, keyOfChild(child))) return [];
  return additionsTo(child, observed, left.get(keyOfChild(child)));
}

/** What others may have. How many members there are also says which claims go with `storage.onDelete: Delete`: that is not for an allowed manager. */
function yieldedOf({ foreign }: Child, { resource, isHeld }: Leeway): Child['foreign'] {
  const isOurs = resource.spec.storage.onDelete === 'Delete' && !isHeld;
  return foreign.filter((one) => {
    const isSpec = isWithin(readable(one.path), 'spec');
    return isSpec && isAllowed({ resource, isHeld }, one) && !(isOurs && readable(one.path) === replicas);
  });
}

/** What somebody was let have and is no longer: a manager was taken off the list, or there may be fewer members again. Nobody was told before. */
function withdrawnFrom(observed: Observed, { object }: Stated, { foreign }: Child): readonly Drift[] {
  const held = foreign.filter((one) => !isAllowed(observed, one));
  if (held.length === 0) return [];
  const tree = statedTree(object);
  return held
    .filter(({ path }) => covers(tree, path))
    .map((one) => {
      const name = `${object.kind}/${object.metadata.name}`;
      return { ...additionOf(name, one), was: disclosed(object.kind, one.path)(valueAt(object, one.path)) };
    })
    .filter(({ was, now }) => was !== now || was === hiddenValue);
}

/** What somebody did to ours, that something else has it: another owner was given to it, or it was deleted and something else has the name. */
function lost({ known, resource }: Observed, stated: Stated, child: Child): readonly Drift[] {
  if (!known.has(stated.key) && !wasSettled(resource)) return [];
  const { suspect, databaseKey } = child;
  const { name, namespace } = resource.metadata;
  const isSameObject = suspect !== undefined && databaseKey === `${namespace}/${name}` && !isNeverOurs(child, suspect);
  if (isSameObject) return drifts(differences(stated, suspect), suspect, fieldManager);
  const isAnother = suspect !== undefined && isNeverOurs(child, suspect);
  return [gone(stated), ...(isAnother ? creation(suspect) : [])];
}

function absent(observed: Observed, stated: Stated): Action {
  const { kind, metadata } = stated.object;
  const isKnown = observed.known.has(stated.key);
  const wasThere = isKnown || wasSettled(observed.resource) || observed.applied.has(stated.key);
  const isInUse = arePasswordsInUse(observed, wasThere || hasLostCredentials(observed.resource));
  const { certificate, authority } = certificateSecrets(observed.resource);
  const isPassword = kind === 'Secret' && metadata.name !== certificate && metadata.name !== authority;
  if (isPassword && isInUse) return { kind: 'miss', stated };
  const drifts = wasThere ? [gone(stated)] : [];
  if (wasThere && isReport(observed, stated.key)) return { kind: 'lack', stated, drifts };
  return { kind: 'create', stated, drifts };
}

function gone({ object }: Stated): Drift {
  return deletion(object.kind, object.metadata.name);
}

/**
 * Whether new passwords would not fit: a claim holds data, or the Secret was there and members have been made with it. Members and claims alone,
 * as a GitOps tool makes them, say nothing: they cannot start before there is a Secret.
 */
function arePasswordsInUse({ children, resource }: Observed, wasThere: boolean): boolean {
  const database = resource.metadata.name;
  const claims = new Set(ordinals.map((ordinal) => claimName(database, ordinal)));
  return children.some(({ name, facts }) => {
    if (facts.kind === 'StatefulSet') return wasThere && name === database;
    return facts.kind === 'PersistentVolumeClaim' && claims.has(name) && (wasThere || facts.hasData);
  });
}

function judge(observed: Observed, stated: Stated, shown: Child, live: KubeObject): Action {
  const child = isWiped(live, fieldManager) ? { ...shown, foreign: orphansIn(live, stated) } : shown;
  const { resource } = observed;
  const yielded = yieldedOf(child, observed).map(({ path }) => readable(path));
  const found = differences(stated, live).filter(({ path }) => !yielded.some((one) => isWithin(readable(path), one)));
  const { accepted } = child;
  if (found.length === 0) {
    const isClean = unwantedIn(observed, stated, child).length === 0;
    return isClean ? { kind: 'accept', stated, live } : apply(observed, stated, child, { isRepair: true, drifts: [] });
  }
  // As long as it could not be put back, what was told of it stays true.
  const wasJudged = observed.left.get(stated.key)?.some(({ field }) => field !== '') === true;
  // After a restart nobody remembers what was stated; the status says whether it was this generation.
  const before = accepted?.statedHash ?? observed.applied.get(stated.key);
  const wasStated = before === undefined ? wasSettled(resource) : before === stated.hash;
  const isSame = wasStated || (wasJudged && accepted === undefined);
  const isAnother = isNeverOurs(child, live);
  const isReplaced = isAnother && wasReplaced(observed, stated, live);
  // Nobody remembers one of ours: it is taken over, and what others did to it before is no drift.
  const isNews = isAnother && !isReplaced && !wasJudged && !isSame;
  const isOurs = found.every(isOurTurn);
  if (isOurs && accepted === undefined && !isNews) return { kind: 'verify', stated, live };
  // Where the status alone tells what was stated, a value of ours that is another by now tells that something else was.
  const isSure = before !== undefined || !found.some(isOurTurn);
  const contests = contestsIn(observed.restraint(stated.key));
  const isContested = contests.length > 0;
  const mayLeave = !isNews && isLeft(found, { isSame, isSure: before !== undefined, isContested });
  const rest = mayLeave ? restIn(found, observed, stated, isReplaced || child.hasOldHands) : [];
  const isWhole = rest.length === found.length;
  const free = isWhole ? found : found.filter((one) => !rest.includes(one));
  const news = foreignOf(free, isSame && isSure);
  const moved = isNews ? new Map<Deviation, Foreign>() : movesIn(news, live, child, observed);
  const foreign = isNews
    ? []
    : isReplaced
      ? [gone(stated), ...madeIn(news, live, moved)]
      : drifts(news, live, fieldManager, moved);
  if (isWhole) return { kind: 'leave', stated, live, drifts: foreign };
  const untold = isSame && accepted !== undefined && foreign.length === 0 ? untoldIn(free, live) : [];
  const isFought = untold.some(({ field }) => isFoughtOver(contests, field));
  if (isOurs && isFought) return { kind: 'leave', stated, live, drifts: untold };
  return apply(observed, stated, child, {
    isRepair: isSame,
    drifts: foreign,
    moved: [...moved.values()],
    untold,
    contested: rest.length === 0 ? undefined : drifts(foreignOf(rest, isSame && isSure), live, fieldManager),
    rest,
  });
}

/**
 * Of what deviates, what is to stay as it is for now: all of it where drift is only reported, otherwise what others fight about, with all of the
 * object where that cannot be left out.
 */
function restIn(
  found: readonly Deviation[],
  { resource, restraint }: Observed,
  { key }: Stated,
  isInseparable: boolean,
): readonly Deviation[] {
  const why = restraint(key);
  if (resource.spec.drift?.policy === 'Report' || why?.kind === 'paused') return found;
  if (why === undefined) return [];
  if (isFightForAll(why.contests)) return found;
  const fought = found.filter(({ path }) => isFoughtOver(why.contests, readable(path)));
  return fought.every((one) => !isInseparable && canBeLeftOut(one)) ? fought : found;
}

/** Whether an apply without it leaves it as it is: what is ours would be removed, and of a set nothing is left out. */
function canBeLeftOut(one: Deviation): boolean {
  return (isForeign(one) || one.kind === 'unowned') && one.path.at(-1)?.startsWith('v:') !== true;
}

/** Of a Secret, nothing tells. What is left as somebody made it may be another object too. */
function isNeverOurs({ accepted }: Child, live: KubeObject): boolean {
  return accepted?.isDrifted !== false && live.kind !== 'Secret' && appliedEntry(live, fieldManager) === undefined;
}

/** Nothing went to somebody else, and yet there are other values: they were applied under our name. Or the values are ours, and the fields are not. */
function untoldIn(found: readonly Deviation[], live: KubeObject): readonly Drift[] {
  const as = (kind: Deviation['kind']) =>
    drifts(
      found.filter((one) => one.kind === kind).map((one) => ({ ...one, kind: 'changed' as const })),
      live,
      fieldManager,
    );
  const editor = { manager: fieldManager, operation: 'Apply', time: appliedEntry(live, fieldManager)?.time };
  const namesakes = as('pending').map((drift) => ({ ...drift, editor }));
  return namesakes.length > 0 ? namesakes : as('unowned').map((drift) => ({ ...drift, now: undefined }));
}

/** What others added, though managedFields do not tell any more. */
function orphansIn(live: KubeObject, { object }: Stated): readonly Foreign[] {
  if (object.kind === 'Secret') return [];
  return foreignFields(withOrphans(live, fieldManager, statedTree(object)), fieldManager);
}

/** What an allowed manager has under another key is his. */
function movesIn(
  found: readonly Deviation[],
  live: KubeObject,
  { foreign }: Child,
  leeway: Leeway,
): ReadonlyMap<Deviation, Foreign> {
  const candidates = foreign.filter((one) => !isAllowed(leeway, one));
  return candidates.length === 0 ? new Map() : moves(found, live, candidates);
}

/**
 * Whether ours had the name of an object that we never applied, and was deleted. As long as it could not be put back, what was told of it stays true.
 * After a restart the status says when ours was there last.
 */
function wasReplaced({ known, left, resource }: Observed, { key, object }: Stated, live: KubeObject): boolean {
  const told = left.get(key);
  if (told !== undefined) return told.some(({ field }) => field === '');
  if (known.has(key)) return true;
  const { status } = resource;
  if (!wasSettled(resource)) return false;
  const name = `${object.kind}/${object.metadata.name}`;
  const receipts = (status?.drift?.receipts ?? []).filter((one) => one.object === name);
  const end = receipts.findIndex(({ action }) => action === 'Corrected');
  const isToldAsGone = receipts.slice(0, end < 0 ? undefined : end).some(({ field }) => field === '');
  return (
    isToldAsGone || Date.parse(live.metadata.creationTimestamp ?? '') > Date.parse(status?.lastReconcileTime ?? '')
  );
}

/** What is another in an object that somebody made in the place of ours, by whom; where nothing is, who made it. What it lacks, nobody removed. */
function madeIn(
  found: readonly Deviation[],
  live: KubeObject,
  moved: ReadonlyMap<Deviation, Foreign>,
): readonly Drift[] {
  const others = found.filter((one) => one.kind === 'changed' || moved.has(one));
  return others.length === 0 ? creation(live) : drifts(others, live, fieldManager, moved);
}

/** It is ours to bring to what we state now. That a restart is asked for comes without another generation. */
function isOurTurn({ kind, path }: Deviation): boolean {
  return kind === 'pending' || kind === 'extra' || path.at(-1) === restartedAt;
}

const restartedAt = fieldStep(restartedAtAnnotation);

/** What was not stated before, nobody can have removed. */
function foreignOf(found: readonly Deviation[], isSame: boolean): readonly Deviation[] {
  return isSame ? found : found.filter(({ kind }) => kind !== 'removed');
}

/**
 * What drift.policy Report leaves as it is: values that others changed. A change of the spec applies the objects that it concerns as a whole.
 * That fields are not ours though their values are right is mended in any case, unless it is done again and again: it changes no value, and a
 * field that is not ours could be changed unseen.
 *
 * @param isSure whether it is known what was stated before
 */
function isLeft(
  found: readonly Deviation[],
  {
    isSame,
    isSure,
    isContested,
  }: { readonly isSame: boolean; readonly isSure: boolean; readonly isContested: boolean },
): boolean {
  const isAnybodys = found.some((one) => isForeign(one) || (isContested && one.kind === 'unowned'));
  const isAllForeign = found.every(({ kind }) => kind === 'changed' || kind === 'unowned');
  return isAnybodys && (isSame || (isAllForeign && !isSure));
}

/** Of a Secret, values count and not who holds them, for it is not applied but created. */
function differences(stated: Stated, live: KubeObject): readonly Deviation[] {
  const found = deviations(stated.object, live, fieldManager);
  return live.kind === 'Secret' ? found.filter(({ kind }) => kind !== 'unowned' && kind !== 'pending') : found;
}

/** Whether drift of the object of a key is only reported. */
function isReport({ resource, restraint }: Observed, key: string): boolean {
  return resource.spec.drift?.policy === 'Report' || restraint(key) !== undefined;
}

/** What a spec no longer asks for is removed, if it is ours and holds no data, or if the spec says that the data goes too. Of what else bears our label, nothing is to be remembered. */
function notStated(child: Child, { resource, states }: Observed, isTakenAway: boolean): readonly Action[] {
  const isOurs = child.owner?.uid === resource.metadata.uid;
  const isToGo = (isOurs && isRemovable(child.kind)) || isTakenAway;
  if (isToGo && !child.isDeleting) return [{ kind: 'remove', child }];
  const isForUs = child.suspect !== undefined && !isAnothers(child, resource, states);
  return isForUs ? [{ kind: 'ignore', child, live: child.suspect }] : [];
}
