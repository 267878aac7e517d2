import { sentence } from '../../constructs/api/problem.ts';
import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { validateResource } from '../../constructs/api/validate.ts';
import { digest } from '../digest.ts';
import { unexplained } from '../health/trouble.ts';
import { classify } from '../kube/index.ts';
import type { Course } from '../rollout/index.ts';
import type { ReconcileResult } from '../runtime/controller.ts';
import type { Logger } from '../runtime/logger.ts';
import { blockerOf, gitFailed, refused, rollbackUnknown, specInvalid, takenBack, type Blocker } from './blocker.ts';
import {
  nothingDone,
  type ApplyDelivery,
  type Certificates,
  type GitDelivery,
  type GitState,
  type Mounts,
  type Outcome,
} from './delivery.ts';
import { observedBackup } from './backups.ts';
import { document } from './document.ts';
import { inquire } from './complaints.ts';
import { exists, missingSecret } from './lookups.ts';
import type { Memory, Untold } from './memory.ts';
import { observedPlight, observedTls } from './observed-health.ts';
import type { PatroniRecords } from './patroni-records.ts';
import { isSettled, plan, type Observed } from './plan.ts';
import { remember } from './remember.ts';
import { Reporter, type ReporterOptions } from './report.ts';
import type { Progress, Rollouts } from './rollouts.ts';
import { stateWithSecrets } from './stated.ts';
import { historyManifest } from './stored-history.ts';
import { logHindrance, shortTrouble } from './trouble.ts';

export interface ReconcilerOptions extends ReporterOptions {
  readonly apply: ApplyDelivery;
  readonly certificates: Certificates;
  readonly mounts: Mounts;
  readonly git?: GitDelivery;
  readonly rollouts: Rollouts;
  readonly records: Pick<PatroniRecords, 'own' | 'sweep'>;
  /** How often what no watch shows is looked for: whether a name has become free, or a right was granted. Defaults to 15 s. */
  readonly lookAgainMs?: number;
  /** Told of the changes by others that one run found, each once. */
  readonly onDrift: (resource: StoredDatabaseService, found: Untold, log: Logger) => void;
}

const defaultLookAgainMs = 15_000;

/** Looks left out between two at what there is little hope for: one each 5 minutes. */
const seldom = 20;

/** One database in one run. */
interface Run {
  readonly key: string;
  /** As it was at the start. */
  readonly resource: StoredDatabaseService;
  readonly memory: Memory;
  /** What is wrong with the spec; empty for a valid one. */
  readonly problems: readonly string[];
  readonly isDeleting: boolean;
  /** What is delivered on the way to what the spec says; undefined where that is delivered as it is. */
  readonly course: Course | undefined;
  readonly signal: AbortSignal;
}

/** When a certificate is to be renewed, in milliseconds of the wall clock, or why it could not be. */
interface Renewal {
  readonly dueAt?: number | undefined;
  readonly blocker?: Blocker;
}

/** Brings databases to what their specs say: observe, decide, act, and say in the status what was found. */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #reporter: Reporter;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#reporter = new Reporter(options);
  }

  /** @throws what kept the API server from being asked, so that the queue tries again */
  async reconcile(key: string, signal: AbortSignal, log: Logger): Promise<ReconcileResult> {
    const { kube, databases, lookAgainMs = defaultLookAgainMs } = this.#options;
    const resource = databases.get(key);
    if (resource === undefined) return this.#forget(key);
    const memory = databases.memory(key, resource.metadata.uid);
    if (memory.isDoubtful) {
      // Its objects may be missing because it was deleted with them, or never came back from a backup: then the watch will tell.
      if (!(await exists(kube, resource, signal))) return {};
      memory.isDoubtful = false;
    }
    const isDeleting = resource.metadata.deletionTimestamp !== undefined;
    const problems = problemsOf(resource, memory);
    const base = { key, resource, memory, problems, isDeleting, signal };
    const run = { ...base, course: await this.#course(base) };
    const outcome = await this.#act(run);
    this.#note(run, outcome, log);
    // Nothing is known for sure: what is to be said waits for the next look, in a moment.
    if (outcome.outdated !== undefined) throw outcome.outdated;
    const git = this.#deliverToGit(run);
    const progress = outcome.blocker === undefined ? await this.#proceed(run) : resting;
    const renewal = await this.#renew(run, outcome);
    const unread = await this.#refresh(run);
    const hindrance = outcome.blocker ?? progress.blocker ?? setback(run) ?? renewal.blocker ?? unread;
    const owned = hindrance === undefined ? await this.#own(run, progress) : {};
    const blocker = hindrance ?? owned.blocker ?? (await this.#missing(run, git));
    const trouble = shortTrouble(blocker, memory, this.#options.clock.now());
    if (trouble !== undefined) throw trouble;
    logHindrance(blocker, memory, log);
    const inquiryMs = await this.#inquire(run);
    const { clock, children } = this.#options;
    const tls = observedTls(resource, children.of(key), clock.now());
    const backup = await observedBackup(kube, resource, children.of(key), memory, clock.now(), signal);
    const rollout = progress.message;
    const findings = { ...run, isValid: problems.length === 0, blocker, tls, backup, git, rollout };
    await this.#reporter.report(findings, signal);
    if (blocker?.next.kind === 'retry') throw blocker.next.error;
    const again = blocker?.next.kind === 'look-again' ? lookAgainMs * (blocker.next.isSeldom ? seldom : 1) : Infinity;
    const looks = [again, progress.lookAgainMs, inquiryMs, owned.lookAgainMs].map((ms = Infinity) => ms);
    const untilDue = [renewal.dueAt, ...(isDeleting ? [] : [tls.turnsAt, backup.turnsAt])].map(
      (at = Infinity) => at - clock.now(),
    );
    const requeueAfterMs = Math.max(0, Math.min(...looks, ...untilDue));
    return requeueAfterMs === Infinity ? {} : { requeueAfterMs };
  }

  async #course({
    key,
    resource,
    memory,
    problems,
    isDeleting,
    signal,
  }: Omit<Run, 'course'>): Promise<Course | undefined> {
    if (isDeleting || problems.length > 0) return undefined;
    const { rollouts } = this.#options;
    return rollouts.checked(key, resource, rollouts.course(key, resource, memory), signal);
  }

  #forget(key: string): ReconcileResult {
    this.#options.databases.forget(key);
    this.#options.children.await(key, []);
    this.#options.git?.remove(key);
    return {};
  }

  async #act(run: Run): Promise<Outcome> {
    const { resource, memory, problems, isDeleting, course, signal } = run;
    if (isDeleting) return nothingDone;
    if (memory.end !== undefined) return { ...nothingDone, blocker: memory.end };
    if (course === undefined) return { ...nothingDone, blocker: specInvalid(problems) };
    if (resource.spec.delivery?.apply === false) return this.#onlyLook(run);
    const delivered = { ...resource, spec: course.spec };
    const observed = { ...this.#observe(run), resource: delivered };
    const print = digest([course.spec, course.history]);
    if (print === memory.delivered && isSettled(observed, memory.settledGeneration))
      return { ...nothingDone, made: [...memory.known], left: memory.left };
    memory.delivered = print;
    try {
      await this.#options.records.sweep(run, observed.children, signal);
      const stated = stateWithSecrets(delivered, [historyManifest(resource, course.history)]);
      return await this.#options.apply.carryOut(plan(observed, stated), observed, signal);
    } catch (error) {
      signal.throwIfAborted();
      return { ...nothingDone, blocker: blockerOf(error, 'the manifests') };
    }
  }

  /** What a GitOps tool applies is not compared, so nothing of it is kept. */
  #onlyLook({ key }: Run): Outcome {
    const { children } = this.#options;
    for (const { suspect } of children.of(key)) if (suspect !== undefined) children.accept(suspect, '');
    return nothingDone;
  }

  #observe({ key, resource, memory: { known, left } }: Run): Observed {
    const { children, databases } = this.#options;
    return {
      resource,
      children: children.of(key),
      find: (child) => children.get(child),
      isDatabase: (key) => databases.get(key) !== undefined,
      known,
      left,
    };
  }

  #note({ key, resource, memory }: Run, outcome: Outcome, log: Logger): void {
    const { corrected, awaited } = outcome;
    const reported = remember(memory, outcome, resource);
    this.#options.children.await(key, awaited);
    if (corrected.length + reported.length > 0) this.#options.onDrift(resource, { corrected, reported }, log);
  }

  /** Renews the certificate when it is time. What keeps it from that does not keep the rest from being said. */
  async #renew({ resource, signal }: Run, { made }: Outcome): Promise<Renewal> {
    try {
      return { dueAt: await this.#options.certificates.keep(resource, made, signal) };
    } catch (error) {
      signal.throwIfAborted();
      if (classify(error).class === 'retry-now') throw error;
      return { blocker: blockerOf(error, 'the renewal of the certificate') };
    }
  }

  /** The members read what was changed in the Secrets that they mount. */
  async #refresh({ key, resource, course, signal }: Run): Promise<Blocker | undefined> {
    if (course === undefined) return undefined;
    try {
      await this.#options.mounts.refresh(resource, key, signal);
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      if (classify(error).class === 'retry-now') throw error;
      return blockerOf(error, 'the mounted Secrets');
    }
  }

  #deliverToGit({ resource, course }: Run): GitState | undefined {
    return course && this.#options.git?.deliver({ ...resource, spec: course.spec });
  }

  /** The members follow what was delivered. */
  async #proceed({ key, resource, memory, course, signal }: Run): Promise<Progress & { readonly blocker?: Blocker }> {
    if (course === undefined) return resting;
    try {
      return await this.#options.rollouts.proceed({ key, resource, memory, course }, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (classify(error).class === 'retry-now') throw error;
      return { ...resting, blocker: blockerOf(error, 'the rollout') };
    }
  }

  /** Makes what Patroni keeps go with the database. */
  async #own(
    run: Run,
    { message: rollout }: Progress,
  ): Promise<{ readonly lookAgainMs?: number | undefined; readonly blocker?: Blocker }> {
    const { children, clock, records, lookAgainMs = defaultLookAgainMs } = this.#options;
    if (run.isDeleting) return {};
    try {
      const seen = { children: children.of(run.key), rollout, now: clock.now(), lookAgainMs };
      return { lookAgainMs: await records.own(run, seen, run.signal) };
    } catch (error) {
      run.signal.throwIfAborted();
      if (classify(error).class === 'retry-now') throw error;
      return { blocker: blockerOf(error, 'the ConfigMaps of Patroni') };
    }
  }

  /** Asks why members get nowhere, where no object says it. Returns when to look again. */
  async #inquire({ key, resource, memory, isDeleting, signal }: Run): Promise<number | undefined> {
    const { kube, clock, children, lookAgainMs = defaultLookAgainMs } = this.#options;
    const target = isDeleting ? undefined : unexplained(observedPlight(resource, children.of(key)));
    return inquire(target, resource.metadata.namespace, memory, { kube, clock, lookAgainMs }, signal);
  }

  async #missing(
    { resource, memory, isDeleting, signal }: Run,
    git: GitState | undefined,
  ): Promise<Blocker | undefined> {
    if (isDeleting) return undefined;
    const missing = await missingSecret(this.#options.kube, resource, memory, signal);
    return missing ?? (git?.failure === undefined ? undefined : gitFailed(git.failure));
  }
}

const resting: Progress & { readonly blocker?: Blocker } = { message: undefined, lookAgainMs: undefined };

/** What keeps the members from running on what the spec says. */
function setback({ course }: Run): Blocker | undefined {
  if (course === undefined) return undefined;
  const { target, history } = course;
  if (target.kind === 'unknown')
    return rollbackUnknown(
      target.asked,
      history.stable.map(({ number }) => number),
    );
  if (target.kind === 'taken-back' && history.refused !== undefined) return takenBack(history.refused);
  return course.setback && refused(course.setback);
}

function problemsOf(resource: StoredDatabaseService, { settledGeneration }: Memory): readonly string[] {
  return settledGeneration === resource.metadata.generation ? [] : validateResource(document(resource)).map(sentence);
}
