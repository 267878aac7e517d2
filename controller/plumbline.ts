import { hostname } from 'node:os';
import type { StoredDatabaseService } from '../constructs/api/resource.ts';
import { databaseLabel } from '../constructs/labels.ts';
import { Children } from './database/children.ts';
import { Databases } from './database/databases.ts';
import { databaseServices, watchedKinds } from './database/kinds.ts';
import { Reconciler } from './database/reconcile.ts';
import { GitDelivery } from './delivery/git-delivery.ts';
import type { GitWriter } from './delivery/git/writer.ts';
import { inWords } from './database/status.ts';
import type { Drift } from './drift/index.ts';
import {
  classify,
  Reflector,
  systemClock,
  type Kube,
  type ReflectorHandler,
  type ReflectorReport,
  type ResourceType,
} from './kube/index.ts';
import { Controller } from './runtime/controller.ts';
import { EventRecorder } from './runtime/event-recorder.ts';
import { kubeEventSink } from './event-sink.ts';
import type { Cache, Elector, ManagerEnd } from './runtime/lifecycle.ts';
import type { Logger } from './runtime/logger.ts';
import { Manager } from './runtime/manager.ts';
import { WorkQueue } from './runtime/work-queue.ts';

export interface PlumblineOptions {
  readonly kube: Kube;
  readonly log: Logger;
  /** Absent: this is the only instance. */
  readonly elector?: Elector;
  /** Only this namespace; defaults to all. */
  readonly namespace?: string;
  /** Databases that are worked on at a time. Defaults to 8. */
  readonly workers?: number;
  /** The branch that manifests are committed to; started and stopped with the controller. Defaults to none. */
  readonly git?: GitWriter;
  readonly onDrift?: (resource: StoredDatabaseService, drift: Drift) => void;
}

/** Priority of what was there at the start: an edit by a user goes before it. */
const startUpPriority = -100;

/** The controller: watches, decides, acts. */
export class Plumbline {
  readonly #options: PlumblineOptions;
  readonly #queue: WorkQueue;
  readonly #recorder: EventRecorder;
  readonly #manager: Manager;
  readonly #gitStop = new AbortController();
  readonly children: Children;
  readonly databases: Databases;

  constructor(options: PlumblineOptions) {
    const { kube, log } = options;
    this.#options = options;
    this.#queue = new WorkQueue({ clock: systemClock });
    this.children = new Children((key) => this.#wake(key));
    this.databases = new Databases((key, isInitial) =>
      this.#queue.add(key, { priority: isInitial ? startUpPriority : 0 }),
    );
    this.#recorder = new EventRecorder({
      sink: kubeEventSink(kube),
      clock: systemClock,
      log,
      classify,
      component: 'plumbline',
      instance: hostname(),
    });
    const reconciler = new Reconciler({
      kube,
      databases: this.databases,
      children: this.children,
      clock: systemClock,
      git:
        options.git &&
        new GitDelivery({
          writer: options.git,
          clock: systemClock,
          signal: this.#gitStop.signal,
          wake: (key) => this.#wake(key),
        }),
      onDrift: (resource, drift, action, log) => this.#tell(resource, drift, action, log),
    });
    const controller = new Controller({
      name: 'databaseservice',
      queue: this.#queue,
      reconcile: (key, signal, log) => reconciler.reconcile(key, signal, log),
      classify,
      log,
      concurrency: options.workers ?? 8,
    });
    const caches = [
      this.#databaseCache(),
      ...watchedKinds.map(({ type, metadataOnly }) => this.#childCache(type, metadataOnly)),
    ];
    this.#manager = new Manager({
      clock: systemClock,
      log,
      caches,
      controllers: [controller],
      elector: options.elector,
    });
  }

  get state(): Manager['state'] {
    return this.#manager.state;
  }

  /** Runs until the signal is aborted, or something fails that needs a new process. Never rejects. */
  async run(signal: AbortSignal): Promise<ManagerEnd> {
    await this.#options.git?.start();
    const end = await this.#manager.run(signal);
    this.#gitStop.abort();
    await this.#options.git?.stop();
    await this.#recorder.flush();
    return end;
  }

  #wake(key: string): void {
    // An object that says it belongs to a database which does not exist is none of our business.
    if (this.databases.get(key) !== undefined) this.#queue.add(key);
  }

  #databaseCache(): Cache {
    return this.#cache(databaseServices, undefined, false, {
      onUpsert: (object, { isInitial }) => this.databases.upsert(object, isInitial),
      onDelete: (key) => this.databases.delete(key),
    });
  }

  #childCache(type: ResourceType, metadataOnly: boolean): Cache {
    return this.#cache(type, databaseLabel, metadataOnly, {
      onUpsert: (object) => this.children.upsert(object),
      onDelete: (key) => this.children.delete(type.kind, key),
    });
  }

  #cache(
    type: ResourceType,
    labelSelector: string | undefined,
    metadataOnly: boolean,
    handler: ReflectorHandler,
  ): Cache {
    const { kube, namespace } = this.#options;
    const selection = { namespace, labelSelector, metadataOnly };
    const reflector = new Reflector({ kube, type, selection, handler, report: (report) => this.#note(type, report) });
    return { name: type.plural, start: (signal) => reflector.start(signal), synced: reflector.synced };
  }

  #note({ kind }: ResourceType, report: ReflectorReport): void {
    const { log } = this.#options;
    switch (report.kind) {
      case 'version-backwards':
        this.children.forgetVersions();
        log.warn(
          { watch: kind, ...report },
          'the version of the API server went back, as after a restored backup; everything is read again',
        );
        break;
      case 'handler-failed':
        log.error({ watch: kind, key: report.key, err: report.error }, 'a change could not be taken in');
        break;
      case 'request-failed':
        log.warn({ watch: kind, doing: report.doing, err: report.error }, 'a watch was interrupted');
        break;
      case 'watch-silent':
      case 'waiting':
        log.debug({ watch: kind, ...report }, 'a watch is opened again');
        break;
    }
  }

  #tell(resource: StoredDatabaseService, drift: Drift, action: 'Corrected' | 'Reported', log: Logger): void {
    const { name, namespace, uid } = resource.metadata;
    const message = `${inWords(drift)} ${action === 'Corrected' ? 'It was put back.' : 'It was left, since drift.policy is Report.'}`;
    log.info({ drift: { ...drift, action } }, message);
    const object = { apiVersion: resource.apiVersion, kind: resource.kind, name, namespace, uid };
    this.#recorder.record(object, { type: 'Warning', reason: `Drift${action}`, message });
    this.#options.onDrift?.(resource, drift);
  }
}
