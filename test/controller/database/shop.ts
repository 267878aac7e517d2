import type { StoredDatabaseService } from '../../../constructs/api/resource.ts';
import type { DatabaseServiceStatus, DriftReceipt } from '../../../constructs/api/status.ts';
import { fieldManager } from '../../../controller/database/child.ts';
import { databaseServices, events, typeOf } from '../../../controller/database/kinds.ts';
import { stateAll } from '../../../controller/database/stated.ts';
import { deviations } from '../../../controller/drift/index.ts';
import {
  connect,
  isObjectMissing,
  KubeClient,
  type Connection,
  type KubeObject,
  type Patch,
  type RequestFacts,
  type ResourceType,
} from '../../../controller/kube/index.ts';
import type { PlumblineOptions } from '../../../controller/plumbline.ts';
import { newNamespace, sharedCluster, type Cluster } from '../../cluster/index.ts';
import { databaseService, eventually, installCrd, RunningPlumbline } from '../running-plumbline.ts';

/** A spec of which every kind of object is made. */
export const wholeSpec = {
  replicas: 3,
  durability: 'Sync',
  parameters: { max_connections: '200' },
  backup: { schedule: '30 2 * * *', volume: { size: '1Gi' } },
} as const;

/** Without nodes members never come, and that is judged only where a test is about it. */
export const patience = { upgrade: { healthTimeoutSeconds: 86_400 } } as const;

/** Without one every database on a control plane without nodes would be stalled for want of it. */
export const defaultClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'none', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: 'kubernetes.io/no-provisioner',
  volumeBindingMode: 'WaitForFirstConsumer',
};

const haveClass = new WeakMap<Cluster, Promise<unknown>>();

function haveDefaultClass(cluster: Cluster): Promise<unknown> {
  const making = haveClass.get(cluster) ?? cluster.kubectlRun(['apply', '-f', '-'], JSON.stringify(defaultClass));
  haveClass.set(cluster, making);
  return making;
}

/** A namespace of its own on a real control plane, with a controller in this process that looks after nothing else. */
export class Shop implements AsyncDisposable {
  readonly cluster: Cluster;
  readonly namespace: string;
  /** The administrator's, on a connection that outlives the controller's. */
  readonly kube: KubeClient;
  readonly #connection: Connection;
  running: RunningPlumbline;

  private constructor(cluster: Cluster, namespace: string, connection: Connection, running: RunningPlumbline) {
    this.#connection = connection;
    this.kube = new KubeClient(connection);
    this.cluster = cluster;
    this.namespace = namespace;
    this.running = running;
  }

  static async open(options: Partial<PlumblineOptions> = {}, cluster?: Cluster): Promise<Shop> {
    const where = cluster ?? (await sharedCluster());
    if (cluster === undefined) await installCrd(where);
    await haveDefaultClass(where);
    const namespace = await newNamespace(where, 'shop');
    const connection = await connect({ kubeconfig: where.kubeconfig });
    return new Shop(where, namespace, connection, await Shop.#start(where, namespace, options));
  }

  static #start(cluster: Cluster, namespace: string, options: Partial<PlumblineOptions>): Promise<RunningPlumbline> {
    return RunningPlumbline.start(cluster, { namespace, lookAgainMs: 500, ...options });
  }

  /** Another controller after this one; in the time between, something may happen. */
  async restart(between: () => Promise<unknown> = async () => undefined, options: Partial<PlumblineOptions> = {}) {
    await this.running.stop();
    await between();
    this.running = await Shop.#start(this.cluster, this.namespace, options);
    await this.running.settled();
  }

  /** Creates a database and waits until the controller comes to rest. */
  async create(name: string, spec: Readonly<Record<string, unknown>> = {}): Promise<void> {
    await this.submit(name, spec);
    await eventually('its status is written', async () => (await this.status(name))?.phase);
    await this.running.settled();
  }

  async submit(name: string, spec: Readonly<Record<string, unknown>> = {}): Promise<KubeObject> {
    const object = databaseService(this.namespace, name, { ...patience, ...spec });
    return this.kube.create(object, { type: databaseServices, fieldManager: 'kubectl-create' });
  }

  /** A user's edit of the spec: a merge patch. */
  async edit(name: string, spec: Readonly<Record<string, unknown>>): Promise<void> {
    await this.patch('DatabaseService', name, { body: { spec } });
  }

  async patch(kind: string, name: string, patch: Partial<Patch> & { readonly body: unknown }): Promise<KubeObject> {
    return this.kube.patch(
      this.typeOf(kind),
      { name, namespace: this.namespace },
      { kind: 'merge', fieldManager: 'kubectl-edit', ...patch },
    );
  }

  async get(kind: string, name: string): Promise<KubeObject | undefined> {
    try {
      return await this.kube.get(this.typeOf(kind), { name, namespace: this.namespace });
    } catch (error) {
      if (!isObjectMissing(error)) throw error;
      return undefined;
    }
  }

  /** Whether an object of a database is what is stated, by value and by ownership. */
  async isTrue(kind: string, name: string, database = 'orders'): Promise<boolean> {
    const stated = stateAll(await this.resource(database)).find(
      ({ object }) => object.kind === kind && object.metadata.name === name,
    );
    const live = await this.get(kind, name);
    return stated !== undefined && live !== undefined && deviations(stated.object, live, fieldManager).length === 0;
  }

  /** Waits until the controller manager knows a StatefulSet as it is: a pod that it makes before is made from an earlier template. */
  async untilObserved(name: string): Promise<void> {
    await eventually(`the newest template of ${name} is known`, async () => {
      const found = await this.get('StatefulSet', name);
      const { observedGeneration } = (found?.['status'] ?? {}) as { readonly observedGeneration?: number };
      return observedGeneration === found?.metadata.generation || undefined;
    });
  }

  async delete(kind: string, name: string, options = {}): Promise<void> {
    await this.kube.delete(this.typeOf(kind), { name, namespace: this.namespace }, options);
  }

  async list(type: ResourceType, labelSelector?: string): Promise<readonly KubeObject[]> {
    const found: KubeObject[] = [];
    const options = { namespace: this.namespace, labelSelector };
    for await (const page of this.kube.list(type, options)) found.push(...page.items);
    return found;
  }

  async resource(name: string): Promise<StoredDatabaseService> {
    const ref = { name, namespace: this.namespace };
    return (await this.kube.get(databaseServices, ref)) as unknown as StoredDatabaseService;
  }

  async status(name: string): Promise<DatabaseServiceStatus | undefined> {
    return (await this.resource(name)).status;
  }

  /** `True Reason: message` of a condition. */
  async condition(name: string, type: string): Promise<string> {
    const found = (await this.status(name))?.conditions?.find((condition) => condition.type === type);
    return found === undefined ? 'none' : `${found.status} ${found.reason}: ${found.message}`;
  }

  async untilCondition(name: string, type: string, pattern: RegExp): Promise<string> {
    let last = '';
    return eventually(`${type} of ${name} is ${pattern}`, async () => {
      last = await this.condition(name, type);
      return pattern.test(last) ? last : undefined;
    }).catch((cause: unknown) => {
      throw new Error(`the condition ${type} of ${name} is: ${last}`, { cause });
    });
  }

  async receipts(name: string): Promise<readonly DriftReceipt[]> {
    return (await this.status(name))?.drift?.receipts ?? [];
  }

  /** Messages of the Events about drift, each as often as it is counted. */
  async driftEvents(name: string): Promise<readonly string[]> {
    const about = (await this.list(events)).filter(
      (event) =>
        (event['involvedObject'] as { name?: string }).name === name && String(event['reason']).startsWith('Drift'),
    );
    return about.flatMap((event) => Array.from({ length: Number(event['count']) }, () => String(event['message'])));
  }

  /** Messages of the log lines about drift. */
  driftLines(): readonly string[] {
    return this.running.logLines
      .map((line) => JSON.parse(line) as { readonly drift?: unknown; readonly msg: string })
      .filter(({ drift }) => drift !== undefined)
      .map(({ msg }) => msg);
  }

  /** The requests but watches that the controller makes because of an act, until it comes to rest. */
  async requestsFor(act: () => Promise<unknown>): Promise<readonly string[]> {
    const before = this.running.requests.length;
    await act();
    await this.running.settled();
    return this.running.requestsAfter(before).map(inShort);
  }

  typeOf(kind: string): ResourceType {
    if (kind === 'DatabaseService') return databaseServices;
    return kind === 'Event' ? events : typeOf({ kind });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.running.stop();
    await this.#connection.close();
  }
}

export function inShort({ verb, type }: RequestFacts): string {
  return `${verb} ${type?.kind ?? ''}`;
}
