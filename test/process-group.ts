import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { patienceMs } from './patience.ts';

/**
 * Asks all processes of a group to end, and waits until they have: whoever began the group may be gone while another one still writes.
 *
 * @param group its number, which is that of the process that began it
 */
export async function endGroup(group: number): Promise<void> {
  signal(group, 'SIGTERM');
  for (const end = Date.now() + patienceMs; isThere(group) && Date.now() < end;) await delay(20);
  signal(group, 'SIGKILL');
}

function signal(group: number, name: NodeJS.Signals): void {
  try {
    process.kill(-group, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Whether a process of it runs. One that has ended and that nobody asks about is none; without /proc nobody can tell the two apart. */
function isThere(group: number): boolean {
  return processes().some((pid) => {
    // Behind the name, which may be anything: state, parent, group.
    const [state, , itsGroup] = textOf(`/proc/${pid}/stat`)
      .replace(/^.*\) /s, '')
      .split(' ');
    return Number(itsGroup) === group && state !== 'Z' && state !== 'X';
  });
}

function processes(): readonly string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** Empty for a process that has ended meanwhile. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
