import { readFileSync } from 'node:fs';
import { databaseServices } from '../../controller/database/kinds.ts';
import type { Drift } from '../../controller/drift/index.ts';
import {
  connect,
  KubeClient,
  type Connection,
  type Kube,
  type KubeObject,
  type RequestFacts,
} from '../../controller/kube/index.ts';
import { Metrics } from '../../controller/metrics/index.ts';
import { Plumbline, type PlumblineOptions } from '../../controller/plumbline.ts';
import { createLogger } from '../../controller/runtime/logger.ts';
import type { Cluster } from '../cluster/index.ts';
import { generated } from '../leaks/mark.ts';
import { OwnAccount, type AnyCluster } from './own-account.ts';
import { patience, patienceMs } from '../patience.ts';

const crds = ['databaseservices', 'gitdestinations'] as const;

const installed = new WeakMap<Cluster, Promise<void>>();

/** Installs the CRDs, as the README says, and waits until they are served; once on a cluster, of which no test takes them away. */
export function installCrd(cluster: Cluster): Promise<void> {
  const installing = installed.get(cluster) ?? install(cluster);
  installed.set(cluster, installing);
  return installing;
}

async function install(cluster: Cluster): Promise<void> {
  for (const plural of crds) {
    const file = new URL(`../../crds/plumbline.dev_${plural}.yaml`, import.meta.url);
    const { code, stderr } = await cluster.kubectlRun(
      ['apply', '--server-side', '-f', '-'],
      readFileSync(file, 'utf8'),
    );
    if (code !== 0) throw new Error(stderr);
  }
  const names = crds.map((plural) => `crd/${plural}.plumbline.dev`);
  await cluster.kubectlRun(['wait', '--for=condition=Established', ...names, patience]);
}

/**
 * Waits for what a check returns. It is made again at once in the beginning; what takes seconds is not asked for so often, above all where a check
 * takes long itself: tests share the machine with what they wait for.
 *
 * @throws Error with `what` when it takes longer than `withinMs`, which defaults to `patienceMs`
 */
export async function eventually<T>(
  what: string,
  check: () => Promise<T | undefined> | T | undefined,
  withinMs = patienceMs,
): Promise<T> {
  const begin = Date.now();
  for (;;) {
    const askedAt = Date.now();
    const found = await check();
    if (found !== undefined && found !== false) return found;
    const now = Date.now();
    if (now - begin > withinMs) throw new Error(`not within ${withinMs / 1000} s: ${what}`);
    const longestMs = Math.max(100, 2 * (now - askedAt));
    const pauseMs = Math.min(longestMs, Math.max(25, (now - begin) / 10));
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

export interface RunningOptions extends Partial<PlumblineOptions> {
  /** What the controller's requests go through. Defaults to nothing. */
  readonly through?: (kube: Kube) => Kube;
}

/** A controller in this process, under an account of its own, with its requests counted. */
export class RunningPlumbline implements AsyncDisposable {
  readonly plumbline: Plumbline;
  /** Whoever the tests are, not the controller. */
  readonly kube: KubeClient;
  readonly #connections: readonly Connection[];
  readonly #account: OwnAccount;
  readonly requests: RequestFacts[] = [];
  readonly drifts: Drift[] = [];
  readonly logLines: string[] = [];
  readonly #metrics: Metrics;
  readonly #stop = new AbortController();
  readonly #end: Promise<unknown>;

  private constructor(account: OwnAccount, user: Connection, own: Connection, options: RunningOptions) {
    this.#account = account;
    this.#connections = [user, own];
    this.kube = new KubeClient(user);
    const { through = (kube) => kube, metrics = new Metrics(), ...rest } = options;
    this.#metrics = metrics;
    this.plumbline = new Plumbline({
      kube: through(new KubeClient(own, { onRequest: (facts) => this.requests.push(facts) })),
      log: createLogger({
        level: 'debug',
        isReadable: false,
        output: { write: (line) => void this.logLines.push(line) },
      }),
      onDrift: (_, drift) => this.drifts.push(drift),
      metrics,
      ...rest,
    });
    this.#end = this.plumbline.run(this.#stop.signal);
  }

  static async start(cluster: AnyCluster, options: RunningOptions = {}): Promise<RunningPlumbline> {
    const account = await OwnAccount.in(cluster);
    const [user, own] = [await connect(cluster), await connect(account)];
    const running = new RunningPlumbline(account, user, own, options);
    try {
      await eventually('the controller leads', () => running.plumbline.state === 'leading' || undefined);
      return running;
    } catch (error) {
      await running.stop();
      throw error;
    }
  }

  /** Requests but watches since a moment. */
  requestsAfter(count: number): readonly RequestFacts[] {
    return this.requests.slice(count).filter(({ verb }) => verb !== 'watch');
  }

  /** Waits until nothing but watches was asked for a while. */
  async settled(quietMs = 200): Promise<void> {
    await eventually('the controller comes to rest', async () => {
      const before = this.requests.length;
      await new Promise((resolve) => setTimeout(resolve, quietMs));
      return this.requestsAfter(before).length === 0 || undefined;
    });
  }

  async database(namespace: string, name: string): Promise<KubeObject> {
    return this.kube.get(databaseServices, { namespace, name });
  }

  /** @throws Error when RBAC has refused it anything, or it has told a password in its log or its metrics */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#end;
    for (const connection of this.#connections) await connection.close();
    const told = [...this.logLines];
    for await (const text of this.#metrics.text()) told.push(text);
    if (generated.isIn(told.join('\n'))) throw new Error('the controller has told a password');
    const { denied } = this.#account;
    if (denied.length > 0) throw new Error(`the controller was not allowed to: ${denied.join(', ')}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** A DatabaseService as a user would write it. */
export function databaseService(
  namespace: string,
  name: string,
  spec: Readonly<Record<string, unknown>> = {},
): KubeObject {
  return {
    apiVersion: 'plumbline.dev/v1alpha1',
    kind: 'DatabaseService',
    metadata: { name, namespace },
    spec: { engine: 'postgresql', version: '17', storage: { size: '1Gi' }, ...spec },
  };
}
