import type { Clock } from '../kube/clock.ts';
import type { Cache, Elector, FailureReason, ManagerEnd, Runnable } from './lifecycle.ts';
import type { Logger } from './logger.ts';
import { settledWithin } from './settled-within.ts';

export interface ManagerOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly caches: readonly Cache[];
  readonly controllers: readonly Runnable[];
  /** Absent: this is the only instance and it leads at once. */
  readonly elector?: Elector | undefined;
  /** How long the caches may take before start-up fails. Defaults to 2 minutes. */
  readonly cacheSyncTimeoutMs?: number | undefined;
  /** How long reconciles in progress may take at a stop before they are aborted. Defaults to 30 s; a lost lease leaves none. */
  readonly gracePeriodMs?: number;
  /** What is left to do when the last reconcile has ended, before the lease is given back; `abort` as for reconciles. Must not throw. Defaults to nothing. */
  readonly finish?: (abort: AbortSignal) => Promise<void>;
}

export type ManagerState = 'new' | 'syncing' | 'standby' | 'leading' | 'stopping' | 'stopped';

/** How long each is waited for at the end: aborted reconciles, the release of the lease, the caches. */
const lastWaitMs = 2_000;

/**
 * Starts caches, then leader election, then controllers, and stops them in the opposite order. Caches run while another
 * instance leads, so a take-over begins with full stores. The lease is given back only after the last reconcile has
 * ended and what it left is finished; where that doesn't end, the lease is left to expire.
 */
export class Manager {
  readonly #options: ManagerOptions;
  readonly #stopCaches = new AbortController();
  readonly #stopElection = new AbortController();
  readonly #stopControllers = new AbortController();
  readonly #abortControllers = new AbortController();
  readonly #end = Promise.withResolvers<ManagerEnd>();
  #caches: Promise<unknown> = Promise.resolve();
  #election: Promise<unknown> = Promise.resolve();
  #controllers: Promise<unknown> = Promise.resolve();
  #state: ManagerState = 'new';
  readonly #unread: Set<string>;

  constructor(options: ManagerOptions) {
    this.#options = options;
    this.#unread = new Set(options.caches.map(({ name }) => name));
  }

  /** Names of the caches that are not full yet. */
  get unread(): ReadonlySet<string> {
    return this.#unread;
  }

  get state(): ManagerState {
    return this.#state;
  }

  /** Runs until the signal is aborted or something fails that needs a new process. Never rejects. Call it once. */
  async run(signal: AbortSignal): Promise<ManagerEnd> {
    const onAbort = (): void => this.#finish({ kind: 'stopped' });
    signal.addEventListener('abort', onAbort, { once: true });
    this.#state = 'syncing';
    this.#caches = Promise.all(this.#options.caches.map((cache) => this.#runCache(cache)));
    if (signal.aborted) onAbort();
    await this.#syncAndCampaign();
    const end = await this.#end.promise;
    signal.removeEventListener('abort', onAbort);
    return this.#stop(end);
  }

  async #runCache(cache: Cache): Promise<void> {
    try {
      await cache.start(this.#stopCaches.signal);
    } catch (error) {
      this.#fail('CacheFailed', `The cache of ${cache.name} failed.`, error);
    }
  }

  async #syncAndCampaign(): Promise<void> {
    const { elector, log } = this.#options;
    await this.#syncCaches();
    if (this.#state !== 'syncing') return;
    this.#state = 'standby';
    log.info({ caches: this.#options.caches.length }, 'caches are filled');
    if (elector === undefined) this.#lead();
    else this.#election = this.#runElection(elector);
  }

  async #syncCaches(): Promise<void> {
    const { caches, clock, cacheSyncTimeoutMs = 120_000 } = this.#options;
    const missing = this.#unread;
    const syncs = caches.map(async ({ name, synced }) => {
      try {
        await synced;
        missing.delete(name);
      } catch (error) {
        this.#fail('CacheFailed', `The cache of ${name} failed.`, error);
      }
    });
    const syncedOrEnded = Promise.race([Promise.all(syncs), this.#end.promise]);
    if (await settledWithin(syncedOrEnded, cacheSyncTimeoutMs, clock)) return;
    const what = `Not read within ${cacheSyncTimeoutMs / 1000} s: ${[...missing].join(', ')}.`;
    this.#fail('CachesNotSynced', `${what} Look in the log for refused requests (RBAC, a CRD that is not installed).`);
  }

  async #runElection(elector: Elector): Promise<void> {
    const lost = (cause?: unknown): void =>
      this.#fail('LeaseLost', 'The lease was lost; another instance may lead now.', cause);
    try {
      await elector.run(
        { onStartedLeading: () => this.#lead(), onStoppedLeading: () => lost() },
        this.#stopElection.signal,
      );
      lost();
    } catch (error) {
      lost(error);
    }
  }

  #lead(): void {
    if (this.#state !== 'standby') return;
    this.#state = 'leading';
    this.#options.log.info({}, 'leading');
    this.#controllers = Promise.all(this.#options.controllers.map((controller) => this.#runController(controller)));
  }

  async #runController(controller: Runnable): Promise<void> {
    try {
      await controller.run(this.#stopControllers.signal, this.#abortControllers.signal);
      this.#fail('ControllerFailed', `The controller ${controller.name} ended by itself.`);
    } catch (error) {
      this.#fail('ControllerFailed', `The controller ${controller.name} failed.`, error);
    }
  }

  /** Only the first reason counts: what ends because of the stop is no failure. */
  #fail(reason: FailureReason, message: string, cause?: unknown): void {
    this.#finish({ kind: 'failed', reason, message, ...(cause === undefined ? {} : { cause }) });
  }

  #finish(end: ManagerEnd): void {
    if (this.#state === 'stopping' || this.#state === 'stopped') return;
    this.#state = 'stopping';
    this.#stopControllers.abort();
    // Another instance may begin any moment, so a run in progress gets no grace, and gets to know at once.
    if (end.kind === 'failed' && end.reason === 'LeaseLost') this.#abortControllers.abort();
    this.#end.resolve(end);
  }

  async #stop(end: ManagerEnd): Promise<ManagerEnd> {
    const { log } = this.#options;
    if (end.kind === 'failed') log.error({ reason: end.reason, err: end.cause }, end.message);
    else log.info({}, 'stopping');
    const areIdle = await this.#stopControllersInTime();
    if (areIdle) {
      this.#stopElection.abort();
      await settledWithin(this.#election, lastWaitMs, this.#options.clock);
    }
    this.#stopCaches.abort();
    await settledWithin(this.#caches, lastWaitMs, this.#options.clock);
    this.#state = 'stopped';
    if (areIdle || end.kind === 'failed') return end;
    const message = 'A reconcile did not end in time, even when aborted. The lease is left to expire.';
    return { kind: 'failed', reason: 'StopTimedOut', message };
  }

  async #stopControllersInTime(): Promise<boolean> {
    const { clock, gracePeriodMs = 30_000, finish } = this.#options;
    const { signal } = this.#abortControllers;
    const finished = this.#controllers.then(() => finish?.(signal));
    if (!signal.aborted && (await settledWithin(finished, gracePeriodMs, clock))) return true;
    this.#abortControllers.abort();
    return settledWithin(finished, lastWaitMs, clock);
  }
}
