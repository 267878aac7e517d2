import { sentence } from '../../constructs/api/problem.ts';
import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import type { DatabaseServiceStatus } from '../../constructs/api/status.ts';
import { validateResource } from '../../constructs/api/validate.ts';
import type { Drift } from '../drift/index.ts';
import type { Clock, Kube } from '../kube/index.ts';
import type { ReconcileResult } from '../runtime/controller.ts';
import type { Logger } from '../runtime/logger.ts';
import { blockerOf, gitFailed, specInvalid, type Blocker } from './blocker.ts';
import type { Children } from './children.ts';
import type { Databases } from './databases.ts';
import { nothingDone, type ApplyDelivery, type GitDelivery, type GitState, type Outcome } from './delivery.ts';
import { document } from './document.ts';
import { exists, missingSecret } from './lookups.ts';
import { nothingUntold, type Memory, type Untold } from './memory.ts';
import { observedHealth } from './observed-health.ts';
import { plan, type Observed } from './plan.ts';
import { isTold } from './receipts.ts';
import { stateWithSecrets } from './stated.ts';
import { nextStatus } from './status.ts';
import { StatusWriter } from './status-writer.ts';

export interface ReconcilerOptions {
  readonly kube: Kube;
  readonly databases: Databases;
  readonly children: Children;
  /** A wall clock. */
  readonly clock: Clock;
  readonly apply: ApplyDelivery;
  readonly git?: GitDelivery;
  /** How often what no watch shows is looked for: whether a name has become free, or a right was granted. Defaults to 15 s. */
  readonly lookAgainMs?: number;
  /** Told of the changes by others that one run found, each once. */
  readonly onDrift: (resource: StoredDatabaseService, found: Untold, log: Logger) => void;
}

/** One database in one run. */
interface Run {
  readonly key: string;
  /** As it was at the start: what is acted upon, and what the status then speaks of. */
  readonly resource: StoredDatabaseService;
  readonly memory: Memory;
  /** What is wrong with the spec; empty for a valid one. */
  readonly problems: readonly string[];
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** Brings databases to what their specs say: observe, decide, act, and write the status if it changed. */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #status: StatusWriter;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#status = new StatusWriter(options.kube, options.databases);
  }

  /** @throws what kept the API server from being asked, so that the queue tries again */
  async reconcile(key: string, signal: AbortSignal, log: Logger): Promise<ReconcileResult> {
    const { kube, databases, git, lookAgainMs = 15_000 } = this.#options;
    const resource = databases.get(key);
    if (resource === undefined) return this.#forget(key);
    const memory = databases.memory(key, resource.metadata.uid);
    if (memory.isDoubtful) {
      // Its objects may be missing because it was deleted with them, or never came back from a backup: then the watch will tell.
      if (!(await exists(kube, resource, signal))) return {};
      memory.isDoubtful = false;
    }
    const run = { key, resource, memory, problems: problemsOf(resource, memory), signal, log };
    const outcome = await this.#act(run);
    this.#remember(run, outcome);
    const isDelivered = isAlive(resource) && run.problems.length === 0;
    const delivered = isDelivered ? git?.deliver(resource) : undefined;
    const blocker = outcome.blocker ?? (isDelivered ? await this.#missing(run, delivered) : undefined);
    logChange(blocker, run);
    await this.#report(run, blocker, delivered);
    if (outcome.outdated !== undefined) throw outcome.outdated;
    if (blocker?.next.kind === 'retry') throw blocker.next.error;
    return blocker?.next.kind === 'look-again' ? { requeueAfterMs: lookAgainMs } : {};
  }

  #forget(key: string): ReconcileResult {
    this.#options.databases.forget(key);
    this.#options.children.await(key, []);
    this.#options.git?.remove(key);
    return {};
  }

  async #act(run: Run): Promise<Outcome> {
    const { key, resource, memory, problems, signal } = run;
    const { children, apply } = this.#options;
    if (!isAlive(resource)) return nothingDone;
    if (problems.length > 0) return { ...nothingDone, blocker: specInvalid(problems) };
    if (resource.spec.delivery?.apply === false) {
      // What a GitOps tool applies is not compared, so nothing of it is kept.
      for (const { suspect } of children.of(key)) if (suspect !== undefined) children.accept(suspect, '');
      return nothingDone;
    }
    const observed = this.#observe(run);
    if (isSettled(observed, memory)) return { ...nothingDone, made: [...memory.known], left: memory.left };
    try {
      return await apply.carryOut(plan(observed, stateWithSecrets(resource)), observed, signal);
    } catch (error) {
      signal.throwIfAborted();
      return { ...nothingDone, blocker: blockerOf(error, 'the manifests') };
    }
  }

  #observe({ key, resource, memory }: Run): Observed {
    const { children } = this.#options;
    return { resource, children: children.of(key), find: (child) => children.get(child), ...memory };
  }

  #remember({ key, resource, memory, log }: Run, outcome: Outcome): void {
    const { corrected, left, made, awaited } = outcome;
    const reported = [...left].flatMap(([object, drifts]) =>
      drifts.filter((drift) => !isTold(drift, toldOf(memory, object), resource.status?.drift)),
    );
    const isWhole = outcome.blocker === undefined && outcome.outdated === undefined;
    memory.settledGeneration = isWhole ? resource.metadata.generation : undefined;
    memory.isFresh &&= !isWhole;
    // After a plan that was cut short, what it did not come to is known as before.
    memory.known = new Set([...(isWhole ? [] : memory.known), ...made, ...left.keys()]);
    memory.left = isWhole ? left : new Map([...[...memory.left].filter(([object]) => !made.includes(object)), ...left]);
    memory.untold = {
      corrected: [...memory.untold.corrected, ...corrected],
      reported: [...memory.untold.reported, ...reported],
    };
    this.#options.children.await(key, awaited);
    if (corrected.length + reported.length > 0) this.#options.onDrift(resource, { corrected, reported }, log);
  }

  async #missing({ resource, memory, signal }: Run, delivered: GitState | undefined): Promise<Blocker | undefined> {
    const missing = await missingSecret(this.#options.kube, resource, memory, signal);
    return missing ?? (delivered?.failure === undefined ? undefined : gitFailed(delivered.failure));
  }

  async #report(run: Run, blocker: Blocker | undefined, delivered: GitState | undefined): Promise<void> {
    const { key, resource, memory, problems, signal } = run;
    const { databases, children, clock } = this.#options;
    // A newer object may have come while we acted: its status is the one to compare with.
    const newest = databases.get(key);
    if (newest === undefined || newest.metadata.uid !== resource.metadata.uid) return;
    const before = memory.status ?? newest.status;
    const status = nextStatus({
      resource,
      before,
      ...observedHealth(resource, children.of(key), before, blocker),
      isValid: problems.length === 0,
      untold: memory.untold,
      left: [...memory.left.values()].flat(),
      git: gitStatus(delivered, before?.git),
      now: new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z'),
    });
    await this.#status.write(newest, status, signal);
    memory.status = status;
    memory.untold = nothingUntold;
  }
}

function isAlive({ metadata }: StoredDatabaseService): boolean {
  return metadata.deletionTimestamp === undefined;
}

function problemsOf(resource: StoredDatabaseService, { settledGeneration }: Memory): readonly string[] {
  return settledGeneration === resource.metadata.generation ? [] : validateResource(document(resource)).map(sentence);
}

/** Nothing to compare: the spec was settled, every object is there, and none is suspect. */
function isSettled({ resource, children, find, known, left }: Observed, { settledGeneration }: Memory): boolean {
  if (settledGeneration !== resource.metadata.generation) return false;
  if (children.some(({ suspect }) => suspect !== undefined)) return false;
  return [...known].every((key) => left.has(key) || find(key) !== undefined);
}

/** What was told of an object in this process; undefined for what only the status knows. */
function toldOf({ left, isFresh }: Memory, object: string): readonly Drift[] | undefined {
  return left.get(object) ?? (isFresh ? undefined : []);
}

function logChange(blocker: Blocker | undefined, { memory, log }: Run): void {
  const hindrance = blocker && `${blocker.reason}: ${blocker.message}`;
  if (memory.hindrance === hindrance) return;
  memory.hindrance = hindrance;
  if (blocker === undefined) log.info({}, 'nothing hinders any more');
  else log.warn({ reason: blocker.reason }, blocker.message);
}

/** What the status says of Git: a commit of an earlier process stays true as long as nothing new was committed. */
function gitStatus(
  delivered: GitState | undefined,
  before: DatabaseServiceStatus['git'],
): DatabaseServiceStatus['git'] {
  if (delivered?.path === undefined) return before;
  const commit = delivered.commit ?? before?.commit;
  return commit === undefined ? undefined : { commit, path: delivered.path };
}
