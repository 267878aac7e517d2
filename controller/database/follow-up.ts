import { unexplained } from '../health/trouble.ts';
import { classify, type Clock, type Kube } from '../kube/index.ts';
import { blockerOf, gitFailed, type Blocker } from './blocker.ts';
import type { Children } from './children.ts';
import { inquire } from './complaints.ts';
import { courseBlocker } from './course-blocker.ts';
import type { Certificates, GitState, Mounts, Outcome } from './delivery.ts';
import { missingSecret } from './lookups.ts';
import { observedPlight } from './observed-health.ts';
import type { PatroniRecords } from './patroni-records.ts';
import type { Progress, Rollouts } from './rollouts.ts';
import type { Run } from './run.ts';

export interface FollowUpOptions {
  readonly kube: Kube;
  readonly children: Children;
  /** A wall clock. */
  readonly clock: Clock;
  readonly rollouts: Rollouts;
  readonly certificates: Certificates;
  readonly mounts: Mounts;
  readonly records: Pick<PatroniRecords, 'own' | 'sweep'>;
  /** How often what no watch shows is looked for. Defaults to 15 s. */
  readonly lookAgainMs?: number | undefined;
}

export const defaultLookAgainMs = 15_000;

/** What came of it. */
export interface FollowedUp {
  /** The first thing that hinders, if any. */
  readonly blocker: Blocker | undefined;
  /** What a rollout is about, in a sentence. */
  readonly rollout: string | undefined;
  /** When to come back though nothing happens, in milliseconds from now; Infinity for never. */
  readonly inMs: number;
}

/**
 * Everything that is done for a database beside its manifests: members follow, certificates are renewed, mounted Secrets refreshed, the ConfigMaps of
 * Patroni owned, and it is asked for what no watch shows. What hinders one of these does not keep the others from being done.
 */
export class FollowUp {
  readonly #options: FollowUpOptions;

  constructor(options: FollowUpOptions) {
    this.#options = options;
  }

  /** @throws what makes the queue look again at once, or the signal's reason */
  async run(run: Run, outcome: Outcome, git: GitState | undefined): Promise<FollowedUp> {
    const { clock } = this.#options;
    if (!run.isDeleting) this.#options.rollouts.tellSlots(run);
    const progress = outcome.blocker === undefined ? await this.#proceed(run) : {};
    const renewal = await this.#renew(run, outcome);
    const refreshed = await this.#refresh(run);
    const commit = broughtBy(run, git);
    const hindrance =
      outcome.blocker ?? progress.blocker ?? courseBlocker(run.course, commit) ?? renewal.blocker ?? refreshed.blocker;
    const owned = outcome.blocker === undefined ? await this.#own(run, progress.message) : {};
    const blocker = hindrance ?? owned.blocker ?? (await this.#missing(run, git));
    const inquiryMs = await this.#inquire(run);
    const renewalMs = (renewal.dueAt ?? Infinity) - clock.now();
    const looks = [progress.lookAgainMs, owned.lookAgainMs, inquiryMs].map((ms = Infinity) => ms);
    return { blocker, rollout: progress.message, inMs: Math.min(renewalMs, ...looks) };
  }

  async #proceed({ key, resource, memory, course, signal }: Run): Promise<Partial<Progress> & Hindered> {
    if (course === undefined) return {};
    const { rollouts } = this.#options;
    return hindered('the rollout', signal, () => rollouts.proceed({ key, resource, memory, course }, signal));
  }

  async #renew(
    { resource, signal }: Run,
    { made }: Outcome,
  ): Promise<{ readonly dueAt?: number | undefined } & Hindered> {
    const { certificates } = this.#options;
    return hindered('the renewal of the certificate', signal, async () => ({
      dueAt: await certificates.keep(resource, made, signal),
    }));
  }

  /** The members read what was changed in the Secrets that they mount. */
  async #refresh({ key, resource, course, signal }: Run): Promise<Hindered> {
    if (course === undefined) return {};
    return hindered('the mounted Secrets', signal, async () => {
      await this.#options.mounts.refresh(resource, key, signal);
      return {};
    });
  }

  /** Makes what Patroni keeps go with the database. */
  async #own(run: Run, rollout: string | undefined): Promise<{ readonly lookAgainMs?: number | undefined } & Hindered> {
    const { children, clock, records, lookAgainMs = defaultLookAgainMs } = this.#options;
    if (run.isDeleting) return {};
    return hindered('the ConfigMaps of Patroni', run.signal, async () => {
      const seen = { children: children.of(run.key), rollout, now: clock.now(), lookAgainMs };
      return { lookAgainMs: await records.own(run, seen, run.signal) };
    });
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
    return missing ?? (git?.failure === undefined ? undefined : gitFailed(git));
  }
}

/** The commit that brought what is tried now, where a GitOps tool applies; the last one where that was made before this process began. */
function broughtBy({ resource, memory, course }: Run, git: GitState | undefined): string | undefined {
  const digest = course?.history.trial?.digest;
  if (digest === undefined || git === undefined || resource.spec.delivery?.apply !== false) return undefined;
  const isThere = git.isPending !== true && git.commit !== undefined;
  if (isThere && memory.brought?.digest !== digest) memory.brought = { digest, commit: git.commit };
  return memory.brought?.digest === digest ? memory.brought.commit : (git.commit ?? resource.status?.git?.commit);
}

interface Hindered {
  readonly blocker?: Blocker;
}

/** What an act gives, or what hinders it. @throws what makes the queue look again at once, or the signal's reason */
async function hindered<T extends object>(
  what: string,
  signal: AbortSignal,
  act: () => Promise<T>,
): Promise<Partial<T> & Hindered> {
  try {
    return await act();
  } catch (error) {
    signal.throwIfAborted();
    if (classify(error).class === 'retry-now') throw error;
    return { blocker: blockerOf(error, what) } as Partial<T> & Hindered;
  }
}
