import type { Blocker } from '../database/blocker.ts';
import type { Outcome } from '../database/delivery.ts';
import type { Stated } from '../database/stated.ts';
import type { Drift } from '../drift/index.ts';

/** What becomes of a plan while it is carried out. */
export class Tally implements Outcome {
  readonly corrected: Drift[] = [];
  readonly flips: Drift[] = [];
  readonly left = new Map<string, readonly Drift[]>();
  readonly refused = new Set<string>();
  readonly made: string[] = [];
  readonly awaited: string[] = [];
  blocker: Blocker | undefined;
  #remark: Blocker | undefined;
  outdated: unknown;

  /** Nothing more can be done now: the API server cannot be asked, the namespace takes nothing, or what was believed is outdated. */
  get isOver(): boolean {
    const isEnding = this.blocker?.reason === 'NamespaceTerminating';
    return this.outdated !== undefined || this.blocker?.next.kind === 'retry' || isEnding;
  }

  make({ key }: Stated, drifts: readonly Drift[], untold: readonly Drift[] = []): void {
    this.made.push(key);
    this.corrected.push(...drifts);
    this.flips.push(...drifts, ...untold);
  }

  leave({ key }: Stated, drifts: readonly Drift[]): void {
    this.left.set(key, drifts);
  }

  /** What others changed could not be put back. */
  refuse({ key }: Stated, drifts: readonly Drift[]): void {
    if (drifts.length === 0) return;
    this.left.set(key, drifts);
    this.refused.add(key);
  }

  /** Something that has to be said, and keeps nothing from being done. */
  remark(blocker: Blocker): void {
    this.#remark ??= blocker;
  }

  /** No more is done: what had to be said is what hinders, unless something hindered more. */
  finish(): this {
    this.blocker ??= this.#remark;
    return this;
  }

  /** Only the first reason counts, unless a later one ends everything. */
  block(blocker: Blocker): void {
    if (this.blocker === undefined || blocker.next.kind === 'retry') this.blocker = blocker;
  }
}
