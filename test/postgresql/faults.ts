import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../controller/running-plumbline.ts';
import type { NodeDatabase } from './node-database.ts';

/** Patroni's ttl, in seconds. */
const ttl = 20;

/** Something bad that happens to a member. */
export interface Fault {
  readonly name: string;
  /** The most seconds without writes that are wanted. */
  readonly target: number;
  /** For how many seconds it lasts at least, before it is taken back. */
  readonly lasts: number;
  /** Does it; returns what takes it back, where it does not end by itself. */
  readonly strike: (database: NodeDatabase, member: string) => Promise<(() => Promise<void>) | void>;
}

export const podDeleted: Fault = {
  name: 'pod deleted',
  target: 3,
  lasts: 0,
  strike: async ({ cluster, namespace }, member) => {
    // It returns when the pod of this uid is gone.
    const { code, stderr } = await cluster.kubectlRun(['-n', namespace, 'delete', 'pod', member, '--timeout=120s']);
    if (code !== 0) throw new Error(stderr);
  },
};

export const postgresKilled: Fault = {
  name: 'postgres killed',
  target: 5,
  lasts: 0,
  strike: async (database, member) => signal(await postmaster(database, member), 'SIGKILL'),
};

export const patroniKilled: Fault = {
  name: 'patroni killed',
  target: 0.5,
  lasts: 0,
  strike: async (database, member) => killPatroni(database, member),
};

export const patroniKilledTenTimes: Fault = {
  name: 'patroni killed ten times',
  target: 0.5,
  lasts: 0,
  strike: async (database, member) => {
    for (let i = 0; i < 10; i++) {
      const next = delay(1_200);
      await killPatroni(database, member);
      await next;
    }
  },
};

export const containerKilled: Fault = {
  name: 'container killed',
  target: ttl + 5,
  lasts: 0,
  strike: async (database, member) => {
    const pids = await processesOf(database, member);
    // The rest goes with its first process: the kernel sees to that.
    for (const pid of pids) signal(pid, 'SIGKILL');
  },
};

export const containerFrozen: Fault = {
  name: 'container frozen',
  target: 30,
  lasts: ttl,
  strike: async (database, member) => {
    const pids = await processesOf(database, member);
    for (const pid of pids) signal(pid, 'SIGSTOP');
    return async () => {
      // The kubelet may have ended it by now, and the numbers may be others'.
      const there = await processesOf(database, member);
      for (const pid of pids) if (there.includes(pid)) signal(pid, 'SIGCONT');
    };
  },
};

export const cutOffFromApi: Fault = {
  name: 'cut off from the API',
  target: 30,
  lasts: ttl + 10,
  strike: async (database, member) => {
    const { podIP } = (await database.pod(member)).status;
    const { hostname: api } = new URL(database.cluster.server);
    // Dropped, not refused: a broken network says nothing.
    const rules = `table ip plumbline-fault {
      chain forward {
        type filter hook forward priority filter - 20; policy accept;
        ip saddr ${podIP} ip daddr ${api} drop
        ip saddr ${api} ip daddr ${podIP} drop
      }
    }`;
    await database.cluster.runOnNode('nft', ['-f', '-'], rules);
    return async () => {
      await database.cluster.runOnNode('nft', ['delete', 'table', 'ip', 'plumbline-fault']);
    };
  },
};

/** Each is done to the primary of a database with replicas. */
export const faults: readonly Fault[] = [
  podDeleted,
  postgresKilled,
  patroniKilled,
  patroniKilledTenTimes,
  containerKilled,
  containerFrozen,
  cutOffFromApi,
];

/** Kills the Patroni that runs, or the next one if none does, and waits until there is another. */
async function killPatroni(database: NodeDatabase, member: string): Promise<void> {
  const pid = await eventually('Patroni runs', () => patroni(database, member));
  signal(pid, 'SIGKILL');
  await eventually('Patroni runs again', async () => {
    const next = await patroni(database, member);
    return next === pid ? undefined : next;
  });
}

async function patroni(database: NodeDatabase, member: string): Promise<number | undefined> {
  const pids = await processesOf(database, member);
  // Children that run no program of their own yet look like it.
  const found = pids.filter((pid) => /^\S*python3?[^\0]*\0\S*patroni\0/.test(read(pid, 'cmdline')));
  return found.find((pid) => !found.includes(parentOf(pid)));
}

async function postmaster(database: NodeDatabase, member: string): Promise<number> {
  const pids = await processesOf(database, member);
  const found = pids.filter((pid) => read(pid, 'comm').trim() === 'postgres');
  const first = found.find((pid) => !found.includes(parentOf(pid)));
  if (first === undefined) throw new Error(`PostgreSQL does not run on ${member}`);
  return first;
}

function processesOf({ cluster, namespace }: NodeDatabase, pod: string): Promise<readonly number[]> {
  return cluster.processesOf({ namespace, pod, container: 'postgres' });
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s+(\d+)$/m.exec(read(pid, 'status'))?.[1]);
}

/** Empty where the process is gone. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
