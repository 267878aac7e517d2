import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { monotonicClock, pause, systemClock, type Clock } from './clock.ts';
import { Deadline } from './deadline.ts';
import type { Kube } from './kube.ts';
import { LeaseLock } from './lease-lock.ts';

export interface LeaderElectorOptions {
  /** Should have a connection of its own: `new KubeClient(connection, { lane: 'lease' })`. Needs get, create and patch on leases. */
  readonly kube: Kube;
  readonly namespace: string;
  readonly name: string;
  /** Who we are; no two processes may share it, nor may one process after a restart. Defaults to `<host name>_<uuid>`. */
  readonly identity?: string;
  /** Defaults to `plumbline-leader-election`. */
  readonly fieldManager?: string;
  /** How long others wait for a silent leader; whole seconds, in milliseconds. Defaults to 15,000. */
  readonly leaseDurationMs?: number;
  /** A leader that could not renew for so long stops. Defaults to 10,000 milliseconds. */
  readonly renewDeadlineMs?: number;
  /** Time between renewals; whoever waits tries a little more often, and when the lease expires. Defaults to 2,000 milliseconds. */
  readonly retryPeriodMs?: number;
  /** A failed request; the election goes on. Must not throw. */
  readonly onError?: (error: unknown) => void;
  /** Measures durations. Defaults to a clock that never jumps. */
  readonly clock?: Clock;
  /** Writes the times that people read in the Lease; nobody decides by them. */
  readonly wallClock?: Clock;
  /** Numbers in [0, 1). Defaults to `Math.random`. */
  readonly random?: () => number;
}

export interface LeaderCallbacks {
  /** Must return at once; what it starts must end when leadership does. */
  onStartedLeading(): void;
  /** Leadership is over: lost, or about to be given back. After a loss the process should exit. */
  onStoppedLeading(): void;
  /** Another holder was seen, or we became the holder. Never called for an empty one. */
  onNewLeader?(identity: string): void;
}

/**
 * Of the retry period, between tries of one who waits: less than all of it, so that he leads within that time after the lease was given back, and
 * more or less of it, so that not all try at once. client-go waits for up to 2.2 of it, with which a dead leader may be followed after 24 s.
 */
const TRY = { atLeast: 0.7, atMost: 0.9 };

/**
 * Leader election on a Lease, with client-go's contract and numbers (tools/leaderelection): a lease is judged by when
 * its record was seen to change here, not by the times written in it, so clocks need not agree.
 *
 * It does not fence: a leader that was frozen finds out only when it runs again. Ask `isLeading` before a write, and
 * give writes preconditions of their own.
 */
export class LeaderElector {
  readonly identity: string;
  readonly #options: LeaderElectorOptions;
  readonly #clock: Clock;
  readonly #renewMs: number;
  readonly #retryMs: number;
  readonly #lock: LeaseLock;
  #reportedLeader = '';
  #isElected = false;

  /** @throws RangeError unless lease duration > renew deadline > retry period. */
  constructor(options: LeaderElectorOptions) {
    const { kube, namespace, name, leaseDurationMs = 15_000 } = options;
    this.identity = options.identity ?? `${hostname()}_${randomUUID()}`;
    this.#options = options;
    this.#clock = options.clock ?? monotonicClock;
    this.#renewMs = options.renewDeadlineMs ?? 10_000;
    this.#retryMs = options.retryPeriodMs ?? 2_000;
    if (leaseDurationMs <= this.#renewMs || this.#renewMs <= this.#retryMs || leaseDurationMs % 1000 !== 0) {
      throw new RangeError('a lease needs: duration (whole seconds) > renew deadline > retry period');
    }
    const fieldManager = options.fieldManager ?? 'plumbline-leader-election';
    const clocks = { clock: this.#clock, wallClock: options.wallClock ?? systemClock };
    this.#lock = new LeaseLock({
      kube,
      namespace,
      name,
      identity: this.identity,
      fieldManager,
      leaseDurationMs,
      ...clocks,
    });
  }

  /** Whether we lead and have renewed in time. False as soon as others may have to be reckoned with. */
  get isLeading(): boolean {
    return this.#isElected && this.#leftMs() > 0;
  }

  /** Who was last seen to hold the lease; empty if nobody. */
  get leader(): string {
    return this.#lock.holder;
  }

  /**
   * Tries to become the leader, then leads until the lease is lost or `signal` is aborted; then gives it back. Abort it
   * only when the leader's work has ended: another may begin at once. A lost lease is left as it is.
   * @returns when leadership is over; rejects only with what a callback throws.
   */
  async run(callbacks: LeaderCallbacks, signal: AbortSignal): Promise<void> {
    if (!(await this.#acquire(callbacks, signal))) return;
    let isLost = false;
    try {
      this.#isElected = true;
      callbacks.onStartedLeading();
      isLost = await this.#renewUntilLost(callbacks, signal);
    } finally {
      this.#isElected = false;
      try {
        callbacks.onStoppedLeading();
      } finally {
        if (!isLost) await this.#attempt((limit) => this.#lock.release(limit), this.#renewMs / 2, undefined);
      }
    }
  }

  async #acquire(callbacks: LeaderCallbacks, signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      const isAcquired = await this.#attempt((limit) => this.#lock.tryAcquire(limit), this.#renewMs / 2, signal);
      this.#reportLeader(callbacks);
      if (isAcquired) return true;
      if (!(await pause(this.#clock, this.#untilNextTryMs(), signal))) return false;
    }
    return false;
  }

  #untilNextTryMs(): number {
    const { random = Math.random } = this.#options;
    const tryMs = this.#retryMs * (TRY.atLeast + (TRY.atMost - TRY.atLeast) * random());
    const { expiresInMs } = this.#lock;
    return expiresInMs > 0 ? Math.min(tryMs, expiresInMs) : tryMs;
  }

  /** @returns true if the lease was lost, false if `signal` ended it. */
  async #renewUntilLost(callbacks: LeaderCallbacks, signal: AbortSignal): Promise<boolean> {
    while (await pause(this.#clock, Math.max(0, Math.min(this.#retryMs, this.#leftMs())), signal)) {
      // After a freeze the deadline is past; one try then tells whether anybody else has led since.
      const leftMs = this.#leftMs();
      const limitMs = leftMs > 0 ? Math.min(leftMs, this.#renewMs / 2) : 1_000;
      const isRenewed = await this.#attempt((limit) => this.#lock.tryRenew(limit), limitMs, signal);
      this.#reportLeader(callbacks);
      const isLost = !this.#lock.isOurs || (!isRenewed && this.#leftMs() <= 0);
      if (isLost && !signal.aborted) return true;
    }
    return false;
  }

  /** Milliseconds until a leader that can't renew must stop. */
  #leftMs(): number {
    return (this.#lock.writtenAt ?? 0) + this.#renewMs - this.#clock.now();
  }

  /** @param limitMs for all requests of the attempt together. */
  async #attempt(
    attempt: (limit: AbortSignal) => Promise<boolean>,
    limitMs: number,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const { namespace, name } = this.#options;
    const expired = (): Error => new Error(`no answer about the lease ${namespace}/${name} within ${limitMs / 1000} s`);
    const deadline = new Deadline(this.#clock, limitMs, signal, expired);
    try {
      return await attempt(deadline.signal);
    } catch (error) {
      if (signal?.aborted !== true) this.#options.onError?.(error);
      return false;
    } finally {
      deadline.release();
    }
  }

  #reportLeader(callbacks: LeaderCallbacks): void {
    if (this.leader === '' || this.leader === this.#reportedLeader) return;
    this.#reportedLeader = this.leader;
    callbacks.onNewLeader?.(this.leader);
  }
}
