import { collectDefaultMetrics, Registry } from 'prom-client';
import packageJson from '../../package.json' with { type: 'json' };
import { monotonicClock, type Clock } from '../kube/index.ts';
import type { ControllerStats } from '../runtime/controller.ts';
import type { WorkQueueStats } from '../runtime/work-queue.ts';
import { databaseFamilies, databaseText, type DatabaseSource } from './databases.ts';
import { DriftMetrics } from './drift.ts';
import type { Family } from './exposition.ts';
import { LeadershipMetrics } from './leadership.ts';
import { Primaries } from './primaries.ts';
import { readGauge } from './read-gauge.ts';
import { ReconcileMetrics } from './reconciles.ts';
import { RepairTimes } from './repair-times.ts';
import { RequestMetrics } from './requests.ts';
import { RolloutMetrics } from './rollouts.ts';
import { WorkQueueMetrics } from './work-queue.ts';

/** What is read at each scrape. */
export interface MetricsSource extends DatabaseSource {
  queueStats(): WorkQueueStats;
  controllerStats(): ControllerStats;
}

export interface MetricsOptions {
  /** Measures durations. Defaults to a clock that never jumps. */
  readonly clock?: Clock;
  /** Those of the process too (`process_*`, `nodejs_*`). Defaults to false: the event loop is looked at every 10 ms for them. */
  readonly hasProcess?: boolean;
}

/** A metric, for documentation. */
export interface Described extends Omit<Family, 'type'> {
  readonly type: string;
}

const controller = 'databaseservice';

/** Gauges that prom-client names as counters are named. Each is the sum of another metric. */
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** What the controller counts and measures. Counts outlive a lost lease; everything else is read from memory when somebody asks. */
export class Metrics {
  readonly #registry = new Registry();
  #source: MetricsSource | undefined;
  readonly reconciles: ReconcileMetrics;
  readonly workQueue: WorkQueueMetrics;
  readonly requests: RequestMetrics;
  readonly leadership: LeadershipMetrics;
  readonly drift: DriftMetrics;
  readonly rollouts: RolloutMetrics;
  readonly repairTimes: RepairTimes;
  readonly primaries: Primaries;

  constructor({ clock = monotonicClock, hasProcess = false }: MetricsOptions = {}) {
    this.reconciles = new ReconcileMetrics(this.#registry, controller, () => this.#source?.controllerStats());
    this.workQueue = new WorkQueueMetrics(this.#registry, controller, () => this.#source?.queueStats());
    this.requests = new RequestMetrics(this.#registry);
    this.leadership = new LeadershipMetrics(this.#registry);
    this.drift = new DriftMetrics(this.#registry);
    this.rollouts = new RolloutMetrics(this.#registry);
    this.repairTimes = new RepairTimes(clock);
    this.primaries = new Primaries(clock);
    readGauge(this.#registry, {
      name: 'plumbline_build_info',
      help: 'Always 1; which version of Plumbline this is.',
      labels: { version: packageJson.version },
      read: () => 1,
    });
    if (hasProcess) {
      collectDefaultMetrics({ register: this.#registry });
      for (const name of misnamed) this.#registry.removeSingleMetric(name);
    }
  }

  /** From now on this is what is read. */
  follow(source: MetricsSource): void {
    this.#source = source;
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** In Prometheus' text format. */
  async *text(): AsyncGenerator<string> {
    yield await this.#registry.metrics();
    if (this.#source !== undefined) yield* databaseText(this.#source, (key) => this.primaries.failovers(key));
  }

  /** Every metric there is, in the order of their names. */
  async described(): Promise<readonly Described[]> {
    const kept = this.#registry.getMetricsAsArray() as unknown as readonly (Described & {
      readonly labelNames: string[];
    })[];
    const all = [
      ...kept.map(({ name, help, type, labelNames }) => ({ name, help, type, labels: labelNames })),
      ...databaseFamilies.map(({ name, help, labels, type = 'gauge' }) => ({ name, help, type, labels })),
    ];
    return all.toSorted((a, b) => a.name.localeCompare(b.name));
  }
}
