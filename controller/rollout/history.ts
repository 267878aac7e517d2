import { isFields } from '../../constructs/api/schema-node.ts';
import { isRevision, revisionDigest, type Revision } from './revision.ts';

/** A revision on which every member was healthy. */
export interface StableRevision {
  /** Counts up; what an annotation asks for. */
  readonly number: number;
  /** Of the DatabaseService. */
  readonly generation: number;
  /** RFC 3339. */
  readonly time: string;
  readonly revision: Revision;
}

/** A revision that was tried and taken back: it is not tried again before the spec says something else. */
export interface Refused {
  readonly digest: string;
  readonly generation: number;
  /** RFC 3339. */
  readonly time: string;
  readonly reason: 'ConfigurationRefused' | 'RolloutFailed';
  /** A sentence: what was refused, and why. */
  readonly message: string;
}

/** What has to outlive the controller: the ConfigMap `<name>-history`. */
export interface History {
  /** What the pods are made from now, and the settings that go with it. */
  readonly released: Revision;
  /** Newest first. */
  readonly stable: readonly StableRevision[];
  readonly refused: Refused | undefined;
  /** What is tried now; undefined once it is stable. */
  readonly trial?: RevisionTrial | undefined;
}

/** A revision that is tried. */
export interface RevisionTrial {
  readonly digest: string;
  /** RFC 3339. */
  readonly since: string;
  /** Names of members that got nowhere before anything was tried, and were not healthy since. Not in what earlier versions wrote. */
  readonly sick?: readonly string[] | undefined;
}

const longest = 10;

export function lastStable({ stable }: History): StableRevision | undefined {
  return stable[0];
}

/** Notes that every member is healthy on a revision; the same history if that is known. */
export function stabilised(history: History, revision: Revision, generation: number, time: string): History {
  const last = lastStable(history);
  const isKnown = last !== undefined && revisionDigest(last.revision) === revisionDigest(revision);
  const isOver = history.refused === undefined && history.trial === undefined;
  if (isKnown) return isOver ? history : { ...history, refused: undefined, trial: undefined };
  const number = (last?.number ?? 0) + 1;
  return {
    ...history,
    refused: undefined,
    trial: undefined,
    stable: [{ number, generation, time, revision }, ...history.stable].slice(0, longest),
  };
}

export function released(history: History, revision: Revision): History {
  return revisionDigest(history.released) === revisionDigest(revision) ? history : { ...history, released: revision };
}

/** Notes since when a revision is tried, and which members say nothing of it; the same history if that is known. */
export function tried(history: History, revision: Revision, time: string, sick: readonly string[]): History {
  const digest = revisionDigest(revision);
  const { trial } = history;
  if (trial?.digest !== digest) return { ...history, trial: { digest, since: time, sick } };
  return (trial.sick ?? []).length === sick.length ? history : { ...history, trial: { ...trial, sick } };
}

/** As it stands in the ConfigMap. @param beside what else is kept there */
export function historyText(history: History, beside: object = {}): string {
  return `${JSON.stringify({ ...history, ...beside }, null, 1)}\n`;
}

/** @returns undefined for what is no history: it was lost or somebody wrote something else; then it begins anew */
export function parseHistory(text: string): History | undefined {
  const found = parsed(text);
  if (!isFields(found)) return undefined;
  const { released, stable, refused, trial } = found;
  if (!isRevision(released) || !Array.isArray(stable) || !stable.every(isStable)) return undefined;
  return {
    released,
    stable,
    refused: isRefused(refused) ? refused : undefined,
    trial: isTrial(trial) ? trial : undefined,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isStable(found: unknown): found is StableRevision {
  if (!isFields(found)) return false;
  const { number, generation, time, revision } = found;
  return Number.isSafeInteger(number) && Number.isSafeInteger(generation) && isTime(time) && isRevision(revision);
}

function isRefused(found: unknown): found is Refused {
  if (!isFields(found)) return false;
  const { digest, generation, time, reason, message } = found;
  const isReason = reason === 'ConfigurationRefused' || reason === 'RolloutFailed';
  const isSaid = typeof digest === 'string' && typeof message === 'string';
  return isSaid && isReason && Number.isSafeInteger(generation) && isTime(time);
}

function isTrial(found: unknown): found is RevisionTrial {
  if (!isFields(found)) return false;
  const { digest, since, sick = [] } = found;
  const areNames = Array.isArray(sick) && sick.every((name) => typeof name === 'string');
  return typeof digest === 'string' && isTime(since) && areNames;
}

function isTime(found: unknown): found is string {
  return typeof found === 'string' && !Number.isNaN(Date.parse(found));
}
