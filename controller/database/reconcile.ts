import { sentence } from '../../constructs/api/problem.ts';
import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { validateResource } from '../../constructs/api/validate.ts';
import { digest } from '../digest.ts';
import { contestRules, contestsOf, fightsOf, noteFlips, type ContestRules } from '../drift/index.ts';
import { classify, type KubeObject } from '../kube/index.ts';
import type { Course } from '../rollout/index.ts';
import type { ReconcileResult } from '../runtime/controller.ts';
import type { Logger } from '../runtime/logger.ts';
import { blockerOf, specInvalid } from './blocker.ts';
import { nothingDone, type ApplyDelivery, type Outcome } from './delivery.ts';
import { observedBackup } from './backups.ts';
import { appliedBy, isToBeKnown } from './applied.ts';
import { noteAdditions } from './additions.ts';
import { keyOfChild, unstatedHash, watchedHash, type Child } from './child.ts';
import { comparisonOf, driftsIn } from './comparison.ts';
import { document } from './document.ts';
import { defaultLookAgainMs, FollowUp, type FollowUpOptions } from './follow-up.ts';
import { noteEdits } from './git-edits.ts';
import { GitPlaces, type GitPlacesOptions } from './git-places.ts';
import { exists, liveObjects } from './lookups.ts';
import type { Memory, Untold } from './memory.ts';
import { observedTls } from './observed-health.ts';
import { isSettled, plan, planOne, type Observed } from './plan.ts';
import { remember } from './remember.ts';
import { restartsOf, type Restarts } from './restarts.ts';
import { endOf, objectOf, pauseEnd, restraintOf, type Restraint } from './restraint.ts';
import { Reporter, type ReporterOptions } from './report.ts';
import type { Run } from './run.ts';
import { isStatedBy, stateWithSecrets, type Stated } from './stated.ts';
import { historyManifest, storedApplied, storedFights } from './stored-history.ts';
import { logHindrance, shortTrouble, withoutShort } from './trouble.ts';

export interface ReconcilerOptions extends ReporterOptions, FollowUpOptions, GitPlacesOptions {
  readonly apply: ApplyDelivery;
  /** Told of the changes by others that one run found, each once. */
  readonly onDrift: (resource: StoredDatabaseService, found: Found, log: Logger) => void;
  /** Defaults to `contestRules`. */
  readonly contest?: ContestRules | undefined;
}

/** Changes by others, each told once. */
export interface Found extends Untold {
  /** Why drift of an object, such as `StatefulSet/orders`, is left for a time. */
  readonly restraint: (object: string) => Restraint | undefined;
  /** Whom it restarts, or would, to put a template back. */
  readonly restarts: Restarts;
  /** Whether drift of an object could not be put back. */
  readonly isRefused: (object: string) => boolean;
  /** It is about files in Git. */
  readonly isInGit: boolean;
}

/** Looks left out between two at what there is little hope for: one each 5 minutes. */
const seldom = 20;

/** Brings databases to what their specs say: observe, decide, act, and say in the status what was found. */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #reporter: Reporter;
  readonly #followUp: FollowUp;
  readonly #places: GitPlaces;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#reporter = new Reporter(options);
    this.#followUp = new FollowUp(options);
    this.#places = new GitPlaces(options);
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
    if (memory.applied === undefined) this.#recall(key, resource, memory);
    const isDeleting = resource.metadata.deletionTimestamp !== undefined;
    const problems = problemsOf(resource, memory);
    const base = { key, resource, memory, problems, isDeleting, signal };
    const run = { ...base, course: await this.#course(base) };
    const restarts = restartsOf(resource, this.#options.children.of(key));
    const outcome = withoutShort(await this.#act(run), memory, this.#options.clock.now());
    this.#note(run, outcome, restarts, log);
    // Nothing is known for sure: what is to be said waits for the next look, in a moment.
    if (outcome.outdated !== undefined) throw outcome.outdated;
    const { git, remains, blocker: unmarked } = await this.#places.deliver(run);
    this.#noteEdits(run, noteEdits(memory, git, resource), restarts, log);
    const leaving = isDeleting ? this.#places.leaving(run) : undefined;
    const { blocker = unmarked, rollout, inMs } = await this.#followUp.run(run, outcome, git);
    const trouble = shortTrouble(blocker, memory, this.#options.clock.now());
    if (trouble !== undefined) throw trouble;
    logHindrance(blocker, memory, log);
    const { clock, children } = this.#options;
    const tls = observedTls(resource, children.of(key), clock.now());
    const backup = await observedBackup(kube, resource, children.of(key), memory, clock.now(), signal);
    const isWhole = outcome.blocker === undefined;
    const wasWhole = memory.wholeGeneration === resource.metadata.generation;
    const state = { isValid: problems.length === 0, isWhole, wasWhole };
    const findings = { ...run, ...state, blocker, tls, backup, git, remains, leaving, rollout };
    await this.#reporter.report(findings, signal);
    if (leaving?.kind === 'gone' || leaving?.kind === 'left') await this.#places.letGo(run, leaving);
    if (blocker?.next.kind === 'retry') throw blocker.next.error;
    const again = blocker?.next.kind === 'look-again' ? lookAgainMs * (blocker.next.isSeldom ? seldom : 1) : Infinity;
    const turns = isDeleting
      ? [leaving?.kind === 'waiting' ? leaving.until - clock.now() : Infinity]
      : [tls.turnsAt, backup.turnsAt, freedAt(resource, memory, clock.now())].map((at = Infinity) => at - clock.now());
    // What was applied is to be stored in its turn.
    const isToBeStored = memory.delivered !== undefined && memory.delivered !== printOf(run);
    const requeueAfterMs = Math.max(0, Math.min(again, inMs, isToBeStored ? 1 : Infinity, ...turns));
    return requeueAfterMs === Infinity ? {} : { requeueAfterMs };
  }

  /** What a controller before this one has kept. */
  #recall(key: string, { metadata }: StoredDatabaseService, memory: Memory): void {
    const { children, clock } = this.#options;
    const stored = children.of(key);
    memory.applied = storedApplied(stored, metadata.name);
    memory.contests = contestsOf(storedFights(stored, metadata.name), clock.now());
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
    const { databases, children, git } = this.#options;
    // What is left in the cluster is left in Git too, or a GitOps tool would take it away.
    if (databases.isOrphaning(key)) git?.forget(key);
    else git?.remove(key);
    databases.forget(key);
    children.forget(key);
    return {};
  }

  async #act(run: Run): Promise<Outcome> {
    const { resource, memory, problems, isDeleting, course, signal } = run;
    if (isDeleting) return nothingDone;
    if (memory.end !== undefined) return { ...nothingDone, blocker: memory.end };
    if (course === undefined) return { ...nothingDone, blocker: specInvalid(problems) };
    const delivered = { ...resource, spec: course.spec };
    if (resource.spec.delivery?.apply === false) return this.#onlyOurs(run, delivered, course);
    const observed = { ...this.#observe(run), resource: delivered };
    memory.compared = new Map();
    const print = printOf(run);
    if (print === memory.delivered && isSettled(observed, memory.settledGeneration))
      return { ...nothingDone, made: [...memory.known], left: memory.left };
    memory.delivered = print;
    try {
      await this.#options.records.sweep(run, observed.children, signal);
      const { applied } = observed;
      const kept = historyManifest(resource, course.history, {
        applied: isToBeKnown(resource) ? applied : undefined,
        fights: fightsOf(memory.contests),
      });
      const stated = stateWithSecrets(delivered, [kept]);
      const outcome = await this.#options.apply.carryOut(plan(observed, stated), observed, signal);
      memory.applied = appliedBy(applied, outcome, stated, resource);
      return outcome;
    } catch (error) {
      signal.throwIfAborted();
      return { ...nothingDone, blocker: blockerOf(error, 'the manifests') };
    }
  }

  /**
   * What a GitOps tool applies is compared with what is rendered, and left to it. What is never in Git is made and kept as ever: the Secrets, and the
   * history, by which a changed template waits for its turn after a restart too.
   */
  async #onlyOurs(run: Run, delivered: StoredDatabaseService, { history }: Course): Promise<Outcome> {
    const { resource, memory, signal } = run;
    memory.delivered = printOf(run);
    const kept = historyManifest(resource, history, { fights: fightsOf(memory.contests) });
    const isKept = ({ kind, metadata }: KubeObject) =>
      kind === 'Secret' || (kind === kept.kind && metadata.name === kept.metadata.name);
    const stated = stateWithSecrets(delivered, [kept]);
    const ours = stated.filter(({ object }) => isKept(object));
    const theirs = stated.filter(({ object }) => !isKept(object));
    const isOurs = new Set(ours.map(({ key }) => key));
    try {
      await this.#compare(run, theirs, isOurs);
      const observed = this.#observe(run);
      const actions = ours.map((one) => planOne(observed, one, observed.find(one.key)));
      const left = driftsIn(memory.compared);
      if (actions.every(({ kind }) => kind === 'keep')) return { ...nothingDone, made: [...isOurs], left };
      const outcome = await this.#options.apply.carryOut(actions, observed, signal);
      return { ...outcome, left: new Map([...outcome.left, ...left]) };
    } catch (error) {
      signal.throwIfAborted();
      if (classify(error).class === 'retry-now') return { ...nothingDone, outdated: error };
      return { ...nothingDone, left: driftsIn(memory.compared), blocker: blockerOf(error, 'what is never in Git') };
    }
  }

  /** Compares, and lets go of what the tool has come to own. Of what is neither ours nor theirs, nothing is kept. @throws KubeError */
  async #compare(run: Run, stated: readonly Stated[], ours: ReadonlySet<string>): Promise<void> {
    const { key, resource, memory, signal } = run;
    const { children, kube, apply } = this.#options;
    const live = await liveObjects(kube, stated, children, signal);
    const find = (key: string): Child | undefined => withObject(children.get(key), live.get(key));
    memory.compared = comparisonOf({ resource, stated, find, before: memory.compared });
    for (const child of children.of(key)) {
      const key = keyOfChild(child);
      if (child.suspect !== undefined && !ours.has(key) && !live.has(key)) children.accept(child.suspect, unstatedHash);
    }
    for (const one of stated) {
      const found = live.get(one.key);
      const isCurrent = memory.compared.get(one.key)?.isSame === true;
      if (found !== undefined) children.accept(await apply.leave(one, found, isCurrent, signal), watchedHash);
    }
  }

  #observe(run: Run): Observed {
    const { key, resource, memory } = run;
    const { known, left } = memory;
    const restraint = this.#restraint(resource, memory);
    const { children, databases } = this.#options;
    return {
      resource,
      isHeld: isHeld(run),
      children: children.of(key),
      find: (child) => children.get(child),
      states: (database, key) => isStatedBy(databases.get(database), key),
      known,
      applied: memory.applied ?? new Map(),
      left,
      restraint: (key) => restraint(objectOf(key)),
    };
  }

  #restraint(resource: StoredDatabaseService, { contests }: Memory): Found['restraint'] {
    const now = this.#options.clock.now();
    return (object) => restraintOf(resource, contests, object, now);
  }

  #note(run: Run, outcome: Outcome, restarts: Restarts, log: Logger): void {
    const { key, resource, memory } = run;
    const { corrected, awaited } = outcome;
    const { children, clock, contest = contestRules } = this.#options;
    memory.contests = noteFlips(memory.contests, outcome.flips, clock.now(), contest);
    const restraint = this.#restraint(resource, memory);
    const left = remember(memory, outcome, resource, restarts);
    const stated =
      memory.known.size === 0 ? [] : children.of(key).filter((child) => memory.known.has(keyOfChild(child)));
    const added =
      outcome.blocker?.next.kind === 'retry' || resource.spec?.delivery?.apply === false
        ? []
        : noteAdditions(
            memory,
            stated,
            { resource, isHeld: isHeld(run) },
            (key) => restraint(objectOf(key)) !== undefined,
          );
    const reported = [...left, ...added];
    children.await(key, awaited);
    if (corrected.length + reported.length === 0) return;
    const refused = new Set([...outcome.refused].map(objectOf));
    const isRefused = (object: string): boolean => refused.has(object);
    this.#options.onDrift(resource, { corrected, reported, restraint, restarts, isRefused, isInGit: false }, log);
  }

  #noteEdits({ resource, memory }: Run, untold: Untold, restarts: Restarts, log: Logger): void {
    if (untold.corrected.length + untold.reported.length === 0) return;
    const restraint = this.#restraint(resource, memory);
    this.#options.onDrift(resource, { ...untold, restraint, restarts, isRefused: () => false, isInGit: true }, log);
  }
}

/** What is delivered: the same generation is delivered differently while a rollout goes on. */
function printOf({ resource, memory, course }: Run): string | undefined {
  if (course === undefined) return undefined;
  const applied = isToBeKnown(resource) ? [...(memory.applied ?? [])] : [];
  return digest([document({ ...resource, spec: course.spec }), course.history, applied, fightsOf(memory.contests)]);
}

/** Whether there are more members than the spec asks for, since fewer have to wait. */
function isHeld({ resource, course }: Run): boolean {
  return course !== undefined && course.spec.replicas > resource.spec.replicas;
}

/** When something that is left for a time is to be put back, or a pause ends, in milliseconds; undefined where there is nothing of that. */
function freedAt(resource: StoredDatabaseService, { left, added, contests }: Memory, now: number): number | undefined {
  const keys = new Set([...left.keys(), ...added.keys()]);
  const ends = [...keys].flatMap((key) => {
    const restraint = restraintOf(resource, contests, objectOf(key), now);
    return restraint === undefined ? [] : [endOf(restraint)];
  });
  const all = [pauseEnd(resource, now), ...ends].filter((end) => end !== undefined);
  return all.length === 0 ? undefined : Math.min(...all);
}

function problemsOf(resource: StoredDatabaseService, { settledGeneration }: Memory): readonly string[] {
  return settledGeneration === resource.metadata.generation ? [] : validateResource(document(resource)).map(sentence);
}

function withObject(child: Child | undefined, suspect: KubeObject | undefined): Child | undefined {
  return child && suspect ? { ...child, suspect } : child;
}
