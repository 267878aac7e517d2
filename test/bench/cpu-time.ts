import { readFileSync } from 'node:fs';

// Linux tells times in hundredths of a second, whatever the kernel's own clock does (time(7), USER_HZ).
const ticksPerSecond = 100;

/** Seconds of CPU that a process has used so far, in all its threads. Linux only. @throws Error when there is no such process */
export function cpuSeconds(pid: number): number {
  return cpuSecondsIn(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}

/** The same from the text of /proc/PID/stat: fields 14 and 15, of user and system (proc_pid_stat(5)). */
export function cpuSecondsIn(stat: string): number {
  // The second field is the name in parentheses, which may contain spaces and parentheses itself.
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  if (user === undefined || system === undefined) throw new Error(`This is no /proc/PID/stat: ${stat}`);
  return (user + system) / ticksPerSecond;
}
