import type { Clock } from '../kube/clock.ts';
import { timestamp } from '../kube/timestamp.ts';
import type { CoreEvent, EventObject, EventPatch, Happening } from './core-event.ts';
import type { ErrorVerdict } from './error-verdict.ts';
import { EventCorrelation, type Occurrence } from './event-correlation.ts';
import type { Logger } from './logger.ts';
import { settledWithin } from './settled-within.ts';

/** Where Events go. */
export interface EventSink {
  create(event: CoreEvent): Promise<unknown>;
  /** A merge patch. */
  patch(name: string, namespace: string, body: EventPatch): Promise<unknown>;
}

export interface EventRecorderOptions {
  readonly sink: EventSink;
  /** A wall clock: its times are written into the Events. */
  readonly clock: Clock;
  readonly log: Logger;
  readonly classify: (error: unknown) => ErrorVerdict;
  /** Who reports: the controller's name. */
  readonly component: string;
  /** Which instance of it: the pod's name. */
  readonly instance: string;
  /** How many Events, groups of similar ones and objects are remembered, each. Defaults to 4096. */
  readonly capacity?: number;
}

/** Counts for metrics; all but `waiting` only grow. */
export interface EventRecorderStats {
  readonly written: number;
  /** Not written because the object had its share; counted in its next Event. */
  readonly heldBack: number;
  /** Not written because the server refused them, too many waited, or they were given up. */
  readonly lost: number;
  readonly waiting: number;
}

const maxWaiting = 1000;
const attempts = 3;
const retryMs = 1000;

/**
 * Writes Kubernetes Events, one after the other, in the background: `record` neither waits nor throws. An Event that
 * changes again while it waits is written once, with its newest count.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #correlation: EventCorrelation;
  readonly #waiting = new Set<Occurrence>();
  #writing: Promise<void> | undefined;
  #written = 0;
  #heldBack = 0;
  #lost = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#correlation = new EventCorrelation(options.capacity ?? 4096);
  }

  record(object: EventObject, happening: Happening): void {
    const occurrence = this.#correlation.observe(object, happening, this.#options.clock.now());
    if (occurrence === undefined) {
      this.#heldBack++;
    } else if (this.#waiting.size >= maxWaiting && !this.#waiting.has(occurrence)) {
      this.#lost++;
    } else {
      this.#waiting.add(occurrence);
      this.#writing ??= this.#writeAll();
    }
  }

  /** Waits until what was recorded is written. Returns whether it was within the time. */
  flush(withinMs = 2000): Promise<boolean> {
    return settledWithin(this.#writing ?? Promise.resolve(), withinMs, this.#options.clock);
  }

  /** Gives up what waits: somebody else leads now. */
  abandon(): void {
    this.#lost += this.#waiting.size;
    this.#waiting.clear();
  }

  get stats(): EventRecorderStats {
    return { written: this.#written, heldBack: this.#heldBack, lost: this.#lost, waiting: this.#waiting.size };
  }

  async #writeAll(): Promise<void> {
    // Not in the same turn: the caller's own work goes first, and one run's repetitions become one write.
    await Promise.resolve();
    for (const occurrence of this.#waiting) {
      this.#waiting.delete(occurrence);
      await this.#write(occurrence).catch((error: unknown) => this.#lose(occurrence, error));
    }
    this.#writing = undefined;
  }

  async #write(occurrence: Occurrence): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#send(occurrence);
        this.#written++;
        return;
      } catch (error) {
        if (attempt === attempts || !this.#isWorthAnotherTry(error)) return this.#lose(occurrence, error);
        await this.#options.clock.sleep(retryMs * attempt);
      }
    }
  }

  async #send(occurrence: Occurrence): Promise<void> {
    if (!occurrence.isCreated) return this.#create(occurrence);
    const { sink } = this.#options;
    try {
      await sink.patch(nameOf(occurrence), namespaceOf(occurrence), patchOf(occurrence));
    } catch (error) {
      // Events live for an hour; one that counts up for longer has to be made anew.
      if (this.#kindOf(error) !== 'object-missing') throw error;
      await this.#create(occurrence);
    }
  }

  async #create(occurrence: Occurrence): Promise<void> {
    const { sink, component, instance } = this.#options;
    try {
      await sink.create(eventOf(occurrence, component, instance));
    } catch (error) {
      // An earlier attempt arrived, though its answer did not.
      if (this.#kindOf(error) !== 'already-exists') throw error;
      await sink.patch(nameOf(occurrence), namespaceOf(occurrence), patchOf(occurrence));
    }
    occurrence.isCreated = true;
  }

  #kindOf(error: unknown): string {
    return this.#options.classify(error).kind;
  }

  #isWorthAnotherTry(error: unknown): boolean {
    const { class: errorClass } = this.#options.classify(error);
    return errorClass === 'back-off' || errorClass === 'retry-now';
  }

  #lose({ object, reason }: Occurrence, error: unknown): void {
    this.#lost++;
    const fields = { err: error, kind: object.kind, namespace: object.namespace, name: object.name, reason };
    this.#options.log.warn(fields, 'an Event could not be written');
  }
}

function eventOf(occurrence: Occurrence, component: string, instance: string): CoreEvent {
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: nameOf(occurrence), namespace: namespaceOf(occurrence) },
    involvedObject: occurrence.object,
    type: occurrence.type,
    reason: occurrence.reason,
    firstTimestamp: timestamp(occurrence.firstAt),
    ...patchOf(occurrence),
    source: { component },
    reportingComponent: component,
    reportingInstance: instance,
  };
}

function patchOf({ count, lastAt, message }: Occurrence): EventPatch {
  return { count, lastTimestamp: timestamp(lastAt), message };
}

/** Named as client-go does: the object's name and a time in hexadecimal nanoseconds, the last digits of which count up. */
function nameOf({ object, firstAt, serial }: Occurrence): string {
  const nanoseconds = BigInt(Math.floor(firstAt)) * 1_000_000n + BigInt(serial % 1_000_000);
  return `${object.name.slice(0, 230)}.${nanoseconds.toString(16)}`;
}

function namespaceOf({ object }: Occurrence): string {
  return object.namespace ?? 'default';
}
