import { hash } from 'node:crypto';
import { eventMessage, type EventObject, type Happening } from './core-event.ts';
import { Lru } from './lru.ts';

/** One Event object in the cluster, existing or to be. */
export interface Occurrence {
  readonly object: EventObject;
  readonly type: Happening['type'];
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly firstAt: number;
  /** Number among all occurrences, so that names are unique. */
  readonly serial: number;
  message: string;
  lastAt: number;
  count: number;
  isCreated: boolean;
}

interface Group {
  readonly messages: Set<string>;
  lastAt: number;
}

interface Bucket {
  tokens: number;
  filledAt: number;
}

const windowMs = 600_000;
const similarBeforeCombined = 10;
const burstPerObject = 25;
const refillMs = 300_000;

/**
 * client-go's correlation (tools/record/events_cache.go): the same thing again within 10 minutes counts up its Event; of
 * the same reason with ever new messages, the tenth and later within 10 minutes share one; an object gets 25 writes,
 * then one per 5 minutes. What is held back is counted all the same and shows with the next write.
 */
export class EventCorrelation {
  readonly #occurrences: Lru<Occurrence>;
  readonly #groups: Lru<Group>;
  readonly #buckets: Lru<Bucket>;
  #serial = 0;

  /** @param capacity how many Events, groups and objects are remembered, each. */
  constructor(capacity: number) {
    this.#occurrences = new Lru(capacity);
    this.#groups = new Lru(capacity);
    this.#buckets = new Lru(capacity);
  }

  /** The occurrence to write now, or undefined where the object has had its share. */
  observe(object: EventObject, happening: Happening, now: number): Occurrence | undefined {
    const objectKey = digest([object.apiVersion, object.kind, object.namespace, object.name, object.uid]);
    const groupKey = digest([objectKey, happening.type, happening.reason]);
    const isCombined = this.#isOneTooMany(groupKey, digest([happening.message]), now);
    const key = isCombined ? groupKey : digest([groupKey, happening.message]);
    const occurrence = this.#count(key, object, happening, now);
    occurrence.message = eventMessage((isCombined ? '(combined from similar events): ' : '') + happening.message);
    return this.#takeToken(objectKey, now) ? occurrence : undefined;
  }

  #isOneTooMany(groupKey: string, message: string, now: number): boolean {
    const known = this.#groups.get(groupKey);
    const group =
      known !== undefined && now - known.lastAt <= windowMs ? known : { messages: new Set<string>(), lastAt: now };
    group.lastAt = now;
    this.#groups.set(groupKey, group);
    group.messages.add(message);
    if (group.messages.size < similarBeforeCombined) return false;
    // One is forgotten, so that the set stays small and the next new message is one too many again.
    for (const oldest of group.messages) {
      group.messages.delete(oldest);
      break;
    }
    return true;
  }

  #count(key: string, object: EventObject, happening: Happening, now: number): Occurrence {
    const known = this.#occurrences.get(key);
    if (known !== undefined && now - known.lastAt <= windowMs) {
      known.count++;
      known.lastAt = now;
      return known;
    }
    const { type, reason, message } = happening;
    const serial = this.#serial++;
    const fresh = { object, type, reason, message, firstAt: now, lastAt: now, count: 1, serial, isCreated: false };
    this.#occurrences.set(key, fresh);
    return fresh;
  }

  #takeToken(objectKey: string, now: number): boolean {
    const bucket = this.#buckets.get(objectKey) ?? { tokens: burstPerObject, filledAt: now };
    const refill = Math.max(0, now - bucket.filledAt) / refillMs;
    bucket.tokens = Math.min(burstPerObject, bucket.tokens + refill);
    bucket.filledAt = now;
    this.#buckets.set(objectKey, bucket);
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }
}

/** Keys are digests because messages are long and thousands are kept. */
function digest(parts: readonly (string | undefined)[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 22);
}
