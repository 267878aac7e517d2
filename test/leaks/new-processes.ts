import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Tells the processes that are new on this machine, by the number that Linux gave last: to list all of them several times a second takes long. */
export class NewProcesses {
  #last = 0;

  /** Numbers of those that have begun since it was called last, or since the machine did, and are there. Some are of threads. */
  take(): readonly number[] {
    const before = this.#last;
    this.#last = lastNumber();
    // Numbers begin anew when there are no more.
    if (before === 0 || this.#last < before) return allProcesses();
    const numbers = Array.from({ length: this.#last - before }, (_, n) => before + 1 + n);
    return numbers.filter((number) => existsSync(`/proc/${number}`));
  }
}

/** 0 where nobody says. */
function lastNumber(): number {
  try {
    return Number(readFileSync('/proc/loadavg', 'latin1').split(' ')[4] ?? 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return 0;
  }
}

function allProcesses(): readonly number[] {
  if (!existsSync('/proc')) return [];
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}
