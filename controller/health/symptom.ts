import { number, record, records, text, type Fields } from './fields.ts';
import type { MemberState } from './member-state.ts';

/** What keeps a pod from being a ready member, as it stands on the pod itself. */
export type Symptom =
  /** Its node went away, or the kubelet ended it; it will not come back. */
  | (Words & { readonly kind: 'ended' })
  /** The scheduler finds no node. */
  | (Words & { readonly kind: 'unscheduled' })
  /** A container waits for more than its turn. */
  | (Words & {
      readonly kind: 'waiting';
      readonly container: string;
      readonly image: string;
      /** How it ended last, such as `OOMKilled, exit code 137`; empty for one that never ran. */
      readonly lastEnd: string;
    })
  /** The member holds itself back. */
  | (Words & { readonly kind: 'held' });

export type Ended = Extract<Symptom, { kind: 'ended' }>;

interface Words {
  /** One word, or empty. */
  readonly reason: string;
  readonly message: string;
}

/** A pod that has ended stays with all its labels until somebody deletes it. */
export function isEnded(status: Fields): boolean {
  return ['Failed', 'Succeeded'].includes(text(status, 'phase') ?? '') || text(status, 'reason') === 'NodeLost';
}

/** Reads the status of a pod that is not ready, and what its member says; undefined where nothing but time is missing. */
export function symptomOf(status: Fields, member: MemberState): Symptom | undefined {
  if (isEnded(status)) {
    const words = wordsOf(status);
    return { kind: 'ended', ...words, reason: words.reason || (text(status, 'phase') ?? '') };
  }
  return unscheduled(status) ?? waiting(status, member) ?? held(member);
}

/** None of its containers has run in it yet; as a rule that takes a moment. */
export function isCreating(status: Fields): boolean {
  const containers = records(status['containerStatuses']);
  const waitsFor = (container: Fields) => text(record(record(container['state'])['waiting']), 'reason');
  return containers.length > 0 && containers.every((container) => waitsFor(container) === 'ContainerCreating');
}

/** `Reason: message`. */
export function inWords({ reason, message }: Words): string {
  return [reason, message].filter(Boolean).join(': ');
}

function unscheduled(status: Fields): Symptom | undefined {
  const found = records(status['conditions']).find(
    (condition) => text(condition, 'type') === 'PodScheduled' && text(condition, 'status') === 'False',
  );
  return found && { kind: 'unscheduled', ...wordsOf(found) };
}

function waiting(status: Fields, member: MemberState): Symptom | undefined {
  const isHeld = held(member) !== undefined;
  for (const container of [...records(status['initContainerStatuses']), ...records(status['containerStatuses'])]) {
    const words = wordsOf(record(record(container['state'])['waiting']));
    if (harmless.includes(words.reason) || (isHeld && isBetweenHolds(container, words.reason))) continue;
    const [name, image] = [text(container, 'name') ?? '', text(container, 'image') ?? ''];
    return { kind: 'waiting', ...words, container: name, image, lastEnd: lastEnd(container) };
  }
  return undefined;
}

/** Why a container waits that will start by itself; without a reason it does not wait. */
const harmless = ['', 'ContainerCreating', 'PodInitializing'];

/** The kubelet ends a gate that has held for as long as a start may take, and starts it again later: the gate ends with 0, and what it said holds. */
function isBetweenHolds(container: Fields, reason: string): boolean {
  return reason === 'CrashLoopBackOff' && lastTermination(container)['exitCode'] === 0;
}

function lastTermination(container: Fields): Fields {
  return record(record(container['lastState'])['terminated']);
}

function lastEnd(container: Fields): string {
  const ended = lastTermination(container);
  const reason = text(ended, 'reason');
  return reason === undefined ? '' : `${reason}, exit code ${number(ended, 'exitCode')}`;
}

/** One that waits for its leader goes on by itself. */
function held({ gate }: MemberState): Symptom | undefined {
  return gate === undefined || gate.reason === 'WaitingForLeader' ? undefined : { kind: 'held', ...gate };
}

export function wordsOf(fields: Fields): Words {
  return { reason: text(fields, 'reason') ?? '', message: text(fields, 'message') ?? '' };
}
