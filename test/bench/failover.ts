import { newNamespace, sharedPodCluster, withoutPods } from '../cluster/index.ts';
import { faults, patroniKilledTenTimes, podDeleted, type Fault } from '../postgresql/faults.ts';
import { NodeDatabase } from '../postgresql/node-database.ts';
import { trial, type Trial } from '../postgresql/trial.ts';
import { median, type Result } from './figures.ts';
import { outageColumns, sum } from './outages.ts';

/** With eight faults each. */
const defaultRepeats = 3;

const alone: Fault = { ...patroniKilledTenTimes, name: `${patroniKilledTenTimes.name}, one member` };
const cases = [...faults, alone];

/** Each fault of a primary, again and again, while a client writes and no controller runs. */
export async function failover(progress: (line: string) => void, repeats = defaultRepeats): Promise<Result> {
  const reason = withoutPods();
  if (reason !== false) throw new Error(reason);
  const cluster = await sharedPodCluster();
  await using three = await NodeDatabase.create(cluster, {
    namespace: await newNamespace(cluster),
    replicas: 3,
    // Each failover begins the segment of WAL anew on a timeline of its own: many of them fill a small volume.
    spec: { durability: 'Sync', storage: { size: '1Gi' } },
  });
  await using one = await NodeDatabase.create(cluster, { namespace: await newNamespace(cluster) });
  const trials: Trial[] = [];
  for (let round = 1; round <= repeats; round++) {
    for (const fault of cases) {
      const outcome = await trial(fault === alone ? one : three, fault);
      trials.push(outcome);
      progress(
        `${round} of ${repeats}, ${fault.name}: ${outcome.secondsWithoutWrites.toFixed(2)} s, ${outcome.lost.length} rows lost`,
      );
    }
  }
  console.table(Object.fromEntries(cases.map(({ name }) => [name, summary(trials, name)])));
  return {
    figures: {
      faults: trials.length,
      rowsAcknowledged: sum(trials.map(({ acknowledged }) => acknowledged)),
      rowsLost: sum(trials.map(({ lost }) => lost.length)),
      ...Object.fromEntries(cases.map((fault) => [figureOf(fault), judged(trials, fault)])),
    },
    targets: { rowsLost: 0, ...Object.fromEntries(cases.map((fault) => [figureOf(fault), fault.target])) },
  };
}

function summary(all: readonly Trial[], name: string): Readonly<Record<string, number | string>> {
  const trials = all.filter(({ fault }) => fault === name);
  return {
    ...outageColumns(trials.map((trial) => ({ ...trial, lost: trial.lost.length }))),
    'all stream, max s': Math.max(...trials.map(({ secondsUntilAllStream }) => secondsUntilAllStream)).toFixed(1),
  };
}

/** A deleted pod is judged by the median, everything else by the worst. */
function judged(all: readonly Trial[], { name }: Fault): number {
  const seconds = all.filter(({ fault }) => fault === name).map(({ secondsWithoutWrites }) => secondsWithoutWrites);
  return name === podDeleted.name ? median(seconds) : Math.max(...seconds);
}

/** `pod deleted` becomes `podDeletedMedianSeconds`. */
function figureOf({ name }: Fault): string {
  const camel = name.replaceAll(/[^A-Za-z]+(\w)/g, (_, letter: string) => letter.toUpperCase());
  return `${camel}${name === podDeleted.name ? 'Median' : 'Max'}Seconds`;
}
