import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/**
 * The command line of a running process, its arguments separated by spaces. Undefined if there is no such process or it has
 * ended and only waits to be reaped; empty for a moment while it replaces itself by another program.
 */
export function commandLine(pid: number): string | undefined {
  if (existsSync('/proc/self/cmdline')) return fromProc(pid);
  const { stdout } = spawnSync('ps', ['-ww', '-p', String(pid), '-o', 'args='], { encoding: 'utf8' });
  return stdout?.trim() || undefined;
}

function fromProc(pid: number): string | undefined {
  try {
    // The state is the first field after the name, which stands in parentheses and may contain some itself (proc_pid_stat(5)).
    const [state] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1) ?? '';
    if (state === 'Z' || state === 'X') return undefined;
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    // It is gone, or went while we were looking.
    return undefined;
  }
}
