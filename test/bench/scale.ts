import { setTimeout as delay } from 'node:timers/promises';
import { quantile, type Figures, type Result } from './figures.ts';
import { asked } from './request-counts.ts';
import { Works } from './scale/works.ts';

type Progress = (line: string) => void;

/** A plain loop takes as long for each of many databases as for each of few, so its time is that of so many at the most. */
const mostForFloor = 200;
/** Databases that are created while others are edited, at the most. */
const mostBeside = 1000;
const edits = 100;
const minuteMs = 60_000;
/** Where there are writes, each of three members says how far it is each 5 s. An API server on two cores does not take more than these. */
const mostChatter = 100;

/** Many databases at once: what their creation, rest, a restart and an edit cost then. Their members are played; all the rest is real. */
export async function scale(progress: Progress, databases = 1000): Promise<Result> {
  await using works = await Works.open();
  const { residentMiB: emptyMiB } = works.controller.memory();
  const creation = await create(works, databases, progress);
  const rest = await rested(works, databases, progress);
  const restart = await restarted(works, progress);
  const edited = await editedBeside(works, databases, progress);
  const perDatabase = ((Number(rest['restingMiB']) - emptyMiB) * 1024) / databases;
  return {
    figures: { databases, ...creation, ...rest, restingKiBPerDatabase: perDatabase, ...restart, ...edited },
    targets: {
      toPlainLoop: 1.5,
      restingMiB: databases <= 1000 ? 150 : 300,
      requestsPerMinuteAtRest: 0,
      requestsForChatter: 0,
      restartSeconds: databases <= 1000 ? 3 : 12,
      restartWrites: 0,
      editMedianMs: 100,
      eventLoopP99Ms: 50,
    },
  };
}

/** All but one, which is there already. */
async function create(works: Works, databases: number, progress: Progress): Promise<Figures> {
  const { fleet, controller } = works;
  const count = Math.min(databases, mostForFloor);
  progress(`${count} databases by a plain loop`);
  const floor = await works.floorSeconds(count);
  progress(`${databases} databases by the controller`);
  await controller.metrics();
  const start = performance.now();
  const requests = await works.requestsDuring(async () => {
    await fleet.create(1, databases);
    await fleet.areRunning(databases);
  });
  const seconds = (performance.now() - start) / 1000;
  const { eventLoopP99Ms } = await controller.metrics();
  progress(`all are running after ${seconds.toFixed(1)} s`);
  return {
    objects: await fleet.objects(),
    createdSeconds: seconds,
    toPlainLoop: seconds / (floor * (databases - 1)),
    requestsPerDatabase: asked(requests) / (databases - 1),
    eventLoopP99Ms,
  };
}

async function rested(works: Works, databases: number, progress: Progress): Promise<Figures> {
  progress('a minute at rest');
  await works.atRest();
  const rest = await works.requestsDuring(() => delay(minuteMs));
  const { residentMiB, peakMiB } = works.controller.memory();
  const rate = Math.min(mostChatter, (databases * 3) / 5);
  progress(`a minute in which members say how far they are, ${rate} times a second`);
  const before = await works.chatter(rate);
  const during = await works.requestsDuring(() => delay(minuteMs));
  const chatter = (await works.chatter(0)) - before;
  return {
    peakMiB,
    restingMiB: residentMiB,
    requestsPerMinuteAtRest: asked(rest),
    chatter,
    requestsForChatter: asked(during),
  };
}

async function restarted(works: Works, progress: Progress): Promise<Figures> {
  progress('a restart');
  let restartSeconds = NaN;
  const requests = await works.requestsDuring(async () => {
    restartSeconds = await works.restartController();
    await works.atRest();
  });
  return { restartSeconds, restartWrites: requests.writes, restartedMiB: works.controller.memory().residentMiB };
}

/** Edits go before what a creation leaves to do. */
async function editedBeside({ fleet, controller }: Works, databases: number, progress: Progress): Promise<Figures> {
  const beside = Math.min(databases, mostBeside);
  progress(`${edits} edits while ${beside} databases more are created`);
  await controller.metrics();
  const creating = fleet.create(databases, databases + beside);
  const milliseconds: number[] = [];
  for (let i = 0; i < edits; i++) milliseconds.push(await fleet.edit((i * 7) % databases, i));
  await creating;
  const { eventLoopP99Ms } = await controller.metrics();
  return {
    editMedianMs: quantile(milliseconds, 0.5),
    editP95Ms: quantile(milliseconds, 0.95),
    eventLoopWhileEditedP99Ms: eventLoopP99Ms,
  };
}
