import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connect, KubeClient, type Connection, type Kube } from '../../../controller/kube/index.ts';
import { bundle } from '../../../images/controller/bundle.ts';
import { eventually } from '../../controller/running-plumbline.ts';
import { asked, countRequests, countsBetween, type RequestCounts } from '../request-counts.ts';
import { Fleet } from './fleet.ts';
import { applyPlainly } from './floor.ts';
import { Grounds, namespaceOf } from './grounds.ts';
import { cpuOf, processesIn } from './processes.ts';
import { ShippedController } from './shipped-controller.ts';
import type { MembersReport, MembersRequest } from './simulated-members.ts';

/** What is asked for once more, a while after it was missing, is asked for by then. */
const quietMs = 20_000;
const longestMs = 300_000;
/** Of each database of the fleet and of the plain loop. */
const members = 3;
const user = 'plumbline-bench';
const floorPrefix = 'floor';

/** What happened while something else did. */
export interface Happened {
  readonly seconds: number;
  /** What the controller asked for, as the API server counts it. */
  readonly requests: RequestCounts;
  /** Seconds of the processor, by the name of the program. */
  readonly cpu: ReadonlyMap<string, number>;
}

/** What a plain loop takes for one database, in seconds. */
export interface Floor {
  /** Until its bodies are applied, one after the other. */
  readonly applied: number;
  /** Until its members run as well, for which others care. */
  readonly running: number;
}

/** A cluster with a fleet of databases, the controller that looks after it, and whoever plays its members. */
export class Works implements AsyncDisposable {
  readonly fleet: Fleet;
  controller: ShippedController;
  readonly #grounds: Grounds;
  readonly #connection: Connection;
  readonly #kube: Kube;
  readonly #members: ChildProcess;
  readonly #requests: () => Promise<RequestCounts>;
  readonly #startController: () => Promise<ShippedController>;
  readonly #folder: string;
  #applied = 0;

  private constructor(parts: {
    readonly grounds: Grounds;
    readonly connection: Connection;
    readonly kube: Kube;
    readonly fleet: Fleet;
    readonly members: ChildProcess;
    readonly requests: () => Promise<RequestCounts>;
    readonly startController: () => Promise<ShippedController>;
    readonly controller: ShippedController;
    readonly folder: string;
  }) {
    this.#grounds = parts.grounds;
    this.#connection = parts.connection;
    this.#kube = parts.kube;
    this.#members = parts.members;
    this.#requests = parts.requests;
    this.#startController = parts.startController;
    this.#folder = parts.folder;
    this.fleet = parts.fleet;
    this.controller = parts.controller;
  }

  /** With a controller that has just begun and one database, which runs. */
  static async open(): Promise<Works> {
    const folder = mkdtempSync(join(tmpdir(), 'plumbline-bench-'));
    const file = join(folder, 'controller.mjs');
    await bundle(file);
    const grounds = await Grounds.open();
    const { cluster } = grounds;
    const kubeconfig = await grounds.kubeconfigFor(user);
    const connection = await connect(cluster);
    const kube = new KubeClient(connection);
    const startController = () => ShippedController.start(file, kubeconfig);
    const program = fileURLToPath(new URL('./simulated-members.ts', import.meta.url));
    const works = new Works({
      grounds,
      connection,
      kube,
      startController,
      folder,
      requests: await countRequests(kube, user, user),
      members: fork(program, [cluster.kubeconfig]),
      fleet: new Fleet(kube),
      controller: await startController(),
    });
    await works.prepare(1);
    await works.fleet.create(1);
    await works.fleet.areRunning(1);
    return works;
  }

  /** Makes the namespaces of so many databases. */
  async prepare(databases: number): Promise<void> {
    await this.#grounds.prepare(this.fleet.prefix, databases);
  }

  /** What a plain loop takes for so many databases beside those that are there. */
  async floor(count: number): Promise<Floor> {
    const from = this.#applied;
    this.#applied += count;
    await this.#grounds.prepare(floorPrefix, this.#applied);
    const sample = await this.fleet.stored(0);
    const start = performance.now();
    for (let i = from; i < this.#applied; i++) {
      await applyPlainly(this.#kube, sample, { namespace: namespaceOf(floorPrefix, i), name: `db-${i}` });
    }
    const applied = performance.now() - start;
    const areRunning = async () => (await this.#ask(0)).ofFloor >= members * this.#applied || undefined;
    await eventually('the members of the plain loop run', areRunning, longestMs);
    const running = performance.now() - start;
    return { applied: applied / 1000 / count, running: running / 1000 / count };
  }

  /** What comes of something that happens. */
  async during(happening: () => Promise<unknown>): Promise<Happened> {
    const processes = new Map([
      ...processesIn(this.#grounds.cluster.folder),
      ['controller', this.controller.pid],
      ['members', this.#members.pid ?? 0],
      ['benchmark', process.pid],
    ]);
    const before = { requests: await this.#requests(), cpu: cpuOf(processes), at: performance.now() };
    await happening();
    const seconds = (performance.now() - before.at) / 1000;
    const cpu = new Map([...cpuOf(processes)].map(([name, now]) => [name, now - (before.cpu.get(name) ?? 0)] as const));
    return { seconds, cpu, requests: countsBetween(before.requests, await this.#requests()) };
  }

  /** What the controller asks for until something else has happened, in which it may end. */
  async requestsDuring(happening: () => Promise<unknown>): Promise<RequestCounts> {
    const before = await this.#requests();
    await happening();
    return countsBetween(before, await this.#requests());
  }

  /** Waits until the controller asks for nothing any more. */
  async atRest(): Promise<void> {
    for (let before = NaN, now = await this.#asked(); before !== now; now = await this.#asked()) {
      before = now;
      await delay(quietMs);
    }
  }

  /** Sets how often members say how far they are, and returns how often they have so far. */
  async chatter(writesPerSecond: number): Promise<number> {
    return (await this.#ask(writesPerSecond)).written;
  }

  /** @returns seconds until the new one has read everything and found nothing to do */
  async restartController(): Promise<number> {
    await this.controller.stop();
    this.controller = await this.#startController();
    return this.controller.idle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.fleet[Symbol.asyncDispose]();
    await this.controller.stop();
    this.#members.disconnect();
    await once(this.#members, 'exit');
    await this.#connection.close();
    await this.#grounds[Symbol.asyncDispose]();
    rmSync(this.#folder, { recursive: true });
  }

  async #ask(writesPerSecond: number): Promise<MembersReport> {
    const answer = once(this.#members, 'message');
    this.#members.send({ writesPerSecond } satisfies MembersRequest);
    return ((await answer) as [MembersReport])[0];
  }

  async #asked(): Promise<number> {
    return asked(await this.#requests());
  }
}
