import { sentence } from '../../constructs/api/problem.ts';
import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { validateResource } from '../../constructs/api/validate.ts';
import type { GitDelivery, GitState } from '../delivery/git-delivery.ts';
import type { Drift } from '../drift/index.ts';
import { judge, type Seen } from '../health/judge.ts';
import { classify, type Clock, type Kube } from '../kube/index.ts';
import type { Logger } from '../runtime/logger.ts';
import type { ReconcileResult } from '../runtime/controller.ts';
import type { Blocker } from './blocker.ts';
import { childKey, type Child } from './child.ts';
import type { Children } from './children.ts';
import { credentialsName, newSecrets } from './credentials.ts';
import type { Databases, Memory } from './databases.ts';
import { execute, type Effects, type Outcome } from './execute.ts';
import { databaseServices, secrets } from './kinds.ts';
import { plan, type Observed } from './plan.ts';
import { document, stateAll, stateSecret, type Stated } from './stated.ts';
import { nextStatus } from './status.ts';

/** Field manager of the status: nothing else is ever written to the user's object. */
export const statusManager = 'plumbline-status';

/** How often a Secret that the user is to make is looked for; it bears no label, so no watch shows it. */
const lookAgainMs = 15_000;

export interface ReconcilerOptions {
  readonly kube: Kube;
  readonly databases: Databases;
  readonly children: Children;
  /** A wall clock. */
  readonly clock: Clock;
  /** Told of each change by somebody else. */
  readonly onDrift: (
    resource: StoredDatabaseService,
    drift: Drift,
    action: 'Corrected' | 'Reported',
    log: Logger,
  ) => void;
  readonly git?: Pick<GitDelivery, 'deliver' | 'remove'>;
}

const nothing: Outcome = { corrected: [], reported: [], made: [], blocker: undefined };

/** Brings databases to what their specs say: observe, decide, act, and write the status if it changed. */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #effects: Effects;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    const { kube, children } = options;
    this.#effects = { kube, children, newSecrets };
  }

  /** @throws what kept the API server from being asked, so that the queue tries again */
  async reconcile(key: string, signal: AbortSignal, log: Logger): Promise<ReconcileResult> {
    const { databases, git } = this.#options;
    const resource = databases.get(key);
    if (resource === undefined) {
      databases.forget(key);
      git?.remove(key);
      return {};
    }
    const memory = databases.memory(key, resource.metadata.uid);
    const outcome = await this.#act(key, resource, memory, signal);
    for (const drift of outcome.corrected) this.#options.onDrift(resource, drift, 'Corrected', log);
    for (const drift of outcome.reported) this.#options.onDrift(resource, drift, 'Reported', log);
    const delivered = resource.metadata.deletionTimestamp === undefined ? git?.deliver(resource) : undefined;
    const isMissing = await this.#report(
      key,
      resource,
      { ...outcome, blocker: outcome.blocker ?? gitFailed(delivered) },
      delivered,
      signal,
    );
    if (outcome.blocker?.retry !== undefined) throw outcome.blocker.retry;
    return isMissing ? { requeueAfterMs: lookAgainMs } : {};
  }

  async #act(key: string, resource: StoredDatabaseService, memory: Memory, signal: AbortSignal): Promise<Outcome> {
    if (resource.metadata.deletionTimestamp !== undefined) return nothing;
    const observed = this.#observe(key, resource, memory);
    if (this.#isSettled(observed, memory)) return nothing;
    const problems = validateResource(document(resource));
    if (problems.length > 0) return { ...nothing, blocker: specInvalid(problems.map(sentence)) };
    const rendered = stateAll(resource);
    const stated = withSecrets(rendered, resource);
    const isApplied = resource.spec.delivery?.apply !== false;
    const outcome = isApplied ? await execute(plan(observed, stated), observed, this.#effects, signal) : nothing;
    for (const made of outcome.made) memory.known.add(made);
    for (const known of memory.known) if (!stated.some(({ key }) => key === known)) memory.known.delete(known);
    if (outcome.blocker === undefined) memory.settledGeneration = resource.metadata.generation;
    return outcome;
  }

  #observe(key: string, resource: StoredDatabaseService, { known }: Memory): Observed {
    const children = new Map(this.#options.children.of(key).map((child) => [keyOfChild(child), child]));
    return { resource, children, known };
  }

  /** Nothing to compare: the spec was settled, every object is there, and none is suspect. */
  #isSettled({ children, known, resource }: Observed, memory: Memory): boolean {
    if (memory.settledGeneration !== resource.metadata.generation) return false;
    if ([...children.values()].some(({ suspect }) => suspect !== undefined)) return false;
    return [...known].every((one) => children.has(one));
  }

  /** Writes the status if it changed. */
  async #report(
    key: string,
    seen: StoredDatabaseService,
    outcome: Outcome,
    delivered: GitState | undefined,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { databases, kube, clock, children } = this.#options;
    // A newer object may have come while we acted; its status is the one to compare with.
    const resource = databases.get(key);
    if (resource === undefined || resource.metadata.uid !== seen.metadata.uid) return false;
    const missing = await this.#missingSecret(resource, signal);
    const blocker = outcome.blocker ?? missing;
    const facts = seenOf(resource, children.of(key), blocker);
    const { name, namespace, uid } = resource.metadata;
    const status = nextStatus({
      resource,
      health: judge(facts),
      replicas: facts.statefulSet?.replicas ?? 0,
      readyReplicas: facts.statefulSet?.ready ?? 0,
      credentialsSecret: credentialsName(resource),
      corrected: outcome.corrected,
      reported: outcome.reported,
      git: gitStatus(delivered, resource.status?.git),
      now: new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z'),
    });
    if (status === undefined) return missing !== undefined;
    const { apiVersion, kind } = resource;
    const body = { apiVersion, kind, metadata: { name, namespace, uid }, status };
    try {
      const options = {
        type: databaseServices,
        subresource: 'status',
        fieldManager: statusManager,
        force: true,
        signal,
      };
      databases.written((await kube.apply(body, options)).object);
    } catch (error) {
      if (!isGone(error)) throw error;
    }
    return missing !== undefined;
  }

  async #missingSecret(resource: StoredDatabaseService, signal: AbortSignal): Promise<Blocker | undefined> {
    const name = resource.spec.credentials?.secretName;
    if (name === undefined || resource.status?.phase === 'Running') return undefined;
    try {
      await this.#options.kube.get(
        secrets,
        { name, namespace: resource.metadata.namespace },
        { metadataOnly: true, signal },
      );
      return undefined;
    } catch (error) {
      if (classify(error).kind !== 'object-missing') throw error;
      const message = `Secret ${name} does not exist: create it with the keys username and password.`;
      return { reason: 'SecretNotFound', message, isStalled: true, retry: undefined };
    }
  }
}

function seenOf(resource: StoredDatabaseService, children: readonly Child[], blocker: Blocker | undefined): Seen {
  const statefulSet = children.map(({ facts }) => facts).find((facts) => facts.kind === 'StatefulSet');
  const pods = children.flatMap(({ name, facts }) => (facts.kind === 'Pod' ? [{ name, facts }] : []));
  return {
    wanted: resource.spec.replicas,
    statefulSet,
    pods,
    phaseBefore: resource.status?.phase,
    isDeleting: resource.metadata.deletionTimestamp !== undefined,
    isApplied: resource.spec.delivery?.apply !== false,
    blocker,
  };
}

function keyOfChild({ kind, name, namespace }: Child): string {
  return childKey({ kind, metadata: { name, namespace } });
}

/** What is applied: Secrets come before the services, and only where the delivery is ours. */
function withSecrets(stated: readonly Stated[], resource: StoredDatabaseService): readonly Stated[] {
  const first = stated.findIndex(({ object }) => object.kind === 'Service');
  const own = newSecrets(resource).map((secret) => stateSecret(secret, resource));
  return [...stated.slice(0, first), ...own, ...stated.slice(first)];
}

function specInvalid(problems: readonly string[]): Blocker {
  return { reason: 'SpecInvalid', message: `${problems.join('. ')}.`, isStalled: true, retry: undefined };
}

/** What the status says of Git: a commit of an earlier process stays true as long as nothing new was committed. */
function gitStatus(
  delivered: GitState | undefined,
  before: { readonly commit: string; readonly path: string } | undefined,
) {
  if (delivered?.path === undefined) return before;
  const commit = delivered.commit ?? before?.commit;
  return commit === undefined ? undefined : { commit, path: delivered.path };
}

function gitFailed(delivered: GitState | undefined): Blocker | undefined {
  if (delivered?.failure === undefined) return undefined;
  return { reason: 'GitFailed', message: delivered.failure, isStalled: false, retry: undefined };
}

function isGone(error: unknown): boolean {
  return ['object-missing', 'object-gone', 'object-replaced'].includes(classify(error).kind);
}
