import { longestGap, lostRows, monotonicSeconds } from '../postgresql/acknowledgements.ts';
import { withoutPods } from '../cluster/index.ts';
import { ManagedDatabase } from '../postgresql/managed-database.ts';
import { storedRows, Writer } from '../postgresql/writer.ts';
import { median, type Result } from './figures.ts';
import { outageColumns, sum, type Outage } from './outages.ts';

const defaultRepeats = 5;

interface Change {
  readonly name: string;
  /** Another one in each round. */
  readonly spec: (round: number) => object;
}

const changes: readonly Change[] = [
  { name: 'pods', spec: (round) => ({ resources: { requests: { cpu: `${50 + round}m`, memory: '256Mi' } } }) },
  { name: 'setting, restart', spec: (round) => ({ parameters: { max_connections: String(100 + round) } }) },
  { name: 'setting, reload', spec: (round) => ({ parameters: { work_mem: `${4 + round}MB` } }) },
];

interface Roll extends Outage {
  readonly change: string;
  readonly seconds: number;
}

/** Each kind of change of three members, again and again, while a client writes. */
export async function rollout(progress: (line: string) => void, repeats = defaultRepeats): Promise<Result> {
  const reason = withoutPods();
  if (reason !== false) throw new Error(reason);
  await using managed = await ManagedDatabase.open({ replicas: 3, durability: 'Sync' });
  const rolls: Roll[] = [];
  for (let round = 1; round <= repeats; round++) {
    for (const change of changes) {
      const roll = await rollOut(managed, change, round);
      rolls.push(roll);
      progress(
        `${round} of ${repeats}, ${change.name}: ${roll.secondsWithoutWrites.toFixed(2)} s, ${roll.lost} rows lost`,
      );
    }
  }
  console.table(Object.fromEntries(changes.map(({ name }) => [name, summary(rolls, name)])));
  const gap = (name: string): number =>
    median(rolls.filter(({ change }) => change === name).map(({ secondsWithoutWrites }) => secondsWithoutWrites));
  return {
    figures: {
      rollouts: rolls.length,
      podsMedianSeconds: gap('pods'),
      settingRestartMedianSeconds: gap('setting, restart'),
      settingReloadMedianSeconds: gap('setting, reload'),
      rowsAcknowledged: sum(rolls.map(({ acknowledged }) => acknowledged)),
      rowsLost: sum(rolls.map(({ lost }) => lost)),
    },
    targets: { podsMedianSeconds: 2.5, settingRestartMedianSeconds: 2.5, settingReloadMedianSeconds: 0.1, rowsLost: 0 },
  };
}

async function rollOut(managed: ManagedDatabase, { name, spec }: Change, round: number): Promise<Roll> {
  const { database } = managed;
  await database.atRest();
  await using writer = await Writer.start(database);
  const begun = monotonicSeconds();
  await managed.edit(spec(round));
  await managed.stable();
  const ended = monotonicSeconds();
  await writer.acknowledgedAfter(ended);
  const acknowledgements = await writer.stop();
  return {
    change: name,
    secondsWithoutWrites: longestGap(acknowledgements, begun),
    seconds: ended - begun,
    acknowledged: acknowledgements.length,
    lost: lostRows(acknowledgements, await storedRows(database)).length,
  };
}

function summary(all: readonly Roll[], name: string): Readonly<Record<string, number | string>> {
  const rolls = all.filter(({ change }) => change === name);
  return {
    ...outageColumns(rolls),
    'whole, median s': median(rolls.map(({ seconds }) => seconds)).toFixed(1),
  };
}
