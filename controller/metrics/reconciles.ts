import { Counter, Histogram, type Registry } from 'prom-client';
import type { ControllerStats, ReconcileFacts, ReconcileOutcome } from '../runtime/controller.ts';
import { readGauge } from './read-gauge.ts';

/** As controller-runtime has them (pkg/internal/controller/metrics). */
const buckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

/** In controller-runtime's words. A run that was ended early, as at a stop, has no result. */
const results: Readonly<Record<Exclude<ReconcileOutcome, 'aborted'>, string>> = {
  success: 'success',
  requeueAfter: 'requeue_after',
  retryNow: 'requeue',
  error: 'error',
  terminal: 'error',
};

/** Runs of the reconciler, under the names of controller-runtime. */
export class ReconcileMetrics {
  readonly #controller: string;
  readonly #total: Counter<'controller' | 'result'>;
  readonly #errors: Counter<'controller'>;
  readonly #terminal: Counter<'controller'>;
  readonly #time: Histogram<'controller'>;

  /** @param stats of the controller now; undefined where there is none */
  constructor(registry: Registry, controller: string, stats: () => ControllerStats | undefined) {
    const registers = [registry];
    this.#controller = controller;
    this.#total = new Counter({
      name: 'controller_runtime_reconcile_total',
      help: 'Runs of the reconciler by result: success, requeue_after (it comes back at a set time), requeue (its view was outdated) or error.',
      labelNames: ['controller', 'result'],
      registers,
    });
    this.#errors = new Counter({
      name: 'controller_runtime_reconcile_errors_total',
      help: 'Runs that failed.',
      labelNames: ['controller'],
      registers,
    });
    this.#terminal = new Counter({
      name: 'controller_runtime_terminal_reconcile_errors_total',
      help: 'Runs that failed in a way that only a change of the database can mend; they are among the errors.',
      labelNames: ['controller'],
      registers,
    });
    const panics: Counter<'controller'> = new Counter({
      name: 'controller_runtime_reconcile_panics_total',
      help: 'Runs that failed by a mistake in the program; they are among the errors.',
      labelNames: ['controller'],
      registers,
      collect: () => {
        panics.reset();
        panics.inc({ controller }, stats()?.panics ?? 0);
      },
    });
    this.#time = new Histogram({
      name: 'controller_runtime_reconcile_time_seconds',
      help: 'How long runs took.',
      labelNames: ['controller'],
      buckets,
      registers,
    });
    readGauge(registry, {
      name: 'controller_runtime_active_workers',
      help: 'Databases that are being worked on.',
      labels: { controller },
      read: () => stats()?.activeWorkers ?? 0,
    });
    readGauge(registry, {
      name: 'controller_runtime_max_concurrent_reconciles',
      help: 'Databases that may be worked on at a time.',
      labels: { controller },
      read: () => stats()?.maxConcurrentReconciles ?? 0,
    });
    for (const result of new Set(Object.values(results))) this.#total.inc({ controller, result }, 0);
    this.#errors.inc({ controller }, 0);
    this.#terminal.inc({ controller }, 0);
    this.#time.zero({ controller });
  }

  /** Takes a run that has ended. */
  ended({ outcome, ms }: ReconcileFacts): void {
    if (outcome === 'aborted') return;
    const controller = this.#controller;
    const result = results[outcome];
    this.#total.inc({ controller, result });
    this.#time.observe({ controller }, ms / 1000);
    if (result === 'error') this.#errors.inc({ controller });
    if (outcome === 'terminal') this.#terminal.inc({ controller });
  }
}
