import { readdirSync, readFileSync } from 'node:fs';

/** Arguments and environments of the processes that work for a folder, which each has in either. */
export function processesFor(folder: string): string[] {
  const read = (path: string): string => {
    try {
      return readFileSync(path, 'latin1');
    } catch {
      // It ended meanwhile.
      return '';
    }
  };
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  return pids
    .map((pid) => `${read(`/proc/${pid}/cmdline`)}\n${read(`/proc/${pid}/environ`)}`)
    .filter((text) => text.includes(folder));
}
