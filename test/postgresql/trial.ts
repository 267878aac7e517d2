import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { longestGap, lostRows, monotonicSeconds } from './acknowledgements.ts';
import type { Fault } from './faults.ts';
import type { NodeDatabase } from './node-database.ts';
import { storedRows, Writer } from './writer.ts';

/** What a client saw of a fault. */
export interface Trial {
  readonly fault: string;
  /** The member that was hit: the primary of that moment. */
  readonly member: string;
  /** The longest time without an acknowledged row, in seconds, from the fault until all members streamed again. */
  readonly secondsWithoutWrites: number;
  readonly acknowledged: number;
  /** Numbers of rows that were acknowledged and are not in the table. */
  readonly lost: readonly number[];
  /** The same member is the primary, and its server was not started again. */
  readonly isSameServer: boolean;
  /** Until all members streamed again, in seconds. */
  readonly secondsUntilAllStream: number;
  readonly complaints: readonly string[];
}

/** A fault shows late, such as at the end of Patroni's loop: writes go on for this long at least. */
const leastSeconds = 6;

/** Lets a client write, strikes the primary of a database in which all is well, takes the fault back, and waits until all is well again. */
export async function trial(database: NodeDatabase, fault: Fault): Promise<Trial> {
  await database.atRest();
  const before = await primary(database);
  const { member } = before;
  await using writer = await Writer.start(database);
  const struckAt = monotonicSeconds();
  const takeBack = await fault.strike(database, member);
  try {
    await delay(1000 * Math.max(0, struckAt + fault.lasts - monotonicSeconds()));
    await writer.acknowledgedAfter(struckAt + fault.lasts);
  } finally {
    await takeBack?.();
  }
  await database.allStream();
  const streamedAt = monotonicSeconds();
  await writer.acknowledgedAfter(Math.max(streamedAt, struckAt + leastSeconds));
  const acknowledgements = await writer.stop();
  return {
    fault: fault.name,
    member,
    secondsWithoutWrites: longestGap(acknowledgements, struckAt),
    acknowledged: acknowledgements.length,
    lost: lostRows(acknowledgements, await storedRows(database)),
    isSameServer: isDeepStrictEqual(await primary(database), before),
    secondsUntilAllStream: streamedAt - struckAt,
    complaints: writer.complaints,
  };
}

async function primary(database: NodeDatabase): Promise<{ readonly member: string; readonly startedAt: string }> {
  const member = (await database.leader()) ?? '';
  return { member, startedAt: await database.sql(member, 'select pg_postmaster_start_time()') };
}
