import { Backoff, type BackoffOptions } from './backoff.ts';
import { monotonicClock, pause, type Clock } from './clock.ts';
import { identityOf, KnownObjects } from './known-objects.ts';
import type { Kube, Selection, WatchEvent } from './kube.ts';
import type { ReflectorHandler, ReflectorReport } from './reflector-handler.ts';
import { nextStep, type Outcome, type RelistReason } from './reflector-step.ts';
import { isOlder } from './resource-version.ts';
import { SilenceAlarm } from './silence-alarm.ts';
import type { KubeObject, ObjectKey, ResourceType } from './resource.ts';

export interface ReflectorOptions<T extends KubeObject = KubeObject> {
  readonly kube: Kube;
  readonly type: ResourceType<T>;
  /** Defaults to every object of the type. */
  readonly selection?: Selection | undefined;
  readonly handler: ReflectorHandler<T>;
  /** Must not throw. Defaults to nothing. */
  readonly report?: (report: ReflectorReport) => void;
  /** Objects to a page of a list. Defaults to 500. */
  readonly pageSize?: number | undefined;
  /** Milliseconds without an event or a bookmark, which come each 60 s, until a watch is cut. Defaults to 90,000. */
  readonly silenceMs?: number | undefined;
  /** Between failures. Defaults to 0.8 s, doubled each time up to 30 s, with jitter. */
  readonly backoff?: BackoffOptions;
  readonly clock?: Clock;
  /** Numbers in [0, 1). Defaults to `Math.random`. */
  readonly random?: () => number;
}

/** A watch that lived so long was a success, and the next failure starts at the shortest delay again. */
const HEALTHY_MS = 10_000;

/**
 * Keeps a handler true to the objects of one type: lists them by pages, then watches from that version, for ever.
 *
 * Promises: each object that exists long enough is given; the last state given of each is, in the end, the server's;
 * an absent one is reported as deleted, even if its deletion was never seen; nothing given before is taken back until
 * the new list is complete. States between may be skipped. In quiet it sends nothing but one watch each 4-8 minutes.
 */
export class Reflector<T extends KubeObject = KubeObject> {
  /** The kind, for messages. */
  readonly name: string;
  /** Resolves when the first list has been given; rejects with the signal's reason if it is stopped before. */
  readonly synced: Promise<void>;
  readonly #options: ReflectorOptions<T>;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #backoff: Backoff;
  readonly #known = new KnownObjects();
  readonly #sync = Promise.withResolvers<void>();
  /** Last version seen in a list, an event or a bookmark. */
  #version: string | undefined;
  /** The server may have lost history; then an equal version is no equal object, as numbers are given out a second time. */
  #isHistoryDoubtful = false;
  #isSynced = false;

  constructor(options: ReflectorOptions<T>) {
    this.name = options.type.kind;
    this.#options = options;
    this.#clock = options.clock ?? monotonicClock;
    this.#random = options.random ?? Math.random;
    this.#backoff = new Backoff({ random: this.#random, ...options.backoff });
    this.synced = this.#sync.promise;
    // Nobody has to wait for it.
    this.synced.catch(() => undefined);
  }

  /** Objects that the handler holds now. */
  get size(): number {
    return this.#known.size;
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** Runs until `signal` is aborted; call it once. @returns when the last call of the handler has returned; never rejects. */
  async start(signal: AbortSignal): Promise<void> {
    let relist: RelistReason | undefined = 'start';
    while (!signal.aborted) {
      const outcome: Outcome | undefined = await this.#once(relist, signal);
      if (outcome === undefined) {
        relist = undefined;
        continue;
      }
      if (signal.aborted) break;
      const step = nextStep(outcome);
      relist = step.relist;
      if (step.backOff) {
        const delayMs = Math.max(this.#backoff.next(), this.#jittered((step.retryAfterSeconds ?? 0) * 1000));
        this.#report({ kind: 'waiting', delayMs, relist });
        if (!(await pause(this.#clock, delayMs, signal))) break;
      }
    }
    this.#sync.reject(signal.reason);
  }

  /** One list or one watch. @returns undefined after a list that succeeded. */
  async #once(relist: RelistReason | undefined, signal: AbortSignal): Promise<Outcome | undefined> {
    const version = relist === undefined ? this.#version : undefined;
    const reason = relist ?? 'start';
    try {
      if (version !== undefined) return await this.#watch(version, signal);
      await this.#list(reason, signal);
      return undefined;
    } catch (error) {
      const doing = version === undefined ? 'list' : 'watch';
      if (!signal.aborted) this.#report({ kind: 'request-failed', doing, error });
      return doing === 'list' ? { kind: 'list-failed', error, reason } : { kind: 'watch-failed', error };
    }
  }

  async #list(reason: RelistReason, signal: AbortSignal): Promise<void> {
    const { kube, type, selection, pageSize } = this.#options;
    const isInitial = !this.#isSynced;
    const present = new Set<ObjectKey>();
    let version: string | undefined;
    let upserted = 0;
    if (reason !== 'start' && reason !== 'expired') this.#isHistoryDoubtful = true;
    for await (const page of kube.list(type, { ...selection, limit: pageSize, signal })) {
      if (version === undefined) this.#noteBackwards(page.resourceVersion);
      signal.throwIfAborted();
      version = page.resourceVersion;
      for (const object of page.items) {
        present.add(identityOf(object).key);
        if (this.#upsert(object, isInitial)) upserted += 1;
      }
    }
    const missing = this.#known.keysMissingFrom(present);
    for (const key of missing) this.#delete(key, undefined);
    this.#version = version;
    this.#isHistoryDoubtful = false;
    if (isInitial) this.#finishSync();
    const changes = { reason, upserted, deleted: missing.length, unchanged: present.size - upserted };
    if (!isInitial)
      this.#call(undefined, () => this.#options.handler.onRelisted?.(changes, { version, keys: present }));
  }

  async #watch(version: string, signal: AbortSignal): Promise<Outcome> {
    const { kube, type, selection, silenceMs = 90_000 } = this.#options;
    const startedAt = this.#clock.now();
    const timeoutSeconds = Math.round(240 + 240 * this.#random());
    const silence = new SilenceAlarm(this.#clock, silenceMs, signal);
    try {
      const watch = kube.watch(type, {
        ...selection,
        resourceVersion: version,
        timeoutSeconds,
        signal: silence.signal,
      });
      for await (const event of watch) {
        signal.throwIfAborted();
        silence.heard();
        if (!this.#take(event)) return { kind: 'version-backwards' };
      }
      return { kind: 'ended', livedMs: this.#clock.now() - startedAt };
    } catch (error) {
      if (!silence.isSilent) throw error;
      this.#report({ kind: 'watch-silent', silentMs: silenceMs });
      return { kind: 'silent' };
    } finally {
      silence.stop();
      if (this.#clock.now() - startedAt >= HEALTHY_MS) this.#backoff.reset();
    }
  }

  /** @returns false if the server's versions have gone back. */
  #take(event: WatchEvent<T>): boolean {
    const version = event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion;
    if (this.#noteBackwards(version)) return false;
    if (event.type === 'DELETED') this.#delete(identityOf(event.object).key, event.object);
    else if (event.type !== 'BOOKMARK') this.#upsert(event.object, false);
    this.#version = version ?? this.#version;
    return true;
  }

  /** @returns whether it was new to the handler. */
  #upsert(object: T, isInitial: boolean): boolean {
    const { key, uid, resourceVersion } = identityOf(object);
    const before = this.#known.get(key);
    const isSame = before?.uid === uid && before.resourceVersion === resourceVersion;
    if (isSame && !this.#isHistoryDoubtful) return false;
    if (before !== undefined && before.uid !== uid) this.#delete(key, undefined);
    const isTaken = this.#call(key, () => this.#options.handler.onUpsert(object, { isInitial }));
    // Without a version the next list gives it again.
    this.#known.set(key, { uid, resourceVersion: isTaken ? resourceVersion : '' });
    return true;
  }

  #delete(key: ObjectKey, last: T | undefined): void {
    const known = this.#known.get(key);
    if (known === undefined) return;
    this.#known.delete(key);
    this.#call(key, () => this.#options.handler.onDelete(key, { uid: known.uid, last }));
  }

  #noteBackwards(got: string | undefined): boolean {
    const seen = this.#version;
    if (got === undefined || seen === undefined || !isOlder(got, seen)) return false;
    this.#report({ kind: 'version-backwards', seen, got });
    this.#version = undefined;
    this.#isHistoryDoubtful = true;
    return true;
  }

  #finishSync(): void {
    this.#isSynced = true;
    this.#call(undefined, () => this.#options.handler.onSynced?.());
    this.#sync.resolve();
  }

  #call(key: ObjectKey | undefined, handle: () => void): boolean {
    try {
      handle();
      return true;
    } catch (error) {
      this.#report({ kind: 'handler-failed', key, error });
      return false;
    }
  }

  #report(report: ReflectorReport): void {
    try {
      this.#options.report?.(report);
    } catch {
      // Nobody is left to be told.
    }
  }

  /** Up to a quarter more. */
  #jittered(ms: number): number {
    return ms * (1 + 0.25 * this.#random());
  }
}
