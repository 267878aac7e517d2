import { record, text } from '../health/fields.ts';
import type { Complaint, Unexplained } from '../health/trouble.ts';
import { classify, type Clock, type Kube, type KubeObject } from '../kube/index.ts';
import { events } from './kinds.ts';
import type { Memory } from './memory.ts';

/** So long an object may get nowhere before Kubernetes is asked why: as a rule it has just been made. */
const patienceMs = 3_000;

/** What was asked about an object that gets nowhere. */
export interface Inquiry extends Unexplained {
  /** When it was first seen so, in milliseconds. */
  readonly since: number;
  /** When Kubernetes was asked last; undefined before. */
  readonly askedAt: number | undefined;
  readonly complaints: readonly Complaint[];
}

export interface InquiryOptions {
  readonly kube: Kube;
  /** A wall clock. */
  readonly clock: Clock;
  readonly lookAgainMs: number;
}

/**
 * Asks for the Events of an object that gets nowhere, now and then for as long as it does; they are in no watch of ours. What is found is noted in
 * the memory.
 *
 * @param target undefined where everything goes on or explains itself: then nothing is asked
 * @returns when to look again, in milliseconds from now; undefined where nothing is left to ask
 */
export async function inquire(
  target: Unexplained | undefined,
  namespace: string,
  memory: Memory,
  { kube, clock, lookAgainMs }: InquiryOptions,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (target === undefined) {
    memory.inquiry = undefined;
    return undefined;
  }
  const now = clock.now();
  const before = memory.inquiry;
  const isSame = before?.kind === target.kind && before.name === target.name;
  const inquiry: Inquiry = isSame ? before : { ...target, since: now, askedAt: undefined, complaints: [] };
  memory.inquiry = inquiry;
  const dueAt = inquiry.askedAt === undefined ? inquiry.since + patienceMs : inquiry.askedAt + lookAgainMs;
  if (now < dueAt) return dueAt - now;
  try {
    memory.inquiry = { ...inquiry, askedAt: now, complaints: await complaintsOf(kube, namespace, target, signal) };
  } catch (error) {
    signal.throwIfAborted();
    if (classify(error).class === 'retry-now') throw error;
    // Without the right to read Events only the explanation is missing.
    memory.inquiry = { ...inquiry, askedAt: now };
  }
  return lookAgainMs;
}

async function complaintsOf(
  kube: Kube,
  namespace: string,
  { kind, name }: Unexplained,
  signal: AbortSignal,
): Promise<readonly Complaint[]> {
  const found: Event[] = [];
  const fieldSelector = `involvedObject.kind=${kind},involvedObject.name=${name}`;
  for await (const { items } of kube.list(events, { namespace, fieldSelector, signal })) {
    found.push(...items.map(eventOf));
  }
  // An Event outlives its cause: what was said before the last success is over.
  const successAt = Math.max(0, ...found.filter(({ type }) => type === 'Normal').map(({ at }) => at));
  return found
    .filter(({ type, at }) => type === 'Warning' && at >= successAt)
    .map(({ reason, message }) => ({ kind, name, reason, message }))
    .toSorted((a, b) => a.message.localeCompare(b.message));
}

interface Event {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  /** When it was seen last, in milliseconds. */
  readonly at: number;
}

function eventOf(object: KubeObject): Event {
  const fields = record(object);
  const at = Date.parse(text(fields, 'lastTimestamp') ?? text(fields, 'eventTime') ?? '');
  return {
    type: text(fields, 'type') ?? '',
    reason: text(fields, 'reason') ?? '',
    message: text(fields, 'message') ?? '',
    at: Number.isFinite(at) ? at : 0,
  };
}
