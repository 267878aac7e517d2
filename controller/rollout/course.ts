import type { StoredSpec } from '../../constructs/api/spec.ts';
import { lastStable, released, tried, type History } from './history.ts';
import type { Observation } from './member.ts';
import { mayRelease } from './release.ts';
import { isSameTemplate, revisionDigest, revisionOf, withRevision } from './revision.ts';
import { judgeTrial, sickBefore, type Setback } from './setback.ts';
import { shrink } from './shrink.ts';
import type { Step } from './step.ts';
import { targetOf, type Target } from './target.ts';

/** What a course is set by. */
export interface Situation {
  /** As the user wrote it. */
  readonly spec: StoredSpec;
  readonly generation: number;
  /** Value of the annotation that asks for an entry of the history. */
  readonly asked: string | undefined;
  /** Undefined before the first, or when it was lost. */
  readonly history: History | undefined;
  /** The members as they are, judged by what a spec asks of them. */
  readonly observe: (spec: StoredSpec) => Observation;
  /** Milliseconds. */
  readonly now: number;
  /** How long a member may get nowhere, in milliseconds. */
  readonly patienceMs: number;
  /** Whether a revision that fails is taken back. */
  readonly isTakenBack: boolean;
  /** Whether the members are renewed by us; otherwise Kubernetes does it as soon as it has the template. */
  readonly isManaged: boolean;
}

/** What is delivered now, on the way to what the spec says. */
export interface Course {
  readonly spec: StoredSpec;
  /** To be stored before the spec is delivered. */
  readonly history: History;
  readonly target: Target;
  /** What has just been taken back, or is left standing because the spec says so. */
  readonly setback: Setback | undefined;
  /** Why a changed template is held back. */
  readonly hold: string | undefined;
  /** What has to be done before there may be fewer members. */
  readonly before: Step | undefined;
  /** When a member that gets nowhere now will have failed, in milliseconds. */
  readonly failsAt: number | undefined;
}

/** Sets the course of a database: which revision its members are to run on, whether that may reach them now, and how many there may be. Pure. */
export function setCourse(situation: Situation): Course {
  const { spec, asked, generation, now, patienceMs, isTakenBack, isManaged } = situation;
  const own = revisionOf(spec);
  if (!isManaged) {
    const history = { released: own, stable: [], refused: undefined };
    return towards({ kind: 'spec', revision: own }, history, situation);
  }
  const history = situation.history ?? { released: own, stable: [], refused: undefined };
  const course = towards(targetOf(own, history, asked), history, situation);
  const stable = lastStable(history)?.revision;
  const isNew = stable === undefined || revisionDigest(stable) !== revisionDigest(course.target.revision);
  if (course.target.kind !== 'spec' || !isNew || course.hold !== undefined) return course;
  const time = new Date(now).toISOString();
  const sick = sickBefore(history.trial, situation.observe(withRevision(spec, history.released)));
  const trying = { ...course, history: tried(course.history, own, time, sick) };
  const since = Date.parse(trying.history.trial?.since ?? time);
  const trial = judgeTrial(situation.observe(course.spec), { now, since, patienceMs, sick });
  if (trial.kind === 'good') return trying;
  if (trial.kind === 'doubtful') return { ...trying, failsAt: trial.failsAt };
  const { setback } = trial;
  if (stable === undefined || !isTakenBack) return { ...trying, setback };
  const refused = { digest: revisionDigest(own), generation, time, ...setback };
  const back = { ...history, refused, trial: undefined };
  return { ...towards(targetOf(own, back, asked), back, situation), setback };
}

function towards(target: Target, history: History, { spec, observe }: Situation): Course {
  const { revision } = target;
  // A server that ends while a template waits starts from the old one again: settings that only the new one can serve wait with it.
  const now = withRevision(spec, history.released);
  const seen = observe(now);
  const isFirst = lastStable(history) === undefined;
  const isSame = isSameTemplate(history.released.template, revision.template);
  // Nothing speaks for a template that was taken back: whatever is made again is better off with the one that was stable.
  const release = isSame || target.kind === 'taken-back' ? open : mayRelease(seen, isFirst);
  const { replicas, step } = shrink(seen, spec.replicas);
  return {
    spec: { ...(release.isOpen ? withRevision(spec, revision) : now), replicas },
    history: release.isOpen ? released(history, revision) : history,
    target,
    setback: undefined,
    hold: release.isOpen ? undefined : release.message,
    before: step,
    failsAt: undefined,
  };
}

const open = { isOpen: true } as const;
