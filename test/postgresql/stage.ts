import type { StoredSpec } from '../../constructs/api/spec.ts';
import type { DatabaseServiceStatus } from '../../constructs/api/status.ts';
import { databaseServices, pods } from '../../controller/database/kinds.ts';
import type { Happened } from '../../controller/database/rollouts.ts';
import type { KubeObject } from '../../controller/kube/index.ts';
import type { PlumblineOptions } from '../../controller/plumbline.ts';
import { newNamespace, postgresqlImage, sharedNodeCluster, type NodeCluster } from '../cluster/index.ts';
import { databaseService, eventually, RunningPlumbline } from '../controller/running-plumbline.ts';

const patienceMs = 90_000;

/** Database `orders` on a real node in a namespace of its own, with a controller in this process. */
export class Stage implements AsyncDisposable {
  readonly cluster: NodeCluster;
  readonly namespace: string;
  /** What rollouts did, in this and earlier controllers. */
  readonly steps: Happened[] = [];
  running!: RunningPlumbline;

  private constructor(cluster: NodeCluster, namespace: string) {
    this.cluster = cluster;
    this.namespace = namespace;
  }

  /** Resolves when the database is running. */
  static async open(spec: Partial<StoredSpec>): Promise<Stage> {
    const cluster = await sharedNodeCluster();
    const namespace = await newNamespace(cluster);
    await cluster.kubectlRun(['label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce=restricted']);
    const stage = new Stage(cluster, namespace);
    await stage.start();
    const whole = {
      image: (await postgresqlImage()).reference,
      resources: { requests: { cpu: '50m', memory: '256Mi' } },
      storage: { size: '512Mi' },
      ...spec,
    };
    const object = databaseService(namespace, 'orders', whole);
    await stage.running.kube.create(object, { type: databaseServices, fieldManager: 'kubectl-create' });
    await stage.done();
    stage.steps.length = 0;
    return stage;
  }

  /** Starts a controller. */
  async start(options: Partial<PlumblineOptions> = {}): Promise<void> {
    const { namespace } = this;
    const onStep: PlumblineOptions['onStep'] = (_, happened) => void this.steps.push(happened);
    this.running = await RunningPlumbline.start(this.cluster, { namespace, onStep, lookAgainMs: 1_000, ...options });
  }

  /** A user's edit of the spec: a merge patch. */
  async edit(spec: object): Promise<void> {
    const patch = { kind: 'merge', body: { spec }, fieldManager: 'kubectl-edit' } as const;
    await this.running.kube.patch(databaseServices, { namespace: this.namespace, name: 'orders' }, patch);
  }

  async status(): Promise<DatabaseServiceStatus> {
    const found = await this.running.database(this.namespace, 'orders');
    return found['status'] ?? {};
  }

  /** Waits for a phase of the newest generation. */
  async phase(phase: DatabaseServiceStatus['phase']): Promise<DatabaseServiceStatus> {
    return eventually(
      `it is ${phase}`,
      async () => {
        const found = await this.running.database(this.namespace, 'orders');
        const status = (found['status'] ?? {}) as DatabaseServiceStatus;
        return status.phase === phase && status.observedGeneration === found.metadata.generation ? status : undefined;
      },
      patienceMs,
    );
  }

  /** Waits until a condition has a status and a reason, and returns its message. */
  async condition(type: string, status: 'True' | 'False', reason: string): Promise<string> {
    return eventually(
      `${type} is ${status} for ${reason}`,
      async () => {
        const found = (await this.status()).conditions?.find((one) => one.type === type);
        return found?.status === status && found.reason === reason ? found.message : undefined;
      },
      patienceMs,
    );
  }

  async primary(): Promise<string> {
    return eventually('it has a primary', async () => (await this.status()).primary, patienceMs);
  }

  /** Of the pods of the members, by their names. */
  async uids(): Promise<Readonly<Record<string, string>>> {
    return Object.fromEntries((await this.pods()).map(({ metadata }) => [metadata.name, metadata.uid ?? '']));
  }

  async pods(): Promise<readonly KubeObject[]> {
    const found: KubeObject[] = [];
    const labelSelector = 'plumbline.dev/database=orders';
    const options = { namespace: this.namespace, labelSelector };
    for await (const page of this.running.kube.list(pods, options)) found.push(...page.items);
    return found.sort((a, b) => a.metadata.name.localeCompare(b.metadata.name));
  }

  /** Waits until a rollout is over and none of these pods is left. */
  async rolledOut(before: Readonly<Record<string, string>>): Promise<void> {
    await eventually(
      'every member was made again',
      async () => {
        const now = await this.uids();
        return Object.entries(before).every(([name, uid]) => now[name] !== undefined && now[name] !== uid);
      },
      patienceMs,
    );
    await this.done();
  }

  /** Waits until the rollout of the newest spec is over. */
  async done(): Promise<void> {
    try {
      await eventually(
        'the rollout is over',
        () => this.steps.at(-1)?.reason === 'RevisionStable' || undefined,
        patienceMs,
      );
    } catch (error) {
      const steps = this.steps.map(({ message }) => message);
      throw new Error(JSON.stringify({ steps, status: await this.status() }, null, 1), { cause: error });
    }
    await this.phase('Running');
  }

  /** Runs SQL as the superuser on a member. @throws Error with what PostgreSQL said */
  async sql(member: string, statement: string): Promise<string> {
    const command = ['psql', '-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-U', 'postgres', '-d', 'app'];
    const exec = ['-n', this.namespace, 'exec', '-i', member, '-c', 'postgres', '--'];
    const { code, stdout, stderr } = await this.cluster.kubectlRun([...exec, ...command], statement);
    if (code !== 0) throw new Error(stderr);
    return stdout.trim();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.running.stop();
    await this.cluster.kubectlRun(['delete', 'namespace', this.namespace, '--wait=false']);
  }
}
