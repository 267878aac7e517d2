import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { quantile, type Figures, type Result } from './figures.ts';
import { asked } from './request-counts.ts';
import { FigureFile } from './scale/figure-file.ts';
import { Works, type Happened } from './scale/works.ts';

type Progress = (line: string) => void;

/** A plain loop takes as long for each of many databases as for each of few, which each stage shows anew, so its time is that of so many. */
const mostForFloor = 40;
/** Databases that are created while others are edited, at the most. */
const mostBeside = 1000;
const edits = 100;
const restMs = 60_000;
const chatterMs = 30_000;
const progressMs = 15_000;
/** Where there are writes, each of three members says how far it is each 5 s. An API server on two cores does not take more than these. */
const mostChatter = 100;

/** The processes that share the machine, by the names of their figures. */
const programs: Readonly<Record<string, string>> = {
  controllerCpuMs: 'controller',
  apiServerCpuMs: 'kube-apiserver',
  etcdCpuMs: 'etcd',
  controllerManagerCpuMs: 'kube-controller-manager',
  membersCpuMs: 'members',
  benchmarkCpuMs: 'benchmark',
};

/**
 * Many databases at once: what their creation, rest, a restart and an edit cost then. Their members are played; all the rest is real. The fleet grows
 * in stages on one server, and at each everything is measured. What was is in the file of figures as soon as it is known.
 */
export async function scale(progress: Progress, databases = 1000): Promise<readonly Result[]> {
  const file = new FigureFile();
  progress(`the figures are written to ${file.path} as they become known`);
  await using works = await Works.open();
  const emptyMiB = works.controller.memory().residentMiB;
  const stages = stagesOf(databases);
  const results: Result[] = [];
  for (const count of stages) {
    const stage = new Stage(works, count, progress, (figures) => file.note(figures));
    file.begin();
    file.note({ databases: count, load: loadavg()[0] ?? NaN });
    file.note(await stage.floor());
    file.note(await stage.create(file.figures['floorSeconds'] ?? NaN));
    file.note(await stage.rest(emptyMiB));
    file.note(await stage.chatter());
    file.note(await stage.restart());
    file.note(await stage.edit(count === databases));
    results.push({ figures: file.figures, targets: targetsOf(count) });
  }
  return results;
}

/** How many databases there are at each stage: a fifth of the next. */
export function stagesOf(databases: number): readonly number[] {
  return [Math.round(databases / 25), Math.round(databases / 5), databases].filter(
    (count) => count >= 20 || count === databases,
  );
}

/** The most that each figure should be with so many databases. */
export function targetsOf(databases: number): Figures {
  const isLarge = databases > 1000;
  return {
    toPlainLoop: 1.5,
    eventLoopP99Ms: 50,
    peakMiB: isLarge ? 300 : 150,
    restingMiB: isLarge ? 300 : 150,
    requestsPerMinuteAtRest: 0,
    requestsForChatter: 0,
    restartSeconds: isLarge ? 12 : 3,
    restartWrites: 0,
    editMedianMs: 100,
    eventLoopWhileEditedP99Ms: 50,
  };
}

/** What is measured with so many databases. */
class Stage {
  readonly #works: Works;
  readonly #count: number;
  readonly #progress: Progress;
  readonly #note: (figures: Figures) => void;

  /** @param note takes figures of which there will be better ones */
  constructor(works: Works, count: number, progress: Progress, note: (figures: Figures) => void) {
    this.#note = note;
    this.#works = works;
    this.#count = count;
    this.#progress = (line) => progress(`${count} databases: ${line}`);
  }

  async floor(): Promise<Figures> {
    const sample = Math.min(this.#count, mostForFloor);
    this.#progress(`${sample} by a plain loop, elsewhere`);
    const { applied, running } = await this.#works.floor(sample);
    return { floorSample: sample, floorAppliedSeconds: applied, floorSeconds: running };
  }

  /** @param floor seconds for each database */
  async create(floor: number): Promise<Figures> {
    const { fleet, controller } = this.#works;
    const from = fleet.created;
    const created = this.#count - from;
    const estimate = (floor * created).toFixed(0);
    this.#progress(`${created} are created; by a plain loop that would take ${estimate} s`);
    await this.#works.prepare(this.#count);
    await controller.metrics();
    const happened = await this.#works.during(async () => {
      const meanwhile = (done: number, seconds: number): void =>
        this.#note({ created: done, createdSeconds: seconds, toPlainLoop: seconds / (floor * done) });
      await Promise.all([fleet.create(this.#count), this.#areRunning(created, meanwhile)]);
    });
    const { eventLoopP99Ms } = await controller.metrics();
    return {
      objects: await fleet.objects(),
      created,
      createdSeconds: happened.seconds,
      toPlainLoop: happened.seconds / (floor * created),
      requestsPerDatabase: asked(happened.requests) / created,
      eventLoopP99Ms,
      ...cpuFigures(happened, created),
    };
  }

  /** @param emptyMiB what the controller has without a database */
  async rest(emptyMiB: number): Promise<Figures> {
    this.#progress('at rest');
    await this.#works.atRest();
    const rest = await this.#works.during(() => delay(restMs));
    const { residentMiB, peakMiB } = this.#works.controller.memory();
    return {
      peakMiB,
      restingMiB: residentMiB,
      restingKiBPerDatabase: ((residentMiB - emptyMiB) * 1024) / this.#count,
      requestsPerMinuteAtRest: asked(rest.requests),
      cpuMsPerMinuteAtRest: 1000 * (rest.cpu.get('controller') ?? NaN),
    };
  }

  async chatter(): Promise<Figures> {
    const rate = Math.min(mostChatter, (this.#count * 3) / 5);
    this.#progress(`members say how far they are, ${rate} times a second`);
    const before = await this.#works.chatter(rate);
    const during = await this.#works.during(() => delay(chatterMs));
    const chatter = (await this.#works.chatter(0)) - before;
    return {
      chatter,
      requestsForChatter: asked(during.requests),
      cpuMsPer1000Chatter: (1000 * 1000 * (during.cpu.get('controller') ?? NaN)) / chatter,
    };
  }

  async restart(): Promise<Figures> {
    this.#progress('a restart');
    let restartSeconds = NaN;
    const requests = await this.#works.requestsDuring(async () => {
      restartSeconds = await this.#works.restartController();
      await this.#works.atRest();
    });
    const { residentMiB, peakMiB } = this.#works.controller.memory();
    return { restartSeconds, restartWrites: requests.writes, restartedMiB: residentMiB, restartPeakMiB: peakMiB };
  }

  /** Edits go before what a creation leaves to do. @param isLast nobody waits for that creation */
  async edit(isLast: boolean): Promise<Figures> {
    const { fleet, controller } = this.#works;
    const beside = Math.min(this.#count, mostBeside);
    this.#progress(`${edits} edits while ${beside} more are created`);
    await this.#works.prepare(this.#count + beside);
    const enough = new AbortController();
    await controller.metrics();
    const creating = fleet.create(this.#count + beside, enough.signal);
    const milliseconds: number[] = [];
    for (let i = 0; i < edits; i++) milliseconds.push(await fleet.edit((i * 7) % this.#count));
    const { eventLoopP99Ms, waiting } = await controller.metrics();
    if (isLast) enough.abort();
    await creating;
    if (!isLast) await this.#areRunning(beside);
    return {
      editMedianMs: quantile(milliseconds, 0.5),
      editP95Ms: quantile(milliseconds, 0.95),
      waitingBehindEdits: waiting,
      eventLoopWhileEditedP99Ms: eventLoopP99Ms,
    };
  }

  /**
   * Waits until all that were created run, telling how far they are.
   * @param more so many of them are new
   */
  async #areRunning(more: number, meanwhile?: (done: number, seconds: number) => void): Promise<void> {
    const { fleet } = this.#works;
    const start = performance.now();
    const goal = fleet.running + more;
    const timer = setInterval(() => {
      const seconds = (performance.now() - start) / 1000;
      const done = fleet.running - (goal - more);
      const left = done === 0 ? '' : `; about ${((seconds * (more - done)) / done).toFixed(0)} s more`;
      this.#progress(`${done} of ${more} are running after ${seconds.toFixed(0)} s${left}`);
      if (done > 0) meanwhile?.(done, seconds);
    }, progressMs);
    try {
      await fleet.areRunning(goal);
    } finally {
      clearInterval(timer);
    }
  }
}

/** Milliseconds of the processor for each database. */
function cpuFigures({ cpu }: Happened, databases: number): Figures {
  return Object.fromEntries(
    Object.entries(programs).map(([figure, program]) => [figure, (1000 * (cpu.get(program) ?? NaN)) / databases]),
  );
}
