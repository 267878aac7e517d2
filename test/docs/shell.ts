import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Cluster } from '../cluster/index.ts';
import { project, run, type Ended } from '../commands/command.ts';

/** A page of the documentation. */
export function readPage(name: string): string {
  return readFileSync(`${project}/docs/${name}`, 'utf8');
}

/** The commands for a shell that a text has, one a line. */
export function shellCommands(text: string): readonly string[] {
  return [...text.matchAll(/```sh\n([^]*?)```/g)].flatMap(([, block = '']) => block.trim().split('\n'));
}

/** Runs a command as somebody would who has a cluster's kubeconfig, in the folder of the project. */
export function runInShell({ kubectl, kubeconfig }: Cluster, command: string): Promise<Ended> {
  const env = { PATH: `${dirname(kubectl)}:${process.env['PATH']}`, KUBECONFIG: kubeconfig, KUBERC: 'off' };
  return run('sh', ['-c', command], { env });
}
