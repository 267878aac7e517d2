import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connect, KubeClient, type Connection } from '../../../controller/kube/index.ts';
import { bundle } from '../../../images/controller/bundle.ts';
import { newNamespace, sharedCluster, type Cluster } from '../../cluster/index.ts';
import { defaultClass } from '../../controller/database/shop.ts';
import { installCrd } from '../../controller/running-plumbline.ts';
import { asked, countRequests, countsBetween, type RequestCounts } from '../request-counts.ts';
import { Fleet } from './fleet.ts';
import { ShippedController } from './shipped-controller.ts';
import type { TrafficRequest } from './simulated-members.ts';

/** What is asked for once more, a while after it was missing, is asked for by then. */
const quietMs = 20_000;

/** A cluster with a fleet of databases, the controller that looks after it, and whoever plays its members. */
export class Works implements AsyncDisposable {
  readonly fleet: Fleet;
  controller: ShippedController;
  readonly #cluster: Cluster;
  readonly #connection: Connection;
  readonly #members: ChildProcess;
  readonly #requests: () => Promise<RequestCounts>;
  readonly #startController: () => Promise<ShippedController>;
  readonly #folder: string;

  private constructor(parts: {
    readonly cluster: Cluster;
    readonly connection: Connection;
    readonly fleet: Fleet;
    readonly members: ChildProcess;
    readonly requests: () => Promise<RequestCounts>;
    readonly startController: () => Promise<ShippedController>;
    readonly controller: ShippedController;
    readonly folder: string;
  }) {
    this.#cluster = parts.cluster;
    this.#connection = parts.connection;
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
    const cluster = await sharedCluster();
    await installCrd(cluster);
    const namespace = await newNamespace(cluster, 'scale');
    // A name that nobody else has, in the namespace and beyond.
    const user = namespace;
    await kubectl(cluster, ['apply', '-f', '-'], defaultClass);
    await kubectl(cluster, ['create', 'clusterrolebinding', user, '--clusterrole=cluster-admin', `--user=${user}`]);
    const kubeconfig = await cluster.kubeconfigFor(user);
    const connection = await connect(cluster);
    const kube = new KubeClient(connection);
    const startController = () => ShippedController.start(file, kubeconfig, namespace);
    const program = fileURLToPath(new URL('./simulated-members.ts', import.meta.url));
    const works = new Works({
      cluster,
      connection,
      startController,
      folder,
      requests: await countRequests(kube, namespace, user),
      members: fork(program, [cluster.kubeconfig, namespace]),
      fleet: Fleet.watch(kube, namespace),
      controller: await startController(),
    });
    await works.fleet.create(0, 1);
    await works.fleet.areRunning(1);
    return works;
  }

  /** Seconds for each database when its bodies are applied one after the other by a plain loop, elsewhere. */
  async floorSeconds(count: number): Promise<number> {
    return this.fleet.floor(await newNamespace(this.#cluster), count);
  }

  /** What the controller asked for meanwhile, as the API server counts it. */
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
    const answer = once(this.#members, 'message');
    this.#members.send({ writesPerSecond } satisfies TrafficRequest);
    return ((await answer) as [number])[0];
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
    rmSync(this.#folder, { recursive: true });
  }

  async #asked(): Promise<number> {
    return asked(await this.#requests());
  }
}

async function kubectl(cluster: Cluster, args: readonly string[], input?: object): Promise<void> {
  const { code, stderr } = await cluster.kubectlRun([...args], input && JSON.stringify(input));
  if (code !== 0) throw new Error(stderr);
}
