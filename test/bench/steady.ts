import { setTimeout as delay } from 'node:timers/promises';
import { typeOf } from '../../controller/database/kinds.ts';
import type { Kube } from '../../controller/kube/index.ts';
import { Arena } from './arena.ts';
import { compare, plumbline, reapply, type Contender } from './contender.ts';
import { Contestant, type Usage } from './contestant.ts';
import type { Result } from './figures.ts';
import { foreignEdits } from './foreign-edits.ts';
import { asked } from './request-counts.ts';
import type { Stage } from './stage.ts';

const databases = 200;
const foreignEvents = 1000;
/** As often as those who use it compare. */
const intervalSeconds = 60;
const minuteMs = 60_000;

/** What one contender did while nothing was wrong. */
interface Calm {
  readonly contender: Contender;
  /** A minute in which nothing happened. */
  readonly rest: Usage;
  /** A minute in which 1,000 changes were made that are no drift, until it had done with them. */
  readonly busy: Usage;
}

/** 200 databases to which nothing happens for a minute, and then a thousand changes that are no drift, for each contender in its turn. */
export async function steady(progress: (line: string) => void): Promise<Result> {
  await using arena = await Arena.open();
  const calmOf = async (contender: Contender): Promise<Calm> => {
    progress(`${contender.title}: ${databases} databases`);
    await using contestant = await Contestant.start(arena, { contender, databases, intervalSeconds });
    progress(`${contender.title}: a minute at rest`);
    const rest = await contestant.usageDuring(() => delay(minuteMs));
    progress(`${contender.title}: ${foreignEvents} changes that are no drift`);
    const busy = await contestant.usageDuring(async () => {
      await Promise.all([edit(arena.kube, contestant.stage), delay(minuteMs)]);
      await contestant.atRest();
    });
    return { contender, rest, busy };
  };
  const ours = await calmOf(plumbline);
  const reapplied = await calmOf(reapply);
  const compared = await calmOf(compare);
  console.table({
    [plumbline.title]: columns(ours),
    [reapply.title]: columns(reapplied),
    [compare.title]: columns(compared),
  });
  return result(ours, reapplied, compared);
}

/** One change after the other, each of another database, spread over a minute so that none has to wait for the one before. */
async function edit(kube: Kube, { databases, namespace }: Stage): Promise<void> {
  const start = performance.now();
  for (let n = 0; n < foreignEvents; n++) {
    const database = databases[n % databases.length];
    // Another kind of edit in each round over the databases too.
    const edit = foreignEdits[(n + Math.floor(n / databases.length)) % foreignEdits.length];
    if (database === undefined || edit === undefined) throw new Error('There is nothing to edit.');
    const name = `${database.metadata.name}${edit.suffix}`;
    await kube.patch(typeOf(edit), { namespace, name }, edit.patch(n));
    await delay(Math.max(0, start + ((n + 1) * minuteMs) / foreignEvents - performance.now()));
  }
}

/**
 * Writes and reports that no drift was the reason of. Of a contender that asks by dry runs, which the API server counts as writes, only what it
 * says that it applied.
 */
function wrongAlarms({ contender, busy }: Calm): number {
  return busy.reports.length + (contender.isLoop ? 0 : busy.requests.writes);
}

function columns(calm: Calm): Readonly<Record<string, number | string>> {
  const { rest, busy } = calm;
  return {
    'requests per minute at rest': asked(rest.requests),
    'lease, per minute': rest.requests.leases,
    'watches opened': rest.requests.watches,
    'CPU s per minute at rest': rest.cpuSeconds.toFixed(2),
    'CPU s per 1,000 foreign events': busy.cpuSeconds.toFixed(2),
    'requests meanwhile': asked(busy.requests),
    'wrong alarms': wrongAlarms(calm),
  };
}

function result(ours: Calm, reapplied: Calm, compared: Calm): Result {
  return {
    figures: {
      databases,
      foreignEvents,
      requestsPerMinuteAtRest: asked(ours.rest.requests),
      reapplyRequestsPerMinuteAtRest: asked(reapplied.rest.requests),
      compareRequestsPerMinuteAtRest: asked(compared.rest.requests),
      cpuSecondsOfForeignEvents: ours.busy.cpuSeconds,
      reapplyCpuSecondsOfForeignEvents: reapplied.busy.cpuSeconds,
      compareCpuSecondsOfForeignEvents: compared.busy.cpuSeconds,
      cpuToReapply: ours.busy.cpuSeconds / reapplied.busy.cpuSeconds,
      wrongAlarms: wrongAlarms(ours),
      reapplyWrongAlarms: wrongAlarms(reapplied),
      compareWrongAlarms: wrongAlarms(compared),
    },
    targets: { requestsPerMinuteAtRest: 0, cpuToReapply: 2, wrongAlarms: 0 },
  };
}
