import { isDeepStrictEqual } from 'node:util';
import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import type { DatabaseServiceStatus } from '../../constructs/api/status.ts';
import type { TlsVerdict } from '../health/judge-tls.ts';
import type { BackupVerdict } from '../health/judge-backup.ts';
import { timestamp, type Clock, type Kube } from '../kube/index.ts';
import type { Course } from '../rollout/index.ts';
import type { Blocker } from './blocker.ts';
import type { Children } from './children.ts';
import { behind } from './comparison.ts';
import type { ConditionFacts } from './conditions.ts';
import type { Databases } from './databases.ts';
import type { GitState } from './delivery.ts';
import type { Leaving } from './git-places.ts';
import { nothingUntold, type Memory } from './memory.ts';
import { observedHealth, observedStorage } from './observed-health.ts';
import { contestInWords, objectOf, pauseEnd, restraintOf } from './restraint.ts';
import { isStatus, nextStatus } from './status.ts';
import { StatusWriter } from './status-writer.ts';

export interface ReporterOptions {
  readonly kube: Kube;
  readonly databases: Databases;
  readonly children: Children;
  /** A wall clock. */
  readonly clock: Clock;
}

/** What a run found out. */
export interface Findings {
  readonly key: string;
  /** As it was acted upon: what the status then speaks of. */
  readonly resource: StoredDatabaseService;
  readonly memory: Memory;
  readonly isValid: boolean;
  /** Everything that is stated has been found or made true. */
  readonly isWhole: boolean;
  /** It was before, for this very generation. */
  readonly wasWhole: boolean;
  readonly blocker: Blocker | undefined;
  readonly tls: TlsVerdict;
  readonly backup: BackupVerdict;
  readonly git: GitState | undefined;
  /** Why files of it are where they are not to be any more. */
  readonly remains: string | undefined;
  readonly course: Course | undefined;
  /** Of a database that is being deleted. */
  readonly leaving: Leaving | undefined;
  /** What a rollout is about, in a sentence. */
  readonly rollout: string | undefined;
}

/** Says in the status what was found. */
export class Reporter {
  readonly #options: ReporterOptions;
  readonly #writer: StatusWriter;

  constructor(options: ReporterOptions) {
    this.#options = options;
    this.#writer = new StatusWriter(options.kube, options.databases);
  }

  /** Writes the status if it changed. @throws KubeError, and then what is untold stays so */
  async report(findings: Findings, signal: AbortSignal): Promise<void> {
    const { key, resource, memory, isValid, isWhole, wasWhole, blocker, tls, backup, git, remains, rollout } = findings;
    const { databases, children, clock } = this.#options;
    // A newer object may have come while we acted: its status is the one to compare with.
    const newest = databases.get(key);
    if (newest === undefined || newest.metadata.uid !== resource.metadata.uid) return;
    const before = statusBefore(memory, newest.status, clock.now());
    const status = nextStatus({
      resource,
      before,
      ...observedHealth(resource, children.of(key), before, blocker, {
        rollout,
        absence: memory.absence,
        complaints: memory.inquiry?.complaints,
      }),
      tls: tls.verdict,
      backup,
      storage: observedStorage(resource, children.of(key)),
      isValid,
      isWhole,
      wasWhole,
      untold: memory.untold,
      left: [...memory.left.values()].flat(),
      added: [...memory.added.values()].flat(),
      contests: contestsIn(findings, clock.now()),
      pause: pauseOf(resource, clock.now()),
      git: gitStatus(findings, before?.git),
      chain: { git, remains, leaving: findings.leaving, hold: holdOf(findings), behind: behindOf(findings) },
      now: timestamp(clock.now()),
    });
    await this.#writer.write(newest, status, signal);
    const stored = databases.get(key)?.status;
    memory.status = stored !== undefined && isDeepStrictEqual(status, stored) ? stored : status;
    memory.untold = nothingUntold;
  }
}

/** As often in a minute, our status is written over under our own name before we go on from what the other one says. */
const mostRewrites = 3;
const rewritesWithinMs = 60_000;

/**
 * What the next status goes on from: what we wrote last, whatever others made of it. Only where it is written over under our own name again
 * and again, there is a second Plumbline, which tells of other receipts and times: from then on what it says stands, or both would write without end.
 */
function statusBefore(
  memory: Memory,
  stored: DatabaseServiceStatus | undefined,
  now: number,
): DatabaseServiceStatus | undefined {
  if (memory.status === undefined || isStatus(memory.status, stored)) return memory.status ?? stored;
  if (!memory.isStatusOurs) return memory.status;
  memory.rewrites = [...memory.rewrites.filter((at) => at + rewritesWithinMs > now), now];
  return memory.rewrites.length > mostRewrites ? stored : memory.status;
}

/** Fights about what is left, or has been added. */
function contestsIn({ resource, memory }: Findings, now: number): readonly string[] {
  const added = [...memory.added].filter(([, drifts]) => drifts.length > 0).map(([key]) => key);
  return [...new Set([...memory.left.keys(), ...added])].flatMap((key) => {
    const restraint = restraintOf(resource, memory.contests, objectOf(key), now);
    return restraint?.kind === 'contested' ? restraint.contests.map((one) => contestInWords(one, resource)) : [];
  });
}

function pauseOf(resource: StoredDatabaseService, now: number): ConditionFacts['pause'] {
  const until = pauseEnd(resource, now);
  return until === undefined ? undefined : { until: timestamp(until), reason: resource.spec.drift?.pause?.reason };
}

/** Why a part of the spec is not delivered yet. */
function holdOf({ course, resource }: Findings): string | undefined {
  if (course === undefined || course.spec.replicas <= resource.spec.replicas) return course?.hold;
  return 'Fewer members have to wait until none of those that go is the primary.';
}

/** What a GitOps tool has yet to apply; undefined where we apply. */
function behindOf({ course, resource, memory }: Findings): readonly string[] | undefined {
  return course === undefined || resource.spec.delivery?.apply !== false ? undefined : behind(memory.compared);
}

/** A commit of an earlier process stays true as long as nothing new was committed. */
function gitStatus({ git, course }: Findings, before: DatabaseServiceStatus['git']): DatabaseServiceStatus['git'] {
  // Of a spec that nothing is made from, what was there before stays.
  if (git === undefined && course !== undefined) return undefined;
  if (git?.path === undefined) return before;
  const commit = git.commit ?? before?.commit;
  return commit === undefined ? undefined : { commit, path: git.path };
}
