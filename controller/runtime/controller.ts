import { randomUUID } from 'node:crypto';
import { SpanStatusCode, type Attributes, type Span } from '@opentelemetry/api';
import { monotonicClock, type Clock } from '../kube/clock.ts';
import { tracer } from '../tracer.ts';
import type { ErrorVerdict } from './error-verdict.ts';
import type { Runnable } from './lifecycle.ts';
import type { Logger } from './logger.ts';
import type { WorkQueue } from './work-queue.ts';

export interface ReconcileResult {
  /** Come back after this time even if nothing happens. */
  readonly requeueAfterMs?: number;
}

/**
 * Brings one key's world in line. `signal` is aborted when the run must end at once (lease lost, grace period over).
 * Each line of `log` bears the key and this run's id.
 */
export type Reconcile = (key: string, signal: AbortSignal, log: Logger) => Promise<ReconcileResult | void>;

export interface ControllerOptions {
  readonly name: string;
  readonly queue: WorkQueue;
  readonly reconcile: Reconcile;
  /** `terminal` errors are not retried; the others are, `retry-now` without counting as a failure. */
  readonly classify: (error: unknown) => ErrorVerdict;
  readonly log: Logger;
  /** How many keys are worked at a time. Defaults to 1. */
  readonly concurrency?: number;
  /** Beside these, workers that take nothing below a priority: what is urgent need not wait until a long run has ended. Defaults to none. */
  readonly reserve?: { readonly workers: number; readonly priority: number };
  /** The priority of a key that asked to come back at a time, which says nothing of why it was worked before. Defaults to 0. */
  readonly priorityOfDue?: (key: string) => number;
  /** What the span of a run says of its key, such as the names in it. Defaults to nothing. */
  readonly attributesOf?: (key: string) => Attributes;
  /** Names a run in the log and in its span. Defaults to a random UUID. */
  readonly newReconcileId?: () => string;
  /** Told of each run that has ended, for metrics; must not throw. Defaults to nothing. */
  readonly onReconciled?: (run: ReconcileFacts) => void;
  /** Measures runs. Defaults to a clock that never jumps. */
  readonly clock?: Clock;
}

export type ReconcileOutcome = 'success' | 'requeueAfter' | 'retryNow' | 'error' | 'terminal' | 'aborted';

/** A run that has ended. */
export interface ReconcileFacts {
  readonly outcome: ReconcileOutcome;
  readonly ms: number;
}

/** Counts for metrics; all but `activeWorkers` only grow. */
export interface ControllerStats {
  readonly reconciles: Readonly<Record<ReconcileOutcome, number>>;
  /** Errors that are mistakes in the program (TypeError, RangeError, ReferenceError); they count as `error` too. */
  readonly panics: number;
  readonly activeWorkers: number;
  readonly maxConcurrentReconciles: number;
}

/**
 * Long enough for the watch to deliver what made our view outdated; a fixed time, so that a conflict neither grows the
 * delay nor, should it never end, becomes a busy loop.
 */
const retryNowMs = 100;

/** Workers that take keys from a queue and reconcile them. Whatever a reconcile throws, its worker goes on. */
export class Controller implements Runnable {
  readonly name: string;
  readonly #options: ControllerOptions;
  /** For each worker, the lowest priority that it takes. */
  readonly #workers: readonly number[];
  readonly #reconciles = { success: 0, requeueAfter: 0, retryNow: 0, error: 0, terminal: 0, aborted: 0 };
  #panics = 0;
  #activeWorkers = 0;

  constructor(options: ControllerOptions) {
    this.name = options.name;
    this.#options = options;
    const { concurrency = 1, reserve = { workers: 0, priority: 0 } } = options;
    this.#workers = [
      ...Array.from({ length: concurrency }, () => -Infinity),
      ...Array.from({ length: reserve.workers }, () => reserve.priority),
    ];
  }

  /** Resolves once `stop` is aborted and the reconciles in progress have ended; `abort` asks those to end early. */
  async run(stop: AbortSignal, abort: AbortSignal): Promise<void> {
    const { queue } = this.#options;
    if (stop.aborted) return;
    stop.addEventListener('abort', () => queue.shutDown(), { once: true });
    await Promise.all(this.#workers.map((atLeast) => this.#work(atLeast, abort)));
  }

  get stats(): ControllerStats {
    return {
      reconciles: { ...this.#reconciles },
      panics: this.#panics,
      activeWorkers: this.#activeWorkers,
      maxConcurrentReconciles: this.#workers.length,
    };
  }

  async #work(atLeast: number, abort: AbortSignal): Promise<void> {
    const { queue, onReconciled, clock = monotonicClock } = this.#options;
    for (;;) {
      const key = await queue.get(undefined, atLeast);
      if (key === undefined) return;
      this.#activeWorkers++;
      const startedAt = clock.now();
      const outcome = await this.#traced(key, abort);
      this.#reconciles[outcome]++;
      this.#activeWorkers--;
      onReconciled?.({ outcome, ms: clock.now() - startedAt });
      queue.done(key);
    }
  }

  /** One run in a span, whose children are those of what it asks for. */
  #traced(key: string, abort: AbortSignal): Promise<ReconcileOutcome> {
    const { queue, attributesOf, newReconcileId = randomUUID } = this.#options;
    const reconcileId = newReconcileId();
    const attributes = {
      ...attributesOf?.(key),
      'plumbline.controller': this.name,
      'plumbline.reconcile.id': reconcileId,
      'plumbline.reconcile.reason': queue.reasons(key),
    };
    return tracer().startActiveSpan(`reconcile ${this.name}`, { attributes }, async (span) => {
      const log = this.#options.log.child({ controller: this.name, key, reconcileId });
      const outcome = await this.#reconcile(key, abort, log, span);
      span.setAttribute('plumbline.reconcile.outcome', outcome);
      span.end();
      return outcome;
    });
  }

  async #reconcile(key: string, abort: AbortSignal, log: Logger, span: Span): Promise<ReconcileOutcome> {
    const { queue, reconcile, priorityOfDue = () => 0 } = this.#options;
    try {
      const result = await reconcile(key, abort, log);
      queue.forget(key);
      if (result?.requeueAfterMs === undefined) return 'success';
      queue.addAfter(key, result.requeueAfterMs, { priority: priorityOfDue(key), reason: 'due' });
      return 'requeueAfter';
    } catch (error) {
      if (abort.aborted) return 'aborted';
      return this.#fail(key, error, log, span);
    }
  }

  #fail(key: string, error: unknown, log: Logger, span: Span): 'retryNow' | 'error' | 'terminal' {
    const { queue } = this.#options;
    if (isPanic(error)) this.#panics++;
    const { class: errorClass, kind, retryAfterSeconds = 0 } = this.#verdict(error, log);
    const fields = { err: error, errorClass, errorKind: kind };
    span.setAttribute('error.type', kind);
    if (errorClass !== 'retry-now') span.setStatus({ code: SpanStatusCode.ERROR });
    switch (errorClass) {
      case 'retry-now':
        queue.addAfter(key, retryNowMs, { reason: 'outdated' });
        log.debug(fields, 'reconcile met something newer; it looks again');
        return 'retryNow';
      case 'terminal':
        queue.forget(key);
        log.error(fields, 'reconcile failed for good; it runs again when something changes');
        return 'terminal';
      case 'back-off':
      case 'wait-for': {
        const retryInMs = queue.addRateLimited(key, { atLeastMs: retryAfterSeconds * 1000, reason: 'retry' });
        log.error({ ...fields, retryInMs, failures: queue.failures(key) }, 'reconcile failed; it will be tried again');
        return 'error';
      }
    }
  }

  #verdict(error: unknown, log: Logger): ErrorVerdict {
    try {
      return this.#options.classify(error);
    } catch (err) {
      this.#panics++;
      log.error({ err }, 'the classification of an error failed itself; the error is taken for one to retry');
      return { class: 'back-off', kind: 'unknown' };
    }
  }
}

function isPanic(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
}
