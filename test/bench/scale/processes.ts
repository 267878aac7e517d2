import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { cpuSeconds } from '../cpu-time.ts';

/** Numbers of processes by what they are. */
export type Processes = ReadonlyMap<string, number>;

/** The processes whose working directory is a folder, by the names of their programs, as `kube-apiserver`. Linux only. */
export function processesIn(folder: string): Processes {
  const numbers = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return new Map(
    numbers
      .filter((number) => workingDirectory(number) === folder)
      .map((number) => [programOf(number), Number(number)] as const),
  );
}

/** Seconds of the processor that each has used so far. @throws Error when one has ended */
export function cpuOf(processes: Processes): ReadonlyMap<string, number> {
  return new Map([...processes].map(([name, pid]) => [name, cpuSeconds(pid)] as const));
}

function workingDirectory(number: string): string | undefined {
  try {
    return readlinkSync(`/proc/${number}/cwd`);
  } catch {
    // It has ended meanwhile, or is another user's.
    return undefined;
  }
}

function programOf(number: string): string {
  const [program = ''] = readFileSync(`/proc/${number}/cmdline`, 'utf8').split('\0');
  return basename(program);
}
