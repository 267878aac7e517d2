import { Counter, Histogram, type Registry } from 'prom-client';
import type { DriftReceipt } from '../../constructs/api/status.ts';
import type { Drift } from '../drift/index.ts';
import { BoundedLabel } from './bounded-label.ts';

/** Managers that are told apart; whoever may write objects chooses their names. */
const mostManagers = 32;
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Changes by others, and how fast they are put back. */
export class DriftMetrics {
  readonly #total: Counter<'kind' | 'manager' | 'action'>;
  readonly #repair: Histogram;
  readonly #managers = new BoundedLabel(mostManagers);

  constructor(registry: Registry) {
    const registers = [registry];
    this.#total = new Counter({
      name: 'plumbline_drift_total',
      help: `Fields that somebody else changed, and whole objects that somebody deleted, by kind of object, field manager (unknown where nothing tells; the first ${mostManagers} are told apart, then it is other) and action: corrected or reported.`,
      labelNames: ['kind', 'manager', 'action'],
      registers,
    });
    this.#repair = new Histogram({
      name: 'plumbline_repair_seconds',
      help: 'Time from the event of a watch to the answer to the apply that put back what it showed. Repairs that had to wait, for a pause or their turn in a rollout, are not in it.',
      buckets,
      registers,
    });
  }

  /** Takes what was found of one object. */
  found(drifts: readonly Drift[], action: DriftReceipt['action']): void {
    for (const { object, editor } of drifts) {
      const kind = object.slice(0, object.indexOf('/'));
      this.#total.inc({ kind, manager: this.#managers.of(editor.manager), action: action.toLowerCase() });
    }
  }

  repaired(ms: number): void {
    this.#repair.observe(ms / 1000);
  }
}
