import type { Clock } from '../kube/clock.ts';
import { Alarm } from './alarm.ts';
import { Backoff, type BackoffOptions } from './backoff.ts';
import { Heap, type HeapItem } from './heap.ts';

export interface AddOptions {
  /** Higher is taken first. `add` defaults to 0; a requeue (`addAfter`, `addRateLimited`) to the priority of the run in progress. */
  readonly priority?: number;
  /** Why it is to be worked, in a word that `reasons` tells. Defaults to nothing. */
  readonly reason?: string;
}

export interface RateLimitedOptions extends AddOptions {
  /** What the server asked for, say. Defaults to 0. */
  readonly atLeastMs?: number;
}

export interface WorkQueueOptions {
  /** Measures durations only: hand in a monotonic clock, so that setting the machine's clock delays nothing. */
  readonly clock: Clock;
  /** Defaults to 5 ms, doubled up to 1000 s. */
  readonly backoff?: BackoffOptions;
  /** Defaults to nothing. */
  readonly observer?: WorkQueueObserver;
}

/** Who is told what a queue does, for metrics. Must not throw. */
export interface WorkQueueObserver {
  /** A key was added that was not in the queue already. */
  added(): void;
  /** A key was added again after a failure. */
  retried(): void;
  /** A worker took a key that it could have taken for so many milliseconds. */
  taken(waitedMs: number): void;
  /** A key was worked for so many milliseconds. */
  done(workedMs: number): void;
}

/** Counts for metrics. `adds` and `retries` only grow. */
export interface WorkQueueStats {
  /** Keys that a worker could take now. */
  readonly ready: number;
  /** Keys whose time has not come. */
  readonly delayed: number;
  /** Keys being worked. */
  readonly running: number;
  /** Keys that were added while they were not in the queue already. */
  readonly adds: number;
  readonly retries: number;
  /** How long the keys that are being worked have been, in milliseconds: all together, and the two extremes; 0 where there is none. */
  readonly unfinishedMs: number;
  readonly longestRunningMs: number;
  readonly shortestRunningMs: number;
}

interface Entry extends HeapItem {
  readonly key: string;
  priority: number;
  readyAt: number;
  /** When a worker could first take it; of a ready one. */
  since: number;
  order: number;
  readonly reasons: Set<string>;
  /** `held`: its key is being worked, so it is in neither heap. */
  place: 'ready' | 'delayed' | 'held';
}

/** A key that is being worked. */
interface Taken {
  readonly priority: number;
  readonly since: number;
  readonly reasons: ReadonlySet<string>;
}

interface Waiter {
  /** Takes nothing below. */
  readonly atLeast: number;
  readonly take: (key: string | undefined) => void;
}

/**
 * The contract of controller-runtime's priority queue (pkg/controller/priorityqueue): a key is in it at most once and is
 * worked by at most one worker. What is added while its key is being worked is held back until `done`, then runs once
 * more. Adding a key again keeps the higher priority and the earlier time. First in, first out inside a priority.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #backoff: Backoff;
  readonly #alarm: Alarm;
  readonly #entries = new Map<string, Entry>();
  readonly #ready = new Heap<Entry>((a, b) =>
    a.priority === b.priority ? a.order < b.order : a.priority > b.priority,
  );
  readonly #delayed = new Heap<Entry>((a, b) => a.readyAt < b.readyAt);
  readonly #observer: WorkQueueObserver | undefined;
  /** The keys being worked, with the priority they were taken at, and when. */
  readonly #running = new Map<string, Taken>();
  readonly #waiters = new Set<Waiter>();
  #order = 0;
  #adds = 0;
  #retries = 0;
  #isShutDown = false;

  constructor(options: WorkQueueOptions) {
    this.#clock = options.clock;
    this.#observer = options.observer;
    this.#backoff = new Backoff(options.backoff);
    this.#alarm = new Alarm(options.clock, () => this.#releaseDue());
  }

  add(key: string, options: AddOptions = {}): void {
    this.#put(key, options.priority ?? 0, this.#clock.now(), options.reason);
  }

  /** Throws a RangeError where `ms` is not a finite number. */
  addAfter(key: string, ms: number, options: AddOptions = {}): void {
    if (!Number.isFinite(ms))
      throw new RangeError(`The work queue can't add ${key} after ${ms} ms: give a finite number.`);
    const priority = options.priority ?? this.#running.get(key)?.priority ?? 0;
    this.#put(key, priority, this.#clock.now() + Math.max(0, ms), options.reason);
  }

  /** Adds the key after a delay that doubles each time until `forget`; returns that delay in milliseconds. */
  addRateLimited(key: string, options: RateLimitedOptions = {}): number {
    this.#retries++;
    this.#observer?.retried();
    const ms = Math.max(this.#backoff.next(key), options.atLeastMs ?? 0);
    this.addAfter(key, ms, options);
    return ms;
  }

  /** Starts the key's delay from the beginning again; the key stays in the queue. */
  forget(key: string): void {
    this.#backoff.forget(key);
  }

  /** How many times in a row `addRateLimited` was called for the key. */
  failures(key: string): number {
    return this.#backoff.failures(key);
  }

  /** Why a key is being worked: what it was added for while it waited. */
  reasons(key: string): string[] {
    return [...(this.#running.get(key)?.reasons ?? [])];
  }

  /**
   * Waits for a key; the caller must call `done` with it. Undefined: shut down, or the signal was aborted.
   * @param atLeast the lowest priority that is taken. Defaults to any
   */
  get(signal?: AbortSignal, atLeast = -Infinity): Promise<string | undefined> {
    if (this.#isShutDown || signal?.aborted === true) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const take = (key: string | undefined): void => {
        this.#waiters.delete(waiter);
        signal?.removeEventListener('abort', onAbort);
        resolve(key);
      };
      const waiter: Waiter = { atLeast, take };
      const onAbort = (): void => take(undefined);
      signal?.addEventListener('abort', onAbort);
      this.#waiters.add(waiter);
      this.#handOut();
    });
  }

  done(key: string): void {
    const taken = this.#running.get(key);
    if (taken === undefined) return;
    this.#running.delete(key);
    this.#observer?.done(this.#clock.now() - taken.since);
    const held = this.#entries.get(key);
    if (held === undefined) return;
    this.#place(held);
    this.#handOut();
  }

  /** What is running may finish; what waits is dropped, since everything is looked at again after a start. */
  shutDown(): void {
    this.#isShutDown = true;
    this.#alarm.cancel();
    this.#entries.clear();
    this.#ready.clear();
    this.#delayed.clear();
    for (const { take } of this.#waiters) take(undefined);
  }

  get stats(): WorkQueueStats {
    const now = this.#clock.now();
    const times = [...this.#running.values()].map(({ since }) => now - since);
    return {
      ready: this.#ready.size,
      delayed: this.#delayed.size,
      running: this.#running.size,
      adds: this.#adds,
      retries: this.#retries,
      unfinishedMs: times.reduce((sum, ms) => sum + ms, 0),
      longestRunningMs: Math.max(0, ...times),
      shortestRunningMs: times.length === 0 ? 0 : Math.min(...times),
    };
  }

  #put(key: string, priority: number, readyAt: number, reason: string | undefined): void {
    if (this.#isShutDown) return;
    const known = this.#entries.get(key);
    if (reason !== undefined) known?.reasons.add(reason);
    if (known === undefined) {
      this.#adds++;
      this.#observer?.added();
      const reasons = new Set(reason === undefined ? [] : [reason]);
      const entry: Entry = { key, priority, readyAt, since: readyAt, order: 0, reasons, place: 'held', heapIndex: -1 };
      this.#entries.set(key, entry);
      this.#place(entry);
    } else {
      this.#merge(known, priority, readyAt);
    }
    this.#handOut();
  }

  #merge(entry: Entry, priority: number, readyAt: number): void {
    if (priority <= entry.priority && readyAt >= entry.readyAt) return;
    if (entry.place === 'ready') this.#ready.remove(entry);
    if (entry.place === 'delayed') this.#delayed.remove(entry);
    entry.priority = Math.max(entry.priority, priority);
    entry.readyAt = Math.min(entry.readyAt, readyAt);
    this.#place(entry);
  }

  #place(entry: Entry): void {
    if (this.#running.has(entry.key)) {
      entry.place = 'held';
    } else if (entry.readyAt <= this.#clock.now()) {
      this.#makeReady(entry);
    } else {
      entry.place = 'delayed';
      this.#delayed.push(entry);
      if (this.#delayed.first() === entry) this.#alarm.set(entry.readyAt);
    }
  }

  #makeReady(entry: Entry): void {
    if (entry.place !== 'ready') entry.since = this.#clock.now();
    entry.place = 'ready';
    entry.order = this.#order++;
    this.#ready.push(entry);
  }

  #releaseDue(): void {
    const now = this.#clock.now();
    let next = this.#delayed.first();
    while (next !== undefined && next.readyAt <= now) {
      this.#delayed.remove(next);
      this.#makeReady(next);
      next = this.#delayed.first();
    }
    if (next !== undefined) this.#alarm.set(next.readyAt);
    this.#handOut();
  }

  #handOut(): void {
    for (const { atLeast, take } of this.#waiters) {
      const entry = this.#ready.first();
      if (entry === undefined) return;
      if (entry.priority < atLeast) continue;
      this.#ready.remove(entry);
      this.#entries.delete(entry.key);
      const now = this.#clock.now();
      this.#running.set(entry.key, { priority: entry.priority, since: now, reasons: entry.reasons });
      this.#observer?.taken(now - entry.since);
      take(entry.key);
    }
  }
}
