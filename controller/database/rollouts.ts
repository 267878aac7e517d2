import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { databaseLabel, rollbackAnnotation } from '../../constructs/labels.ts';
import { memberNames } from '../../constructs/names.ts';
import type { Clock, Kube } from '../kube/index.ts';
import {
  askedAgain,
  patientUntil,
  setCourse,
  shrink,
  stabilised,
  stepWith,
  type Action,
  type Course,
  type Observation,
  type Step,
} from '../rollout/index.ts';
import { advancesOf } from './advances.ts';
import { slotAtRisk, type Blocker } from './blocker.ts';
import { childKey, observedChild, type Child } from './child.ts';
import type { Children } from './children.ts';
import type { Steps, Taken } from './delivery.ts';
import { isManaged } from './is-managed.ts';
import { pods } from './kinds.ts';
import type { Memory } from './memory.ts';
import { observedMembers, wantedMembers } from './observed-members.ts';
import { absenceBy, isOver } from './planned-absence.ts';
import type { Run } from './run.ts';
import { editsOf, lookAtRevisions, noRevisions } from './revisions.ts';
import { slotNews, type SlotReason } from './slot-news.ts';
import { storedHistory } from './stored-history.ts';

export interface RolloutsOptions {
  readonly kube: Kube;
  readonly children: Children;
  readonly steps: Steps;
  /** A wall clock. */
  readonly clock: Clock;
  /** Told of each step that was taken and of each setback. */
  readonly onStep: (resource: StoredDatabaseService, happened: Happened) => void;
}

/** Something that a rollout did, as it is told in an Event. */
export interface Happened {
  readonly type: 'Normal' | 'Warning';
  readonly reason: Reason;
  readonly message: string;
}

export type Reason =
  | (typeof reasons)[Action['kind']]
  | 'RevisionTakenBack'
  | 'RevisionStable'
  | 'SwitchoverHeld'
  | SlotReason;

/** A run in which something is delivered. */
export type Running = Pick<Run, 'key' | 'resource' | 'memory'> & { readonly course: Course };

/** What a rollout came to in one run. */
export interface Progress {
  /** What is going on, in a sentence; undefined when nothing is. */
  readonly message: string | undefined;
  /** When to look again though nothing was seen to happen, in milliseconds from now. */
  readonly lookAgainMs: number | undefined;
  /** What somebody has to decide before it goes on. */
  readonly blocker?: Blocker;
}

/** Lag closes unseen: where a server is wakes nobody. */
const lookAtLagMs = 1_000;
const defaultPatienceSeconds = 300;

/** Brings changes of the pods and of settings to the members, one after the other. */
export class Rollouts {
  readonly #options: RolloutsOptions;

  constructor(options: RolloutsOptions) {
    this.#options = options;
  }

  /** What is to be delivered in this run. */
  course(key: string, resource: StoredDatabaseService, memory: Memory): Course {
    const { clock, children, onStep } = this.#options;
    const { spec, metadata } = resource;
    const before = memory.history ?? storedHistory(children.of(key), metadata.name);
    const course = setCourse({
      spec,
      generation: metadata.generation,
      asked: metadata.annotations?.[rollbackAnnotation],
      history: before,
      observe: (delivered) => this.#observe(resource, memory, delivered, children.of(key)),
      now: clock.now(),
      patienceMs: patienceMs(resource),
      // What a GitOps tool applies is taken back by reverting its commit.
      isTakenBack: (spec.upgrade?.rollback ?? true) && spec.delivery?.apply !== false,
      isManaged: isManaged(resource),
    });
    if (course.setback !== undefined && course.history.refused !== before?.refused) {
      const message = `${course.setback.message}. What was stable last is in force again.`;
      onStep(resource, { type: 'Warning', reason: 'RevisionTakenBack', message });
    }
    memory.history = course.history;
    return course;
  }

  /**
   * The course with as many members as there are, if one that is to go has become the primary unseen: Patroni's lock is asked before there are fewer.
   *
   * @throws KubeError
   */
  async checked(key: string, resource: StoredDatabaseService, course: Course, signal: AbortSignal): Promise<Course> {
    const { name } = resource.metadata;
    const has = wantedMembers(this.#options.children.of(key), name);
    const { replicas } = course.spec;
    if (replicas >= has) return course;
    const leader = await this.#options.steps.leader(resource, signal);
    const isToGo = leader !== undefined && memberNames(name).slice(replicas).includes(leader);
    return isToGo ? { ...course, spec: { ...course.spec, replicas: has } } : course;
  }

  /** Tells what has become of logical slots since the last look. */
  tellSlots({ key, resource, memory }: Pick<Run, 'key' | 'resource' | 'memory'>): void {
    const { known, news } = slotNews(resource.metadata.name, memory.slots, this.#options.children.of(key));
    memory.slots = known;
    for (const one of news) this.#options.onStep(resource, one);
  }

  /** Takes the next step, after everything that is stated was found or made true. @throws KubeError */
  async proceed(run: Running, signal: AbortSignal): Promise<Progress> {
    const { key, resource, memory, course } = run;
    await this.#lookAtRevisions(run, signal);
    const seen = this.#observe(resource, memory, course.spec, this.#options.children.of(key));
    const step = decide(run, seen);
    if (step.kind === 'done') {
      if (!isManaged(resource) && seen.members.some(({ need }) => need === 'replacement')) return kubernetesDoesIt;
      const isHeld = course.spec.replicas > resource.spec.replicas;
      return { message: course.hold, lookAgainMs: isHeld ? lookAtLagMs : this.#settle(run) };
    }
    const now = this.#options.clock.now();
    const failsInMs = course.failsAt === undefined ? undefined : Math.max(0, course.failsAt - now) + 100;
    if (step.kind === 'wait') {
      const isUnderWay = course.before !== undefined || memory.absence !== undefined;
      const isNeeded = isUnderWay || seen.members.some(({ need }) => need !== 'nothing');
      const message = course.hold ?? (isNeeded ? step.message : undefined);
      const lookAgainMs = earliest(failsInMs, patience(step, memory, now));
      return step.why === 'SlotAtRisk' ? this.#held(run, step.message) : { message, lookAgainMs };
    }
    const taken = await this.#take(run, step, signal);
    if (taken.kind !== 'done') return { message: taken.message, lookAgainMs: lookAtLagMs };
    this.#options.onStep(resource, { type: 'Normal', reason: reasons[step.kind], message: taken.message });
    const again = memory.switchover === undefined ? undefined : patientUntil(memory.switchover) - now;
    return { message: taken.message, lookAgainMs: earliest(failsInMs, again) };
  }

  /** A pod that is made again while the StatefulSet is left as somebody changed it comes back no better. */
  async #lookAtRevisions({ key, resource, memory, course }: Running, signal: AbortSignal): Promise<void> {
    const { kube, children } = this.#options;
    const isLeft = memory.left.has(childKey({ kind: 'StatefulSet', metadata: resource.metadata }));
    const delivered = { ...resource, spec: course.spec };
    memory.revisions =
      isLeft || !isManaged(resource)
        ? noRevisions
        : await lookAtRevisions(kube, memory.revisions, delivered, children.of(key), signal);
  }

  /** A watch tells when the slot is carried over, dropped or given up. */
  #held({ resource, memory }: Running, message: string): Progress {
    if (memory.heldSwitchover !== message) {
      this.#options.onStep(resource, { type: 'Warning', reason: 'SwitchoverHeld', message });
    }
    memory.heldSwitchover = message;
    return { message, lookAgainMs: undefined, blocker: slotAtRisk(message) };
  }

  /**
   * Takes a step if the pods as they are at this moment call for the same: what the watches have shown may be old, and a healthy member must not be
   * taken down while another is missing.
   */
  async #take(run: Running, step: Action, signal: AbortSignal): Promise<Taken> {
    const { key, resource, memory, course } = run;
    const { kube, children, clock } = this.#options;
    const live = await livePods(kube, resource, signal);
    const others = children.of(key).filter(({ kind }) => kind !== 'Pod');
    const now = this.#observe(resource, memory, course.spec, [...others, ...live]);
    const again = decide(run, now);
    if (!isSameStep(step, again)) return { kind: 'outdated', message: 'The members are looked at again.' };
    const pod = live.find(({ name }) => again.kind !== 'switchover' && name === again.member);
    const taken = await this.#options.steps.carryOut(again, { resource, pod }, signal);
    if (taken.kind === 'done') memory.absence = absenceBy(again, now, pod?.uid ?? '');
    if (again.kind === 'switchover' && (taken.kind === 'done' || taken.kind === 'pending')) {
      memory.switchover = askedAgain(memory.switchover, again.from, clock.now());
      memory.heldSwitchover = undefined;
    }
    return taken;
  }

  /** Notes that a revision is stable; then it has to be stored at once. */
  #settle({ resource, memory, course }: Running): number | undefined {
    const { target, hold, spec, history } = course;
    const isWhole = target.kind === 'spec' && hold === undefined && spec.replicas === resource.spec.replicas;
    memory.switchover = undefined;
    memory.absence = undefined;
    memory.heldSwitchover = undefined;
    if (!isManaged(resource) || !isWhole) return undefined;
    const time = new Date(this.#options.clock.now()).toISOString();
    const next = stabilised(history, target.revision, resource.metadata.generation, time);
    if (next === history) return undefined;
    memory.history = next;
    if (next.stable === history.stable) return 1;
    const message = `Every member runs on revision ${next.stable[0]?.number}.`;
    this.#options.onStep(resource, { type: 'Normal', reason: 'RevisionStable', message });
    return 1;
  }

  #observe(
    resource: StoredDatabaseService,
    memory: Memory,
    delivered: StoredDatabaseService['spec'],
    children: readonly Child[],
  ): Observation {
    const now = this.#options.clock.now();
    memory.advances = advancesOf(memory.advances, children, now);
    const seen = observedMembers(
      resource,
      children,
      delivered,
      memory.advances,
      now - patienceMs(resource),
      editsOf(memory.revisions),
    );
    const leader = seen.members.find(({ isLeader }) => isLeader)?.name;
    if (leader !== undefined && leader !== memory.switchover?.from) memory.switchover = undefined;
    const { switchover, absence } = memory;
    const all = { ...seen, isSwitching: switchover !== undefined && now < patientUntil(switchover) };
    const pod = children.find(({ kind, name }) => kind === 'Pod' && name === absence?.member);
    if (absence !== undefined && isOver(absence, all, pod?.uid)) memory.absence = undefined;
    return all;
  }
}

const reasons = { replace: 'MemberReplaced', restart: 'ServerRestarted', switchover: 'SwitchoverRequested' } as const;

const kubernetesDoesIt: Progress = { message: 'Kubernetes makes the members again.', lookAgainMs: undefined };

function decide({ resource, course }: Running, seen: Observation): Step {
  const before = course.before && shrink(seen, resource.spec.replicas).step;
  return isManaged(resource) ? stepWith(before, seen) : (before ?? { kind: 'done' });
}

/** How long a member may get nowhere. */
function patienceMs({ spec }: StoredDatabaseService): number {
  return (spec.upgrade?.healthTimeoutSeconds ?? defaultPatienceSeconds) * 1_000;
}

function isSameStep(a: Action, b: Step): b is Action {
  if (a.kind === 'switchover') return b.kind === 'switchover' && a.from === b.from;
  return b.kind === a.kind && a.member === b.member;
}

async function livePods(
  kube: Kube,
  { metadata }: StoredDatabaseService,
  signal: AbortSignal,
): Promise<readonly Child[]> {
  const { name, namespace } = metadata;
  const found: Child[] = [];
  for await (const { items } of kube.list(pods, { namespace, labelSelector: `${databaseLabel}=${name}`, signal })) {
    found.push(...items.map((pod) => observedChild(pod, undefined)));
  }
  return found;
}

/** What only time ends: lag that closes, and a switchover that did not come. */
function patience({ why }: Extract<Step, { kind: 'wait' }>, { switchover }: Memory, now: number): number | undefined {
  if (why === 'CatchingUp' || why === 'NoCandidate') return lookAtLagMs;
  if (why !== 'SwitchingOver' || switchover === undefined) return undefined;
  return Math.max(0, patientUntil(switchover) - now) + 100;
}

function earliest(...times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
