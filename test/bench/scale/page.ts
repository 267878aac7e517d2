import type { Figures } from '../figures.ts';
import { targetsOf } from '../scale.ts';
import type { Run } from './figure-file.ts';
import { grouped, short } from './panel.ts';

/** What each row of the table says, and of what unit it is. */
const rows: readonly { readonly figure: string; readonly says: string }[] = [
  { figure: 'objects', says: 'objects of databases' },
  { figure: 'createdSeconds', says: 'creation, until all statuses say Running, s' },
  { figure: 'created', says: '… of so many databases' },
  { figure: 'toPlainLoop', says: '… to a plain loop' },
  { figure: 'requestsPerDatabase', says: '… requests for each database' },
  { figure: 'controllerCpuMs', says: '… processor of the controller for each, ms' },
  { figure: 'apiServerCpuMs', says: '… processor of the API server for each, ms' },
  { figure: 'eventLoopP99Ms', says: '… delay of the event loop, p99, ms' },
  { figure: 'peakMiB', says: 'memory of the controller: peak, MiB' },
  { figure: 'restingMiB', says: '… at rest, MiB' },
  { figure: 'restingKiBPerDatabase', says: '… for each database, KiB' },
  { figure: 'requestsPerMinuteAtRest', says: 'requests in a minute at rest' },
  { figure: 'requestsForChatter', says: 'requests for news of members' },
  { figure: 'chatter', says: '… of so many' },
  { figure: 'restartSeconds', says: 'a restart, until nothing is left to do, s' },
  { figure: 'restartWrites', says: '… writes' },
  { figure: 'editMedianMs', says: 'an edit while others are created, median, ms' },
  { figure: 'editP95Ms', says: '… p95, ms' },
  { figure: 'eventLoopWhileEditedP99Ms', says: '… delay of the event loop, p99, ms' },
];

/** The page of the documentation that tells of a run. Pure. */
export function describe({ date, cores, load, stages }: Run): string {
  const counts = stages.map(({ databases = NaN }) => grouped(databases));
  return `# Thousands of databases

\`npm run bench -- scale ${stages.at(-1)?.['databases']}\` on ${date}: ${cores} cores for everything, a load of ${short(load)} before it began.

![How the figures grow with the number of databases](scale.svg)

| databases | ${counts.join(' | ')} | wanted |
| --- | ${counts.map(() => '---').join(' | ')} | --- |
${rows.map((row) => rowOf(row, stages)).join('\n')}

- **The fleet** is of databases with three members, \`durability: Sync\` and a backup, fifty to a namespace. It grows on one server, and at each of
  these sizes everything is measured. API server, etcd and the StatefulSet and disruption controllers are real; no node runs the pods: a program
  plays their kubelets and Patroni. What Kubernetes has beside these (scheduler, garbage collector, EndpointSlices) is left out, for it would share
  these cores.
- **The plain loop** applies the same bodies, one after the other, over a connection of the same kind, and their members are played as well. It does not make
  Secrets, certificates and histories and writes no status. It takes as long for each database however many there are, so at each size
  ${stages.at(-1)?.['floorSample']} are measured and that is multiplied.
- **Memory** is the resident set of the controller as its image starts it: with the flags of its [Dockerfile](../images/controller/Dockerfile), Node included.
- **News of members** are what Patroni writes on its pods each 5 s while there are writes, and the renewals of its lock; as many as the API server takes
  on these cores.
- **A restart** is from the start of the process until it has read everything and its queue is empty.
- **An edit** is of a backup's schedule: from the answer of the API server until a watch shows the changed CronJob. A hundred, one after the other,
  while as many databases again (a thousand at the most) wait to be made.

What follows from it for the limits of the Deployment stands in [operations.md](operations.md).
`;
}

function rowOf({ figure, says }: (typeof rows)[number], stages: readonly Figures[]): string {
  const values = stages.map((figures) => (figures[figure] === undefined ? '' : short(figures[figure])));
  const wanted = stages.map(({ databases = NaN }) => targetsOf(databases)[figure]);
  const told = [...new Set(wanted)].filter((most) => most !== undefined).map((most) => `≤ ${most}`);
  return `| ${says} | ${values.join(' | ')} | ${told.join(', then ')} |`;
}
