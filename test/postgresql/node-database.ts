import { namesOf, memberName } from '../../constructs/names.ts';
import type { DatabaseServiceStatus } from '../../constructs/api/status.ts';
import { databaseServices, pods, typeOf } from '../../controller/database/kinds.ts';
import { connect, KubeClient, type Connection, type KubeObject } from '../../controller/kube/index.ts';
import { execInPod, type PodCluster } from '../cluster/index.ts';
import { databaseService, eventually, RunningPlumbline } from '../controller/running-plumbline.ts';

interface Pod extends KubeObject {
  readonly status: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly podIP?: string;
  };
}

export interface NodeDatabaseOptions {
  readonly namespace: string;
  /** Defaults to `orders`. */
  readonly name?: string;
  readonly replicas?: number;
  /** More of the spec, over what is here. */
  readonly spec?: Readonly<Record<string, unknown>>;
}

/** A database on a real node, that no controller looks after. */
export class NodeDatabase implements AsyncDisposable {
  readonly cluster: PodCluster;
  readonly namespace: string;
  readonly name: string;
  /** How many members there are to be; set it when the database is scaled. */
  replicas: number;
  readonly kube: KubeClient;
  readonly #connection: Connection;
  readonly #spec: Readonly<Record<string, unknown>>;

  private constructor(cluster: PodCluster, connection: Connection, options: NodeDatabaseOptions) {
    this.cluster = cluster;
    this.namespace = options.namespace;
    this.name = options.name ?? 'orders';
    this.replicas = options.replicas ?? 1;
    this.#spec = options.spec ?? {};
    this.kube = new KubeClient(connection);
    this.#connection = connection;
  }

  /** Creates it and waits until Plumbline says that it runs and has nothing more to do; then Plumbline is stopped. */
  static async create(cluster: PodCluster, options: NodeDatabaseOptions): Promise<NodeDatabase> {
    const database = await NodeDatabase.of(cluster, options);
    await using running = await RunningPlumbline.start(cluster, { namespace: database.namespace });
    await database.create();
    let status: DatabaseServiceStatus | undefined;
    await eventually(
      `${database.name} is running`,
      async () => {
        status = (await running.database(database.namespace, database.name))['status'] as typeof status;
        return status?.phase === 'Running' || undefined;
      },
      180_000,
    ).catch((cause: unknown) => {
      throw new Error(JSON.stringify(status, null, 1), { cause });
    });
    await running.settled(1_000);
    return database;
  }

  /** One that need not exist yet. */
  static async of(cluster: PodCluster, options: NodeDatabaseOptions): Promise<NodeDatabase> {
    return new NodeDatabase(cluster, await connect({ kubeconfig: cluster.kubeconfig }), options);
  }

  /** Creates the DatabaseService alone, small enough for three on a node. */
  async create(): Promise<void> {
    const resources = { requests: { cpu: '50m', memory: '256Mi' } };
    const { image } = this.cluster;
    const spec = { image, replicas: this.replicas, resources, storage: { size: '512Mi' }, ...this.#spec };
    await this.kube.create(databaseService(this.namespace, this.name, spec), {
      type: databaseServices,
      fieldManager: 'kubectl-create',
    });
  }

  get members(): readonly string[] {
    return Array.from({ length: this.replicas }, (_, ordinal) => memberName(this.name, ordinal));
  }

  async pod(member: string): Promise<Pod> {
    return (await this.kube.get(pods, { namespace: this.namespace, name: member })) as Pod;
  }

  /** Ready, and to stay. @throws KubeError where there is no pod */
  async isReady(member: string): Promise<boolean> {
    const { metadata, status } = await this.pod(member);
    const isReady = status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
    return isReady && metadata.deletionTimestamp === undefined;
  }

  /** The member that holds Patroni's lock; a label would name a frozen one too. Undefined where nobody does. */
  leader(): Promise<string | undefined> {
    return this.patroniSays(namesOf(this.name).patroniLeader, 'leader');
  }

  async patroniSays(configMap: string, annotation: string): Promise<string | undefined> {
    const ref = { namespace: this.namespace, name: configMap };
    const { metadata } = await this.kube.get(typeOf({ kind: 'ConfigMap' }), ref);
    return metadata.annotations?.[annotation] || undefined;
  }

  /** Runs a command in a container, and returns its standard output. @throws Error with what it said when it fails */
  async run(
    member: string,
    command: readonly string[],
    { stdin = '', container = 'postgres' }: { readonly stdin?: string; readonly container?: string } = {},
  ): Promise<string> {
    const target = { namespace: this.namespace, pod: member, container };
    const { code, stdout, stderr } = await execInPod(this.cluster.kubeconfig, target, command, stdin);
    if (code !== 0) throw new Error(`${command.join(' ')} on ${member}: ${stderr.trim() || stdout.trim()}`);
    return stdout;
  }

  /** Runs a statement as superuser over the socket of a member. */
  async sql(member: string, statement: string, database = 'postgres'): Promise<string> {
    const command = ['psql', '-X', '-U', 'postgres', '-d', database, '-v', 'ON_ERROR_STOP=1', '-At'];
    return (await this.run(member, command, { stdin: statement })).trim();
  }

  /**
   * What is missing until all is well: every pod ready, and one primary by SQL, from which all others stream, one of them in step and noted as
   * such where the durability asks for it: only a replica that is noted takes over. Undefined where nothing is.
   */
  async shortfall(): Promise<string | undefined> {
    try {
      for (const member of this.members) {
        if (!(await this.isReady(member))) return `${member} is not ready`;
      }
      const leader = await this.leader();
      if (leader === undefined) return 'nobody holds the lock';
      const [recovering, streaming, inStep] = (await this.sql(leader, streamQuery(this.name))).split('|');
      if (recovering !== 'f') return `${leader} holds the lock and is no primary`;
      if (Number(streaming) !== this.replicas - 1) return `${streaming} members stream from ${leader}`;
      const isSync = (this.#spec['durability'] ?? 'Async') !== 'Async';
      if (!isSync) return undefined;
      const noted = await this.patroniSays(namesOf(this.name).patroniSync, 'sync_standby');
      return Number(inStep) === 0 || noted === undefined ? `nobody is in step with ${leader}` : undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** Waits until all is well. @throws Error with what is missing after a time that only something broken takes */
  async allStream(withinMs = 180_000): Promise<void> {
    const end = Date.now() + withinMs;
    for (;;) {
      const missing = await this.shortfall();
      if (missing === undefined) return;
      if (Date.now() > end) throw new Error(`not within ${withinMs / 1000} s: all members stream: ${missing}`);
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }

  /**
   * Waits until all is well, and no member is in Patroni's failsafe mode. For its ttl after an outage of the API server the replicas hold on to the
   * leader of then; whatever strikes in that time is two faults, not one.
   */
  async atRest(): Promise<void> {
    await this.allStream();
    const leader = (await this.leader()) ?? '';
    const hosts = await Promise.all(this.members.map(async (member) => (await this.pod(member)).status.podIP ?? ''));
    await eventually('no member is in failsafe mode', async () => {
      const said = await this.run(leader, ['python3', '-c', failsafeScript, ...hosts]);
      return !said.includes('True') || undefined;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Its pods would take the time of the tests after it.
    await this.cluster.kubectlRun(['delete', 'namespace', this.namespace, '--wait=false']);
    await this.#connection.close();
  }
}

const failsafeScript = `import json, sys, urllib.request
for host in sys.argv[1:]:
    with urllib.request.urlopen(f"http://{host}:8008/patroni", timeout=5) as answer:
        print(json.load(answer).get("failsafe_mode_is_active", False))`;

function streamQuery(name: string): string {
  return `select pg_is_in_recovery(), count(*), count(*) filter (where sync_state in ('sync', 'quorum'))
    from pg_stat_replication where state = 'streaming' and application_name ~ '^${name}-[0-9]+$'`;
}
