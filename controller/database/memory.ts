import type { DatabaseServiceStatus } from '../../constructs/api/status.ts';
import type { Contests, Drift } from '../drift/index.ts';
import type { History, Switchover } from '../rollout/index.ts';
import type { Applied } from './applied.ts';
import { noAdvances, type Advances } from './advances.ts';
import type { Blocker } from './blocker.ts';
import type { Comparison } from './comparison.ts';
import type { Inquiry } from './complaints.ts';
import { noRevisions, type Revisions } from './revisions.ts';
import type { PlannedAbsence } from './planned-absence.ts';
import type { KnownSlots } from './slot-news.ts';

/** Changes by others that no status tells of yet. */
export interface Untold {
  readonly corrected: readonly Told[];
  readonly reported: readonly Told[];
}

/** A change by somebody else, and what it costs to put it back, in a sentence; undefined where it concerns no pod. */
export interface Told extends Drift {
  readonly cost?: string | undefined;
}

/** What is remembered of a database beside its object; gone with the process, so nothing depends on it but cost and politeness. */
export interface Memory {
  /** uid of the object that this is about. */
  readonly uid: string;
  /** Keys of the objects that were found or made true, so that their absence is a deletion. */
  known: ReadonlySet<string>;
  /** The generation whose manifests were all found or made true; undefined while something is left to do. */
  settledGeneration: number | undefined;
  /** The generation whose manifests were all found or made true at some time, by this process or, as the status says, by one before. */
  wholeGeneration: number | undefined;
  /** What was delivered for it: the same generation is delivered differently while a rollout goes on. */
  delivered: string | undefined;
  /** What was applied last; undefined before what an earlier controller kept was looked for. */
  applied: Applied | undefined;
  /** How what a GitOps tool applies compares with what is rendered; empty where we apply. */
  compared: Comparison;
  /** The commit that brought the revision of a digest, where Git alone is delivered to. */
  brought: { readonly digest: string; readonly commit: string } | undefined;
  /** What the database ran on before, as it stands or is to stand in its ConfigMap; undefined before it was looked for. */
  history: History | undefined;
  /** Revisions of the template, by name, and whether somebody else had changed it. */
  revisions: Revisions;
  /** A switchover that was asked for and has not been seen to happen. */
  switchover: Switchover | undefined;
  /** Who is missing because a rollout has it so; undefined once that one is back. */
  absence: PlannedAbsence | undefined;
  /** The logical slots of the members, and who led, when that was looked at last; undefined before. */
  slots: KnownSlots | undefined;
  /** Which switchover was told to wait for a logical slot. */
  heldSwitchover: string | undefined;
  /** How far the members have come: what is on their pods does not tell since when they stand still. */
  advances: Advances;
  /** What others changed and drift.policy leaves as it is, by the key of the object. */
  left: ReadonlyMap<string, readonly Drift[]>;
  /** What others changed in the files in Git and is left as it is; undefined before that was known. */
  edits: readonly Drift[] | undefined;
  /** The commit that undid such changes last. */
  restoredIn: string | undefined;
  /** What others added and is left as it is, by the key of each object that was looked at. */
  added: ReadonlyMap<string, readonly Drift[]>;
  /** Fields that somebody else keeps writing. */
  contests: Contests;
  untold: Untold;
  /** The status that we wrote last: what a new one goes on from, whatever others made of it. */
  status: DatabaseServiceStatus | undefined;
  /** When it was found written over under our own name, in milliseconds. */
  rewrites: readonly number[];
  /** Nobody else owns anything of the status that the watch showed last. */
  isStatusOurs: boolean;
  /** A write of the status that the watch has not shown yet: what it shows until then is older. */
  awaitedVersion: string | undefined;
  /** The Secrets of the user that were seen to exist. */
  readonly seenSecrets: Set<string>;
  /** Why a backup failed or does not start, and which it was. */
  backupWords: { readonly about: string; readonly words: string | undefined } | undefined;
  /** No plan was carried out whole yet: what happened before this process began, only the status tells. */
  isFresh: boolean;
  /** One of its objects is missing and nobody saw the deletion: the database may be gone as well. */
  isDoubtful: boolean;
  /** The namespace is being deleted, which nothing can turn back: no object is made any more. */
  end: Blocker | undefined;
  /** Since when the API server fails, in milliseconds of the wall clock. */
  troubledSince: number | undefined;
  /** What hindered last, so that the log tells it once. */
  hindrance: string | undefined;
  /** What an earlier database of this name left of Patroni's has been looked for. */
  isSwept: boolean;
  /** The generation with which Patroni's ConfigMaps were made to go with the database; `lookAgainAt`, in milliseconds, for one that was missing. */
  owned: { readonly generation: number; readonly lookAgainAt: number | undefined } | undefined;
  /** Since when this controller removes its files from Git, for it is being deleted, in milliseconds. */
  leavingSince: number | undefined;
  /** What Kubernetes said of an object that gets nowhere. */
  inquiry: Inquiry | undefined;
}

export const nothingUntold: Untold = { corrected: [], reported: [] };

export function newMemory(uid: string): Memory {
  return {
    uid,
    known: new Set(),
    settledGeneration: undefined,
    wholeGeneration: undefined,
    delivered: undefined,
    applied: undefined,
    compared: new Map(),
    brought: undefined,
    history: undefined,
    revisions: noRevisions,
    switchover: undefined,
    absence: undefined,
    slots: undefined,
    heldSwitchover: undefined,
    advances: noAdvances,
    left: new Map(),
    edits: undefined,
    restoredIn: undefined,
    added: new Map(),
    contests: new Map(),
    untold: nothingUntold,
    status: undefined,
    rewrites: [],
    isStatusOurs: true,
    awaitedVersion: undefined,
    seenSecrets: new Set(),
    backupWords: undefined,
    isFresh: true,
    isDoubtful: false,
    end: undefined,
    troubledSince: undefined,
    hindrance: undefined,
    isSwept: false,
    owned: undefined,
    leavingSince: undefined,
    inquiry: undefined,
  };
}
