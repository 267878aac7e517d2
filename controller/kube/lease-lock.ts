import type { Clock } from './clock.ts';
import { classify, isObjectMissing } from './errors.ts';
import type { Kube } from './kube.ts';
import { LEASES, microTime, type Lease, type LeaseSpec } from './lease-record.ts';

export interface LeaseLockOptions {
  readonly kube: Kube;
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  readonly fieldManager: string;
  readonly leaseDurationMs: number;
  readonly clock: Clock;
  readonly wallClock: Clock;
}

/**
 * One Lease, read and written for one identity. Each write has the uid and resource version of what was last seen as
 * precondition, so of two writers one fails. Every method throws what `kube` throws; all take the signal that limits them.
 */
export class LeaseLock {
  readonly #options: LeaseLockOptions;
  #observed: { readonly lease: Lease; readonly record: string; readonly at: number } | undefined;
  #writtenAt: number | undefined;

  constructor(options: LeaseLockOptions) {
    this.#options = options;
  }

  /** Who was last seen to hold the lease; empty if nobody. */
  get holder(): string {
    return this.#observed?.lease.spec?.holderIdentity ?? '';
  }

  get isOurs(): boolean {
    return this.holder === this.#options.identity;
  }

  /** When the last write that succeeded was begun: others may count from then on. */
  get writtenAt(): number | undefined {
    return this.#writtenAt;
  }

  /** Milliseconds until anybody may take it, by how long its record has stood still before our eyes; 0 or less if that is over. */
  get expiresInMs(): number {
    if (this.#observed === undefined) return 0;
    const { at, lease } = this.#observed;
    return at + (lease.spec?.leaseDurationSeconds ?? 0) * 1000 - this.#options.clock.now();
  }

  /** Takes the lease if it is absent, free, ours or expired. @returns whether it is now ours. */
  async tryAcquire(limit: AbortSignal): Promise<boolean> {
    const lease = await this.#read(limit);
    if (lease === undefined) return this.#create(limit);
    const isHeld = this.holder !== '' && !this.isOurs && this.expiresInMs > 0;
    return !isHeld && this.#write(lease, limit);
  }

  /**
   * Renews on what was last seen; if that is outdated, on what is read, provided that it is still ours.
   * @returns false if another holds it.
   */
  async tryRenew(limit: AbortSignal): Promise<boolean> {
    const last = this.#observed?.lease;
    try {
      if (last !== undefined) return await this.#write(last, limit);
    } catch (error) {
      if (classify(error).class !== 'retry-now' && !isObjectMissing(error)) throw error;
    }
    const lease = await this.#read(limit);
    if (lease === undefined) return this.#create(limit);
    return this.isOurs && this.#write(lease, limit);
  }

  /** As client-go releases: nobody holds it, and for one second only. @returns whether it was ours. */
  async release(limit: AbortSignal): Promise<boolean> {
    const lease = await this.#read(limit);
    if (lease === undefined || !this.isOurs) return false;
    const now = this.#now();
    const spec = { holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now };
    this.#observe(await this.#patch(lease, spec, limit));
    return true;
  }

  async #read(limit: AbortSignal): Promise<Lease | undefined> {
    try {
      return this.#observe(await this.#options.kube.get(LEASES, this.#options, { signal: limit }));
    } catch (error) {
      if (isObjectMissing(error)) return undefined;
      throw error;
    }
  }

  async #create(limit: AbortSignal): Promise<boolean> {
    const { kube, namespace, name, fieldManager, clock } = this.#options;
    const startedAt = clock.now();
    const { apiVersion, kind } = LEASES;
    const lease = { apiVersion, kind, metadata: { name, namespace }, spec: this.#spec(undefined) };
    this.#observe(await kube.create(lease, { type: LEASES, fieldManager, signal: limit }));
    this.#writtenAt = startedAt;
    return true;
  }

  async #write(lease: Lease, limit: AbortSignal): Promise<boolean> {
    const startedAt = this.#options.clock.now();
    this.#observe(await this.#patch(lease, this.#spec(lease.spec), limit));
    this.#writtenAt = startedAt;
    return true;
  }

  #patch(lease: Lease, spec: LeaseSpec, signal: AbortSignal): Promise<Lease> {
    const { uid, resourceVersion } = lease.metadata;
    const { kube, fieldManager } = this.#options;
    const body = { metadata: { uid, resourceVersion }, spec };
    return kube.patch(LEASES, this.#options, { kind: 'merge', body, fieldManager }, { signal });
  }

  #observe(lease: Lease): Lease {
    const record = JSON.stringify(lease.spec ?? {});
    const at = this.#observed?.record === record ? this.#observed.at : this.#options.clock.now();
    this.#observed = { lease, record, at };
    return lease;
  }

  #spec(before: LeaseSpec | undefined): LeaseSpec {
    const { identity, leaseDurationMs } = this.#options;
    const now = this.#now();
    const isOurs = before?.holderIdentity === identity;
    const transitions = before?.leaseTransitions ?? 0;
    return {
      holderIdentity: identity,
      leaseDurationSeconds: leaseDurationMs / 1000,
      acquireTime: (isOurs ? before.acquireTime : undefined) ?? now,
      renewTime: now,
      leaseTransitions: isOurs || before === undefined ? transitions : transitions + 1,
    };
  }

  #now(): string {
    return microTime(this.#options.wallClock.now());
  }
}
