import type { StoredSpec } from '../../constructs/api/spec.ts';
import type { DatabaseServiceStatus } from '../../constructs/api/status.ts';
import { templateAnnotation } from '../../constructs/labels.ts';
import { databaseServices } from '../../controller/database/kinds.ts';
import type { Happened } from '../../controller/database/rollouts.ts';
import type { KubeObject } from '../../controller/kube/index.ts';
import { newNamespace, sharedPodCluster } from '../cluster/index.ts';
import { eventually, RunningPlumbline, type RunningOptions } from '../controller/running-plumbline.ts';
import { MortalKube, type Mortality, type Write } from './mortal-kube.ts';
import { NodeDatabase } from './node-database.ts';

/** How long something may take that takes a minute at most where nothing is broken. */
const patienceMs = 240_000;

/** A member at a moment: what must not change unless somebody restarts it. */
export interface MemberLife {
  readonly name: string;
  readonly uid: string;
  readonly template: string | undefined;
  /** Of the server. */
  readonly startedAt: string;
}

interface ManagedResource extends Pick<KubeObject, 'metadata'> {
  readonly spec: StoredSpec;
  readonly status: DatabaseServiceStatus;
}

/** Database `orders` on a real node, with a controller in this process that looks after nothing else. */
export class ManagedDatabase implements AsyncDisposable {
  readonly database: NodeDatabase;
  /** What rollouts did since the database was up, in this and earlier controllers. */
  readonly steps: Happened[] = [];
  /** What a controller changed with its last breath. */
  readonly lastWrites: Write[] = [];
  #running: RunningPlumbline | undefined;
  #before: Mortality['before'] | undefined;
  #changing: Promise<void> = Promise.resolve();

  private constructor(database: NodeDatabase) {
    this.database = database;
  }

  /** Resolves when the first revision is stable: every member runs, streams and has read its settings. */
  static async open(spec: Partial<StoredSpec> = {}): Promise<ManagedDatabase> {
    const cluster = await sharedPodCluster();
    const namespace = await newNamespace(cluster);
    await cluster.kubectlRun(['label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce=restricted']);
    const { replicas = 1, ...rest } = spec;
    const database = await NodeDatabase.of(cluster, { namespace, replicas, spec: rest });
    const managed = new ManagedDatabase(database);
    await managed.start();
    await database.create();
    await managed.stable();
    managed.steps.length = 0;
    return managed;
  }

  get running(): RunningPlumbline {
    if (this.#running === undefined) throw new Error('no controller runs');
    return this.#running;
  }

  async start(options: RunningOptions = {}): Promise<void> {
    const onStep: RunningOptions['onStep'] = (_, happened) => void this.steps.push(happened);
    const { cluster, namespace } = this.database;
    const given = { namespace, onStep, lookAgainMs: 1_000, ...this.#mortal(), ...options };
    this.#running = await RunningPlumbline.start(cluster, given);
  }

  #mortal(): RunningOptions {
    const before = this.#before;
    if (before === undefined) return {};
    const onDeath = (write: Write) => {
      this.lastWrites.push(write);
      this.#changing = this.#changing.then(() => this.#change());
    };
    return { through: (kube) => new MortalKube(kube, { before, onDeath }) };
  }

  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    await running?.stop();
  }

  /** From now on each controller dies after its first change, and another one takes over. @param before is called before each change */
  async dieAtEachWrite(before: Mortality['before']): Promise<void> {
    await this.stop();
    this.#before = before;
    await this.start();
  }

  async #change(): Promise<void> {
    await this.stop();
    if (this.#before !== undefined) await this.start();
  }

  /** One controller from now on. */
  async keepController(): Promise<void> {
    this.#before = undefined;
    await this.#changing;
    await this.stop();
    await this.start();
  }

  /** A user's edit: a merge patch of the spec, and of annotations. */
  async edit(spec: object, annotations: Readonly<Record<string, string | null>> = {}): Promise<void> {
    const { kube, namespace, name } = this.database;
    const patch = { kind: 'merge', body: { spec, metadata: { annotations } }, fieldManager: 'kubectl-edit' } as const;
    await kube.patch(databaseServices, { namespace, name }, patch);
  }

  async resource(): Promise<ManagedResource> {
    const { kube, namespace, name } = this.database;
    const found = await kube.get(databaseServices, { namespace, name });
    return { metadata: found.metadata, spec: found['spec'] as StoredSpec, status: found['status'] ?? {} };
  }

  /** Waits for a phase of the newest generation. */
  phase(phase: DatabaseServiceStatus['phase']): Promise<DatabaseServiceStatus> {
    return this.until(`it is ${phase}`, async () => {
      const { status, metadata } = await this.resource();
      return status.phase === phase && status.observedGeneration === metadata.generation ? status : undefined;
    });
  }

  /** Waits until a condition has a status and a reason, and returns its message. */
  condition(type: string, status: 'True' | 'False', reason: string): Promise<string> {
    return this.until(`${type} is ${status} for ${reason}`, async () => {
      const found = (await this.resource()).status.conditions?.find((one) => one.type === type);
      return found?.status === status && found.reason === reason ? found.message : undefined;
    });
  }

  /** Waits until the next revision is stable. */
  async stable(): Promise<void> {
    const before = this.steps.length;
    await this.until('the next revision is stable', () =>
      this.steps.slice(before).some(({ reason }) => reason === 'RevisionStable'),
    );
    await this.phase('Running');
  }

  /** `MemberReplaced orders-2` and so on. */
  stepsInWords(): readonly string[] {
    return this.steps.map(({ reason, message }) => `${reason} ${/^\S+/.exec(message)?.[0]}`);
  }

  async primary(): Promise<string> {
    return this.until('somebody leads', () => this.database.leader());
  }

  /** The members as they are now, by their names. */
  async lives(): Promise<readonly MemberLife[]> {
    return Promise.all(
      this.database.members.map(async (name) => {
        const { metadata } = await this.database.pod(name);
        const startedAt = await this.database.sql(name, 'select pg_postmaster_start_time()');
        return { name, uid: metadata.uid ?? '', template: metadata.annotations?.[templateAnnotation], startedAt };
      }),
    );
  }

  /** What each member says to a query. */
  async everySays(query: string): Promise<readonly string[]> {
    return Promise.all(this.database.members.map((member) => this.database.sql(member, query)));
  }

  /** Waits for what a check returns. @throws Error with what happened so far */
  async until<T>(what: string, check: () => Promise<T | undefined> | T | undefined): Promise<T> {
    try {
      return await eventually(what, check, patienceMs);
    } catch (cause) {
      const { status } = await this.resource();
      const pods = await Promise.all(this.database.members.map((name) => this.database.pod(name).catch(String)));
      const members = pods.map((pod) => (typeof pod === 'string' ? pod : pod.metadata.annotations));
      throw new Error(JSON.stringify({ what, steps: this.steps, members, status }, null, 1), { cause });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#before = undefined;
    await this.#changing;
    await this.stop();
    await this.database[Symbol.asyncDispose]();
  }
}
