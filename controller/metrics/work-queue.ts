import { Counter, exponentialBuckets, Histogram, type Registry } from 'prom-client';
import type { WorkQueueObserver, WorkQueueStats } from '../runtime/work-queue.ts';
import { readGauge } from './read-gauge.ts';

/** The work queue, under the names of client-go. */
export class WorkQueueMetrics implements WorkQueueObserver {
  readonly #labels: { readonly name: string; readonly controller: string };
  readonly #adds: Counter<'name' | 'controller'>;
  readonly #retries: Counter<'name' | 'controller'>;
  readonly #waited: Histogram<'name' | 'controller'>;
  readonly #worked: Histogram<'name' | 'controller'>;

  /** @param stats of the queue now; undefined where there is none */
  constructor(registry: Registry, controller: string, stats: () => WorkQueueStats | undefined) {
    const labels = { name: controller, controller };
    const common = { labelNames: ['name', 'controller'] as const, registers: [registry] };
    // As client-go has them.
    const buckets = exponentialBuckets(1e-8, 10, 12);
    this.#labels = labels;
    const gauge = (name: string, help: string, read: (stats: WorkQueueStats) => number): void =>
      readGauge(registry, {
        name,
        help,
        labels,
        read: () => {
          const now = stats();
          return now === undefined ? 0 : read(now);
        },
      });
    gauge('workqueue_depth', 'Databases that a worker could take now.', ({ ready }) => ready);
    this.#adds = new Counter({
      ...common,
      name: 'workqueue_adds_total',
      help: 'Databases that were added to the queue; those whose time has not come are among them.',
    });
    this.#retries = new Counter({
      ...common,
      name: 'workqueue_retries_total',
      help: 'Databases that were added again after a run that failed.',
    });
    this.#waited = new Histogram({
      ...common,
      name: 'workqueue_queue_duration_seconds',
      help: 'How long a database waited for a worker.',
      buckets,
    });
    this.#worked = new Histogram({
      ...common,
      name: 'workqueue_work_duration_seconds',
      help: 'How long a worker had a database.',
      buckets,
    });
    gauge(
      'workqueue_unfinished_work_seconds',
      'How long the runs in progress have taken so far, all together.',
      ({ unfinishedMs }) => unfinishedMs / 1000,
    );
    gauge(
      'workqueue_longest_running_processor_seconds',
      'How long the longest run in progress has taken so far.',
      ({ longestRunningMs }) => longestRunningMs / 1000,
    );
    this.#adds.inc(labels, 0);
    this.#retries.inc(labels, 0);
    this.#waited.zero(labels);
    this.#worked.zero(labels);
  }

  added(): void {
    this.#adds.inc(this.#labels);
  }

  retried(): void {
    this.#retries.inc(this.#labels);
  }

  taken(waitedMs: number): void {
    this.#waited.observe(this.#labels, waitedMs / 1000);
  }

  done(workedMs: number): void {
    this.#worked.observe(this.#labels, workedMs / 1000);
  }
}
