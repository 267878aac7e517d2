import { fileURLToPath } from 'node:url';
import { builtBinaries } from '../cluster/build.ts';
import { peers } from './peers.ts';

/** What a contender is started with. */
export interface Assignment {
  /** Path of the kubeconfig of a user of its own. */
  readonly kubeconfig: string;
  readonly namespace: string;
  /** Path of a file with the rendered objects of each database. */
  readonly objects: string;
  /** Between two comparisons, for one that compares. */
  readonly intervalSeconds: number;
}

export interface CommandLine {
  readonly command: string;
  readonly args: readonly string[];
}

/** One way of keeping objects as they should be. */
export interface Contender {
  /** Of tables. */
  readonly title: string;
  /** Of figures and namespaces. */
  readonly id: 'plumbline' | 'reapply' | 'compare';
  /** It goes round and round and never comes to rest; the others act on what a watch shows. */
  readonly isLoop: boolean;
  readonly start: (assignment: Assignment) => Promise<CommandLine>;
  /** Whether a line of its output says that something was not as it should be. */
  readonly isReport: (line: string) => boolean;
}

const main = fileURLToPath(new URL('../../controller/main.ts', import.meta.url));

export const plumbline: Contender = {
  title: 'Plumbline',
  id: 'plumbline',
  isLoop: false,
  start: async ({ kubeconfig, namespace }) => ({
    command: process.execPath,
    args: [main, '--kubeconfig', kubeconfig, '--namespace', namespace, '--lease-namespace', namespace],
  }),
  isReport: (line) => line.includes('"drift":{'),
};

/** controller-runtime: everything that is owned is applied again at each event. */
export const reapply: Contender = {
  title: 'controller-runtime',
  id: 'reapply',
  isLoop: false,
  start: (assignment) => peer('reapply', assignment),
  // It does not look for what differs, so it has nothing to say.
  isReport: () => false,
};

/** fluxcd/pkg/ssa: dry run, comparison, apply where they differ. */
export const compare: Contender = {
  title: 'fluxcd/pkg/ssa',
  id: 'compare',
  isLoop: true,
  start: (assignment) => peer('compare', assignment),
  isReport: (line) => line.endsWith(' configured'),
};

/** Of reports, how many name the field manager that made the edit. */
export function naming(reports: readonly string[], manager: string): number {
  return reports.filter((line) => line.includes(`"manager":"${manager}"`)).length;
}

async function peer(
  command: string,
  { kubeconfig, namespace, objects, intervalSeconds }: Assignment,
): Promise<CommandLine> {
  const { peers: program } = await builtBinaries(peers);
  return { command: program, args: [command, kubeconfig, namespace, objects, `${intervalSeconds}s`] };
}
