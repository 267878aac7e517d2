import type { Hindrance } from '../health/judge.ts';
import type { Reason } from '../health/reasons.ts';
import { rollbackAnnotation } from '../../constructs/labels.ts';
import type { GitState } from './delivery.ts';
import type { Refused } from '../rollout/index.ts';
import { classify, KubeError, type KubeObject, type Verdict } from '../kube/index.ts';
import { isPrecious, remedyFor } from './remedy.ts';
import type { Stated } from './stated.ts';
import { longestMessage } from './longest-message.ts';

/** Why what is stated could not be made true, and when to try again. */
export interface Blocker extends Hindrance {
  readonly next: Next;
}

export type Next =
  /** The queue decides by the error: it waits longer each time. */
  | { readonly kind: 'retry'; readonly error: unknown }
  /** What is missing shows in no watch: look now and then, or, where little hope is, seldom. */
  | { readonly kind: 'look-again'; readonly isSeldom?: true }
  /** A watch will tell. */
  | { readonly kind: 'wait' };

/**
 * What an error of the API server means for a database.
 *
 * @param what such as `Service orders`
 * @param object where one was to be brought to what is stated
 */
export function blockerOf(error: unknown, what: string, object?: KubeObject): Blocker {
  const verdict = classify(error);
  const reason = reasonOf(verdict);
  const remedy = object !== undefined && verdict.kind === 'immutable' ? remedyFor(object) : undefined;
  const message = remedy === undefined ? said(what, error) : `${said(what, error, remedy.length + 2)}. ${remedy}`;
  if (reason === 'NamespaceTerminating') return { reason, message, isStalled: true, next: { kind: 'wait' } };
  const isOthersTurn = verdict.class === 'wait-for' || reason === 'HeldByOthers';
  if (isOthersTurn) return { reason, message, isStalled: true, next: { kind: 'look-again' } };
  // The server has called it final; but it may have judged by a policy or limit that somebody changes.
  if (verdict.class === 'terminal') {
    return { reason, message, isStalled: true, next: { kind: 'look-again', isSeldom: true } };
  }
  return { reason, message, isStalled: false, next: { kind: 'retry', error } };
}

/**
 * @param isWatched what has the name bears our label, so that its end will be seen; anything else is in no watch of ours, and whether its name
 *   has become free is looked for now and then
 */
export function nameTaken({ object }: Stated, holder: string, isWatched: boolean): Blocker {
  const name = `${object.kind} ${object.metadata.name}`;
  const advice = isPrecious(object) ? 'move what it holds to another name' : 'rename or remove it';
  const message = `${name} is needed and belongs to ${holder}: ${advice}, or choose another name for the database.`;
  return { reason: 'NameTaken', message, isStalled: true, next: { kind: isWatched ? 'wait' : 'look-again' } };
}

export function credentialsMissing({ object }: Stated): Blocker {
  const message = `Secret ${object.metadata.name} is gone but the database has data: create it again with the passwords that it had, for new ones would not fit.`;
  return { reason: 'CredentialsMissing', message, isStalled: true, next: { kind: 'look-again' } };
}

export function claimDiffers({ object }: Stated): Blocker {
  const { name } = object.metadata;
  const message = `PersistentVolumeClaim ${name} exists with another size or class than the spec asks for, and Kubernetes cannot change that: ask for what it has, or name another claim by claimName.`;
  return { reason: 'ClaimDiffers', message, isStalled: true, next: { kind: 'wait' } };
}

export function deletionPending({ object }: Stated): Blocker {
  const message = `${object.kind} ${object.metadata.name} is being deleted; it is made again when it is gone.`;
  return { reason: 'DeletionPending', message, isStalled: false, next: { kind: 'wait' } };
}

/** @param keys such as `username and password` */
export function secretNotFound(name: string, keys: string): Blocker {
  const message = `Secret ${name} does not exist: create it with the keys ${keys}.`;
  return { reason: 'SecretNotFound', message, isStalled: true, next: { kind: 'look-again' } };
}

export function specInvalid(problems: readonly string[]): Blocker {
  const message = `${problems.join('. ')}.`.slice(0, longestMessage);
  return { reason: 'SpecInvalid', message, isStalled: true, next: { kind: 'wait' } };
}

/** Git is served by its own delivery, which tries again by itself. */
export function gitFailed({ failure = '', isUnusable }: GitState): Blocker {
  if (isUnusable === true) return stopped('DestinationUnusable', failure);
  return { reason: 'GitFailed', message: failure.slice(0, longestMessage), isStalled: false, next: { kind: 'wait' } };
}

/** The spec was tried and what was stable last is in force again. */
export function takenBack({ reason, message }: Pick<Refused, 'reason' | 'message'>): Blocker {
  return stopped(reason, `${message}. What was stable last is in force; correct the spec to try again.`);
}

/**
 * The spec does not work, and there is nothing to go back to, or the spec says not to.
 *
 * @param commit that brought it, where a GitOps tool applies: no commit is made to take it back
 */
export function refused({ reason, message }: Pick<Refused, 'reason' | 'message'>, commit?: string): Blocker {
  if (commit === undefined) return stopped(reason, `${message}. Correct the spec.`);
  const advice = `Commit ${commit} brought it: revert the change of the spec that led to it, or correct the spec.`;
  return stopped(reason, `${message.slice(0, longestMessage - advice.length - 2)}. ${advice}`);
}

/** @param message names the slots, and what to do */
export function slotAtRisk(message: string): Blocker {
  return stopped('SlotAtRisk', message);
}

export function rollbackUnknown(asked: string, known: readonly number[]): Blocker {
  const message = `Annotation ${rollbackAnnotation} asks for revision ${asked}, which the history does not have: ask for one of ${known.join(', ') || 'none yet'}, or remove the annotation.`;
  return stopped('RevisionUnknown', message);
}

function stopped(reason: Reason, message: string): Blocker {
  return { reason, message: message.slice(0, longestMessage), isStalled: true, next: { kind: 'wait' } };
}

const named: Partial<Record<Verdict['kind'], Reason>> = {
  'namespace-terminating': 'NamespaceTerminating',
  'namespace-missing': 'NamespaceTerminating',
  'quota-exceeded': 'QuotaExceeded',
  'admission-denied': 'AdmissionDenied',
  forbidden: 'Forbidden',
  'kind-missing': 'KindMissing',
  'co-ownership': 'HeldByOthers',
  'field-conflict': 'HeldByOthers',
  unknown: 'InternalError',
};

function reasonOf({ kind, class: errorClass }: Verdict): Reason {
  return named[kind] ?? (errorClass === 'terminal' ? 'Refused' : 'ApiUnreachable');
}

/** @param room for what is to follow */
function said(what: string, error: unknown, room = 0): string {
  return `${what}: ${words(error)}`.slice(0, longestMessage - room);
}

/** The server's own words; of an error without answer, its message. */
function words(error: unknown): string {
  if (error instanceof KubeError && error.serverMessage !== '') return error.serverMessage;
  return error instanceof Error ? error.message : String(error);
}
