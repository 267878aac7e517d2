import {
  setCourse,
  shrink,
  stabilised,
  stepWith,
  type Course,
  type Observation,
  type Step,
} from '../../../controller/rollout/index.ts';
import {
  badSettings,
  badTemplate,
  changed,
  hasPrimary,
  isLed,
  isToBeTried,
  level,
  newSettings,
  observe,
  settingsOf,
  specOf,
  takes,
  templateOf,
  type Faults,
  type Pod,
  type World,
} from './world.ts';

/** One thing that can happen. */
export interface Move {
  readonly what: string;
  /** Something goes wrong, or a user changes his mind: at some time that stops. */
  readonly isFault: boolean;
  /** What the controller did to the members. */
  readonly step?: Step;
  readonly to: World;
}

/** Everything that can happen next, each at any moment. The decisions of the controller are the real ones. */
export function moves(world: World): readonly Move[] {
  return [...kubernetes(world), ...patroni(world), ...owner(world), ...trouble(world), ...controller(world, true)];
}

/** The same with a controller that acts on what it saw, without a look at what is there now. */
export function rashMoves(world: World): readonly Move[] {
  return [...kubernetes(world), ...patroni(world), ...trouble(world), ...controller(world, false)];
}

function move(what: string, to: World): Move {
  return { what, isFault: false, to: tidy(to) };
}

function kubernetes(world: World): readonly Move[] {
  const { pods, replicas, template, stated: renewal, isObserved } = world;
  const made = (i: number): Pod => ({ template, renewal, state: 'starting', ...started(world, i) });
  if (!isObserved)
    return [move('the StatefulSet controller sees the change', { ...world, isObserved: true }), ...kubelet(world)];
  const found = [...kubelet(world)];
  if (pods.length < replicas) {
    found.push(move('a member is added', { ...world, pods: [...pods, made(pods.length)] }));
  }
  pods.forEach(({ state }, i) => {
    if (state !== 'gone') return;
    found.push(move(`pod ${i} is made`, { ...world, pods: changed(pods, i, made(i)) }));
  });
  return found;
}

function kubelet(world: World): readonly Move[] {
  const { pods, leader, settings } = world;
  return pods.flatMap((pod, i) => {
    const { state, template } = pod;
    const become = (next: 'stuck' | 'behind' | 'up') =>
      move(`member ${i} is ${next}`, { ...world, pods: changed(pods, i, { state: next }) });
    if (isToBeTried(pod, settings)) return [restarted(world, i, `member ${i} is tried again`)];
    if (state === 'starting' && (template === badTemplate || !takes(template, pod.settings))) return [become('stuck')];
    if (state === 'starting' && leader === i) return [become('up')];
    if (state === 'starting' && isLed(world)) return [become('behind')];
    if (state === 'ailing') return [become('up')];
    return state === 'behind' && isLed(world) ? [become('up')] : [];
  });
}

function restarted(world: World, i: number, what: string): Move {
  return move(what, { ...world, pods: changed(world.pods, i, { ...started(world, i), state: 'starting' }) });
}

/**
 * A member restarts for the settings that it was asked for, if they are still the ones and it refuses none of them; how long Patroni turns that down
 * nobody knows.
 */
function restarts(world: World): readonly Move[] {
  const { pods, settings } = world;
  return pods.flatMap(({ template, state, asked, settings: own }, i) => {
    const isDue =
      asked === settings && takes(template, settings) && own !== settings && (state === 'up' || state === 'behind');
    return isDue ? [restarted(world, i, `member ${i} restarts as it was asked to`)] : [];
  });
}

function patroni(world: World): readonly Move[] {
  const { pods, leader, asked, faults } = world;
  const found: Move[] = [...restarts(world)];
  if (!isLed(world)) {
    pods.forEach(({ state }, i) => {
      if (state === 'up' && i !== leader) found.push(move(`member ${i} takes over`, led(world, i)));
    });
  }
  if (asked === undefined) return found;
  const { from, to } = asked;
  const after = { ...world, asked: undefined };
  const isPossible = leader === from && isLed(world) && pods[to]?.state === 'up';
  // Its server is started again.
  const demoted = {
    ...after,
    pods: changed(pods, from, { ...started({ ...world, leader: to }, from), state: 'behind' }),
  };
  if (isPossible) found.push(move(`member ${from} hands over to ${to}`, led(demoted, to)));
  else found.push(move('the switchover is dropped', after));
  if (faults.refusals === 0) return found;
  const refused = { ...after, faults: { ...faults, refusals: faults.refusals - 1 } };
  return [...found, { ...move('the switchover is refused', refused), isFault: true }];
}

/** With the settings of this moment, but none lower than its primary's: for a standby Patroni keeps what its data asks for. */
function started({ settings, pods, leader }: World, i: number): Pick<Pod, 'settings' | 'asked'> {
  const first = (leader === i || leader === undefined ? undefined : pods[leader]?.settings) ?? settings;
  return { settings: level(first) > level(settings) && settings !== badSettings ? first : settings, asked: undefined };
}

/** A primary goes on with the slot that it has kept in step. */
function led(world: World, leader: number): World {
  const { slot } = world.pods[leader] ?? {};
  const pods = slot === 'synced' ? changed(world.pods, leader, { slot: 'own' }) : world.pods;
  return { ...world, pods, leader };
}

/** What keeps a logical slot from being lost. A copy that an earlier primary has is no obstacle. */
function owner(world: World): readonly Move[] {
  const { pods, leader = 0, slotsEnd, isGivenUp } = world;
  if (!hasPrimary(world) || pods[leader]?.slot !== 'own') return [];
  switch (slotsEnd) {
    case 'synced':
      return pods.flatMap(({ state, slot }, i) =>
        i !== leader && slot !== 'synced' && (state === 'up' || state === 'behind')
          ? [move(`member ${i} has the slot in step`, { ...world, pods: changed(pods, i, { slot: 'synced' }) })]
          : [],
      );
    case 'dropped':
      return [move('the slot is dropped', { ...world, pods: changed(pods, leader, { slot: undefined }) })];
    case 'given up':
      return isGivenUp ? [] : [move('the slot is given up', { ...world, isGivenUp: true })];
  }
}

function trouble(world: World): readonly Move[] {
  const { pods, faults, spec, parameters, wanted, view, leader } = world;
  const fault = (what: string, kind: keyof Faults, change: Partial<World>): readonly Move[] => {
    const { [kind]: rest = 0 } = faults;
    if (rest === 0) return [];
    const left = { ...faults, [kind]: rest - 1 };
    return [{ ...move(what, { ...world, ...change, faults: left }), isFault: true }];
  };
  const lost = pods.flatMap(({ state }, i) => {
    const become = (next: 'gone' | 'behind' | 'ailing') => ({ pods: changed(pods, i, { state: next }) });
    return [
      ...(state === 'gone' ? [] : fault(`pod ${i} is lost`, 'crashes', become('gone'))),
      ...(state === 'up' ? fault(`member ${i} ails`, 'crashes', become('ailing')) : []),
      ...(state === 'up' && i !== leader ? fault(`member ${i} falls behind`, 'crashes', become('behind')) : []),
    ];
  });
  const templates = [0, 1, badTemplate].filter((one) => one !== spec);
  const values = [0, 1, badSettings].filter((one) => one !== parameters);
  const both = { spec: 1, parameters: newSettings };
  const counts = [1, 2, 3].filter((one) => one !== wanted);
  const isToHaveSlot = hasPrimary(world) && pods[leader ?? 0]?.slot !== 'own';
  return [
    ...lost,
    ...(isToHaveSlot ? fault('a slot is made', 'slots', { pods: changed(pods, leader ?? 0, { slot: 'own' }) }) : []),
    ...templates.flatMap((one) => fault(`the spec asks for template ${one}`, 'changes', { spec: one })),
    ...values.flatMap((one) => fault(`the spec asks for settings ${one}`, 'settings', { parameters: one })),
    ...fault('the spec asks for template 1 and settings that it brings', 'settings', both),
    ...counts.flatMap((one) => fault(`the spec asks for ${one} members`, 'changes', { wanted: one })),
    ...fault('somebody asks to have the members made again', 'renewals', { renewal: world.renewal + 1 }),
    ...fault('the controller is started again', 'restarts', { isSwitching: false, view: undefined }),
    ...(view === undefined ? fault('the watch falls behind', 'blindness', { view: { pods, leader } }) : []),
    ...(view === undefined ? [] : [move('the watch catches up', { ...world, view: undefined })]),
  ];
}

const patienceMs = 5;

/** The controller looks, before and after the time in which a member may get nowhere. */
function controller(world: World, isCareful: boolean): readonly Move[] {
  return [0, 2 * patienceMs].flatMap((now) => look(world, now, isCareful));
}

function look(world: World, now: number, isCareful: boolean): readonly Move[] {
  const seen = { ...world, ...world.view };
  const course = checked(world, {
    spec: specOf(world),
    generation: 1,
    asked: undefined,
    history: world.history,
    observe: (spec) => observe({ ...seen, template: templateOf(spec), settings: settingsOf(spec) }),
    now,
    patienceMs,
    isTakenBack: true,
    isManaged: true,
  });
  const applied = delivered(world, course);
  if (applied !== undefined) return [move('the controller applies what is due', applied)];
  const step = decide(world, course, observe(seen));
  if (step.kind === 'wait') return [];
  if (step.kind === 'done') return settled(world, course);
  // The pods are asked for once more before anything is done to them.
  const again = isCareful ? decide(world, course, observe(world)) : step;
  return described(again) === described(step)
    ? [{ ...move(`the controller: ${described(again)}`, act(world, again)), step: again }]
    : [];
}

/** Patroni's lock is asked before there are fewer members. */
function checked({ replicas, leader = 0 }: World, situation: Parameters<typeof setCourse>[0]): Course {
  const course = setCourse(situation);
  const isToGo = course.spec.replicas < replicas && leader >= course.spec.replicas;
  return isToGo ? { ...course, spec: { ...course.spec, replicas } } : course;
}

function decide({ wanted }: World, { before }: Course, seen: Observation): Step {
  return stepWith(before && shrink(seen, wanted).step, seen);
}

function described(step: Step): string {
  return 'member' in step
    ? `${step.kind} ${step.member}`
    : step.kind === 'switchover'
      ? `${step.kind} ${step.from}`
      : step.kind;
}

/** Undefined where everything is so already. */
function delivered(world: World, { spec, history }: Course): World | undefined {
  const [template, settings] = [templateOf(spec), settingsOf(spec)];
  const isKept = JSON.stringify(plain(history)) === JSON.stringify(world.history);
  const isSame = template === world.template && world.stated === world.renewal && spec.replicas === world.replicas;
  if (isKept && isSame && settings === world.settings) return undefined;
  return {
    ...world,
    // Members that are too many are told to end within milliseconds: that one of them takes over just then is left out.
    pods: world.pods.slice(0, spec.replicas),
    history: plain(history),
    template,
    stated: world.renewal,
    settings,
    replicas: spec.replicas,
    isObserved: world.isObserved && isSame,
  };
}

function settled(world: World, { target, hold, spec, history }: Course): readonly Move[] {
  if (target.kind !== 'spec' || hold !== undefined || spec.replicas !== world.wanted) return [];
  const next = stabilised(history, target.revision, 1, 'noon');
  return next === history ? [] : [move('the controller notes what is stable', { ...world, history: plain(next) })];
}

/** Without numbers and times, and with no more than the last entry: histories that mean the same are the same. */
function plain(history: World['history']): World['history'] {
  if (history === undefined) return undefined;
  const stable = history.stable.slice(0, 1).map((one) => ({ ...one, number: 1, time: 'noon' }));
  const since = new Date(0).toISOString();
  const trial = history.trial && { ...history.trial, since };
  return { ...history, stable, trial, refused: history.refused && { ...history.refused, time: 'noon' } };
}

function act(world: World, step: Step): World {
  const { pods, leader } = world;
  if (step.kind === 'switchover') {
    const asked = world.asked ?? { from: Number(step.from), to: Number(step.candidates[0]) };
    return leader === Number(step.from) ? { ...world, isSwitching: true, asked } : world;
  }
  if (step.kind !== 'replace' && step.kind !== 'restart') return world;
  const i = Number(step.member);
  // Patroni's lock is asked just before.
  if (step.isReplica && leader === i) return world;
  if (step.kind === 'restart') return { ...world, pods: changed(pods, i, { asked: Number(step.token) }) };
  return { ...world, pods: changed(pods, i, { state: 'gone' }) };
}

/** A member that is no more holds no lock; for the controller a switchover is over when nobody is asked any more. */
function tidy(world: World): World {
  const leader = world.leader !== undefined && world.leader < world.pods.length ? world.leader : undefined;
  return { ...world, leader, isSwitching: world.isSwitching && world.asked !== undefined };
}
