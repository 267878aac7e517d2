import { hostname } from 'node:os';
import type { StoredDatabaseService } from '../constructs/api/resource.ts';
import { Children, type Change } from './database/children.ts';
import { Databases } from './database/databases.ts';
import { destinationIn, finalizerFor } from './database/git-finalizers.ts';
import { PatroniRecords } from './database/patroni-records.ts';
import { Reconciler, type Found } from './database/reconcile.ts';
import { restartRemedy } from './database/restart-remedy.ts';
import { restartsInWords } from './database/restarts.ts';
import { endOf, type Restraint } from './database/restraint.ts';
import { Rollouts, type Happened } from './database/rollouts.ts';
import { destinationWatches } from './delivery/destinations/destination-watch.ts';
import { watches } from './database/watches.ts';
import { ClusterDelivery } from './delivery/apply.ts';
import { CertificateKeeper } from './delivery/certificate-keeper.ts';
import { Destinations } from './delivery/destinations/destinations.ts';
import { DestinationReconciler } from './delivery/destinations/reconcile-destination.ts';
import { WriterPool, type WriterPoolOptions } from './delivery/destinations/writer-pool.ts';
import { GitDelivery } from './delivery/git-delivery.ts';
import { knownPasswords } from './delivery/known-passwords.ts';
import type { GitTarget } from './delivery/git-target.ts';
import { StepExecutor } from './delivery/step-executor.ts';
import { MountRefresher } from './delivery/mount-refresher.ts';
import type { GitWriter } from './delivery/git/writer.ts';
import {
  episodes,
  inWords,
  isAddition,
  isCreation,
  type ContestRules,
  type Drift,
  type Episode,
} from './drift/index.ts';
import { kubeEventSink } from './event-sink.ts';
import { classify, monotonicClock, refOf, systemClock, timestamp, type Clock, type Kube } from './kube/index.ts';
import { Metrics, type RequestReason } from './metrics/index.ts';
import { creationPriority, startUpPriority } from './priorities.ts';
import { Controller, type ControllerStats, type ReconcileResult } from './runtime/controller.ts';
import { EventRecorder } from './runtime/event-recorder.ts';
import type { Elector, ManagerEnd } from './runtime/lifecycle.ts';
import type { Logger } from './runtime/logger.ts';
import { Manager } from './runtime/manager.ts';
import { settledWithin } from './runtime/settled-within.ts';
import { WorkQueue, type WorkQueueStats } from './runtime/work-queue.ts';

export interface PlumblineOptions {
  readonly kube: Kube;
  /** A client for each reason, where requests are counted by that. Defaults to `kube` for all. */
  readonly kubeFor?: (reason: RequestReason) => Kube;
  readonly log: Logger;
  /** Absent: this is the only instance. */
  readonly elector?: Elector;
  /** Only this namespace, or these; defaults to all. */
  readonly namespace?: string | readonly string[] | undefined;
  /** How long the first reading of everything may take before the run fails. Defaults to 2 minutes. */
  readonly cacheSyncTimeoutMs?: number | undefined;
  /** Databases that are worked on at a time. Defaults to 8. */
  readonly workers?: number;
  /** How often what no watch shows is looked for, such as whether a name has become free. Defaults to 15 s. */
  readonly lookAgainMs?: number;
  /** The branch that manifests are committed to; started and stopped with the controller. Defaults to none. */
  readonly git?: GitWriter | undefined;
  /** What GitDestinations need. Defaults to serving none. */
  readonly destinations?: Pick<WriterPoolOptions, 'folder' | 'namespace' | 'cluster'> | undefined;
  /** What certificates and statuses take their times from: a wall clock. Defaults to the machine's. */
  readonly clock?: Clock;
  /** When a change that comes again and again is a fight. Defaults to six times within half an hour. */
  readonly contest?: ContestRules;
  /** Where things are counted; may be that of an earlier run. Defaults to new ones that nobody reads. */
  readonly metrics?: Metrics;
  /** Told of each change by somebody else. */
  readonly onDrift?: (resource: StoredDatabaseService, drift: Drift) => void;
  /** Told of each step of a rollout. */
  readonly onStep?: (resource: StoredDatabaseService, happened: Happened) => void;
}

/** Workers that are kept for what is not one of these two. */
const reserveWorkers = 2;
/** Pods start and end in bursts; their events within this time make one look and one status. */
const gatherMs = 50;
/** The most fields of one drift in a log line. */
const longestList = 10;
/** How long a commit may keep the lease from being given back; the next one who leads makes it again. */
const lastCommitMs = 5_000;
/** How long a push may keep one who has lost the lease. */
const lastWaitMs = 2_000;

/** The controller: watches, decides, acts. */
export class Plumbline {
  readonly #options: PlumblineOptions;
  readonly #queue: WorkQueue;
  readonly #recorder: EventRecorder;
  readonly #manager: Manager;
  readonly #controller: Controller;
  readonly #metrics: Metrics;
  readonly #gitStop = new AbortController();
  readonly #destinations: Destinations | undefined;
  readonly children: Children;
  readonly databases: Databases;

  constructor(options: PlumblineOptions) {
    const { log, namespace, lookAgainMs, clock = systemClock, metrics = new Metrics() } = options;
    const { kubeFor = () => options.kube } = options;
    const namespaces = typeof namespace === 'string' ? [namespace] : namespace;
    this.#options = options;
    this.#metrics = metrics;
    this.#queue = new WorkQueue({ clock: monotonicClock, observer: metrics.workQueue });
    const children = new Children((key, change) => this.#wake(key, change));
    const databases = new Databases((key, isInitial) =>
      this.#queue.add(
        key,
        isInitial
          ? { priority: startUpPriority, reason: 'start' }
          : { priority: this.#priorityOf(key), reason: 'database' },
      ),
    );
    this.children = children;
    this.databases = databases;
    const component = 'plumbline';
    const sink = kubeEventSink(kubeFor('event'));
    this.#recorder = new EventRecorder({ sink, clock: systemClock, log, classify, component, instance: hostname() });
    const wake = (key: string): void => this.#wake(key, 'health', 'git');
    const gitDelivery = new GitDelivery({
      targetOf: (resource) => this.#targetOf(resource),
      passwordsOf: (resource) => knownPasswords(kubeFor('destination'), resource, this.#gitStop.signal),
      targetIn: (resource, finalizer) => this.#targetIn(resource, destinationIn(finalizer)),
      clock: systemClock,
      signal: this.#gitStop.signal,
      wake,
    });
    const onLost = (key: string): void => gitDelivery.redeliver(key);
    options.git?.whenLost(onLost);
    const reconciler = new Reconciler({
      kube: kubeFor('reconcile'),
      databases,
      children,
      clock,
      certificates: new CertificateKeeper(kubeFor('certificate'), children, clock),
      mounts: new MountRefresher(kubeFor('mount'), children),
      apply: new ClusterDelivery(kubeFor('manifest'), children, clock),
      rollouts: new Rollouts({
        kube: kubeFor('rollout'),
        children,
        steps: new StepExecutor(kubeFor('rollout')),
        clock,
        onStep: (resource, happened) => this.#tellStep(resource, happened),
      }),
      records: new PatroniRecords(kubeFor('record')),
      git: gitDelivery,
      onLeft: (resource, message) => this.#tellLeft(resource, message),
      lookAgainMs,
      contest: options.contest,
      onDrift: (resource, found, log) => this.#tell(resource, found, log),
    });
    const controller = new Controller({
      name: 'databaseservice',
      queue: this.#queue,
      reconcile: (key, signal, log) => this.#watched(key, () => reconciler.reconcile(key, signal, log)),
      classify,
      log,
      attributesOf: (key) => {
        const { namespace = '', name } = refOf(key);
        return { 'k8s.namespace.name': namespace, 'plumbline.database.name': name };
      },
      concurrency: options.workers ?? 8,
      reserve: { workers: reserveWorkers, priority: 0 },
      priorityOfDue: (key) => this.#priorityOf(key),
      onReconciled: (run) => metrics.reconciles.ended(run),
    });
    this.#controller = controller;
    metrics.follow(this);
    const serving = options.destinations && this.#serveDestinations({ ...options.destinations, onLost }, clock);
    this.#destinations = serving?.destinations;
    this.#manager = new Manager({
      clock: monotonicClock,
      log,
      caches: [
        ...watches({ kube: kubeFor('watch'), log, children, databases, namespaces }),
        ...(serving?.caches ?? []),
      ],
      controllers: [controller, ...(serving?.controllers ?? [])],
      cacheSyncTimeoutMs: options.cacheSyncTimeoutMs,
      elector: options.elector,
      finish: (abort) => this.#finish(abort),
    });
  }

  get state(): Manager['state'] {
    return this.#manager.state;
  }

  /** Names of the kinds that have not been read yet. */
  get unread(): ReadonlySet<string> {
    return this.#manager.unread;
  }

  queueStats(): WorkQueueStats {
    return this.#queue.stats;
  }

  controllerStats(): ControllerStats {
    return this.#controller.stats;
  }

  /**
   * Runs until the signal is aborted, or something fails that needs a new process.
   * @throws GitDeliveryError when there is a writer and no git
   */
  async run(signal: AbortSignal): Promise<ManagerEnd> {
    await this.#options.git?.start();
    const end = await this.#manager.run(signal);
    // A push may hang, and whoever has lost the lease is to be gone soon.
    if (end.kind === 'failed' && end.reason === 'LeaseLost')
      await settledWithin(this.#stopGit(), lastWaitMs, monotonicClock);
    else await this.#stopGit();
    return end;
  }

  /** While the lease is still ours: commits what was decided, unless that takes too long, and writes the Events of it. */
  async #finish(abort: AbortSignal): Promise<void> {
    const stopped = this.#stopGit();
    if (abort.aborted) return this.#recorder.abandon();
    await settledWithin(stopped, lastCommitMs, monotonicClock);
    await this.#recorder.flush();
  }

  async #stopGit(): Promise<void> {
    this.#gitStop.abort();
    await Promise.all([this.#options.git?.stop(), this.#destinations?.pool.stop()]);
  }

  #serveDestinations(own: Pick<WriterPoolOptions, 'folder' | 'namespace' | 'cluster' | 'onLost'>, clock: Clock) {
    const { log, elector, kubeFor = () => this.#options.kube } = this.#options;
    const kube = kubeFor('destination');
    const queue = new WorkQueue({ clock: monotonicClock });
    const destinations = new Destinations({
      cluster: own.cluster,
      clock,
      pool: (onBatch) =>
        new WriterPool({ ...own, kube, clock: systemClock, onBatch, mayWrite: () => elector?.isLeading ?? true }),
      changed: (name) => queue.add(name, { reason: 'destination' }),
      recovered: (name) => this.#databasesOf(name).forEach(own.onLost),
    });
    const reconciler = new DestinationReconciler({
      kube,
      destinations,
      clock,
      settled: (name) => this.#databasesOf(name).forEach((key) => this.#queue.add(key, { reason: 'destination' })),
    });
    const controller = new Controller({
      name: 'gitdestination',
      queue,
      reconcile: (name, signal) => reconciler.reconcile(name, signal),
      classify,
      log,
      attributesOf: (name) => ({ 'plumbline.destination.name': name }),
    });
    return {
      destinations,
      controllers: [controller],
      caches: destinationWatches({ kube: kubeFor('watch'), log, destinations, namespace: own.namespace }),
    };
  }

  #databasesOf(destination: string): readonly string[] {
    const finalizer = finalizerFor(destination);
    return [...this.databases.keys()].filter((key) => {
      const resource = this.databases.get(key);
      // One that is past the schema may be without a spec.
      const isFor = resource?.spec?.delivery?.git?.destination === destination;
      return isFor || resource?.metadata.finalizers?.includes(finalizer) === true;
    });
  }

  #targetOf(resource: StoredDatabaseService): GitTarget | undefined {
    const name = resource.spec.delivery?.git?.destination;
    return name === undefined && this.#options.git === undefined ? undefined : this.#targetIn(resource, name);
  }

  /** @param destination undefined for the branch of the options */
  #targetIn(resource: StoredDatabaseService, destination: string | undefined): GitTarget {
    const { git } = this.#options;
    if (destination !== undefined) return this.#destinations?.targetIn(destination, resource) ?? notServed(destination);
    if (git === undefined) return { kind: 'unusable', failure: withoutBranch };
    return {
      kind: 'place',
      id: 'the branch of the controller',
      way: 'the branch of the controller',
      finalizer: finalizerFor(undefined),
      submit: (submission) => git.submit(submission),
    };
  }

  /** @param reason for the span of the run; defaults to what has changed */
  #wake(key: string, change: Change, reason: string = change): void {
    // An object that says it belongs to a database which does not exist is none of our business.
    if (this.databases.get(key) === undefined) return;
    if (change === 'absence') this.databases.doubt(key);
    if (change !== 'health' && this.state === 'leading') this.#metrics.repairTimes.changed(key);
    const priority = this.#priorityOf(key);
    if (change === 'health') this.#queue.addAfter(key, gatherMs, { priority, reason });
    else this.#queue.add(key, { priority, reason });
  }

  #priorityOf(key: string): number {
    return this.databases.isNew(key) ? creationPriority : 0;
  }

  async #watched(key: string, run: () => Promise<ReconcileResult>): Promise<ReconcileResult> {
    const { repairTimes, primaries } = this.#metrics;
    try {
      return await repairTimes.during(key, run);
    } finally {
      const resource = this.databases.get(key);
      if (resource === undefined) primaries.forget(key);
      else primaries.see(key, resource.status?.primary);
    }
  }

  #tellStep(resource: StoredDatabaseService, happened: Happened): void {
    const { apiVersion, kind, metadata } = resource;
    const { name, namespace, uid } = metadata;
    const { log, onStep } = this.#options;
    const key = `${namespace}/${name}`;
    this.#metrics.rollouts.told(happened.reason);
    if (happened.reason === 'SwitchoverRequested') this.#metrics.primaries.ask(key);
    log.info({ key, reason: happened.reason }, happened.message);
    this.#recorder.record({ apiVersion, kind, name, namespace, uid }, happened);
    onStep?.(resource, happened);
  }

  #tellLeft({ apiVersion, kind, metadata }: StoredDatabaseService, message: string): void {
    const { name, namespace, uid } = metadata;
    this.#options.log.warn({ key: `${namespace}/${name}`, reason: 'LeftInGit' }, message);
    const happening = { type: 'Warning', reason: 'LeftInGit', message } as const;
    this.#recorder.record({ apiVersion, kind, name, namespace, uid }, happening);
  }

  #tell(resource: StoredDatabaseService, found: Found, log: Logger): void {
    const { corrected, reported, restraint, restarts, isRefused, isInGit } = found;
    for (const episode of episodes(corrected)) {
      const isTaken = episode.drifts.every(isCreation);
      const end = episode.drifts.every(isAddition)
        ? 'It was removed.'
        : `It was ${isTaken ? 'taken over' : 'put back'}.`;
      const cost = restartRemedy(resource, episode.drifts) ?? restartsInWords(episode.drifts, restarts, true);
      this.#tellOne(resource, episode, 'Corrected', withCost(end, cost), log);
    }
    for (const episode of episodes(reported)) {
      const end = isRefused(episode.object)
        ? 'It could not be put back, and the conditions say why.'
        : `It was left, since ${whyLeft(resource, restraint(episode.object), isInGit)}.`;
      // What is only added is not put back.
      const changes = episode.drifts.filter((drift) => !isAddition(drift));
      const cost = restartRemedy(resource, episode.drifts) ?? restartsInWords(changes, restarts, false);
      this.#tellOne(resource, episode, 'Reported', withCost(end, cost), log);
    }
    for (const drift of [...corrected, ...reported]) this.#options.onDrift?.(resource, drift);
  }

  #tellOne(
    resource: StoredDatabaseService,
    episode: Episode,
    action: 'Corrected' | 'Reported',
    end: string,
    log: Logger,
  ): void {
    const { apiVersion, kind, metadata } = resource;
    const { name, namespace, uid } = metadata;
    const message = `${inWords(episode)} ${end}`;
    const { object, editor, drifts } = episode;
    const fields = drifts.slice(0, longestList).map(({ field, was, now }) => ({ field, was, now }));
    this.#metrics.drift.found(drifts, action);
    const elapsedMs = this.#metrics.repairTimes.elapsed(`${namespace}/${name}`);
    if (action === 'Corrected' && elapsedMs !== undefined) this.#metrics.drift.repaired(elapsedMs);
    log.info({ drift: { action, object, ...editor, count: drifts.length, fields } }, message);
    const happening = { type: 'Warning', reason: `Drift${action}`, message } as const;
    this.#recorder.record({ apiVersion, kind, name, namespace, uid }, happening);
  }
}

const withoutBranch = 'This controller has no branch of its own: it was started without --git-url.';

function notServed(name: string): GitTarget {
  const failure = `This controller looks at no GitDestinations, so not at ${name} either: install their definition, give it the right to list and watch them, and start it again.`;
  return { kind: 'unusable', failure };
}

function withCost(end: string, cost: string | undefined): string {
  return cost === undefined ? end : `${end} ${cost}`;
}

function whyLeft({ spec }: StoredDatabaseService, restraint: Restraint | undefined, isInGit: boolean): string {
  if (spec.delivery?.apply === false && !isInGit) return 'delivery.apply is false and a GitOps tool is to put it back';
  if (spec.drift?.policy === 'Report') return 'drift.policy is Report';
  switch (restraint?.kind) {
    case 'paused':
      return `drift is paused until ${timestamp(restraint.until)}`;
    case 'contested':
      return `it comes again and again, and is tried again at ${timestamp(endOf(restraint))}`;
    case undefined:
      return 'drift.additions is Report';
  }
}
