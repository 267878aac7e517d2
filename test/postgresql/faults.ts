import { readFileSync } from 'node:fs';
import { paths } from '../../constructs/postgresql/paths.ts';
import type { NodeCluster } from '../cluster/index.ts';
import type { NodeDatabase } from './node-database.ts';
import { patience } from '../patience.ts';

/** Patroni's ttl, in seconds. */
const ttl = 20;

/** Something bad that happens to a member. */
export interface Fault {
  readonly name: string;
  /** The most seconds without writes that are wanted. */
  readonly target: number;
  /** The server goes on, and its member stays the primary. */
  readonly keepsServer?: true;
  /** For how many seconds it lasts at least, before it is taken back. */
  readonly lasts: number;
  /** What it does to the node, where that is not its pods alone: then the tests must have started the node themselves. */
  readonly ownNodeFor?: string;
  /** Does it; returns what takes it back, where it does not end by itself. */
  readonly strike: (database: NodeDatabase, member: string) => Promise<(() => Promise<void>) | void>;
}

export const podDeleted: Fault = {
  name: 'pod deleted',
  target: 3,
  lasts: 0,
  strike: async ({ cluster, namespace }, member) => {
    // It returns when the pod of this uid is gone.
    const { code, stderr } = await cluster.kubectlRun(['-n', namespace, 'delete', 'pod', member, patience]);
    if (code !== 0) throw new Error(stderr);
  },
};

export const postgresKilled: Fault = {
  name: 'postgres killed',
  target: 5,
  lasts: 0,
  strike: async (database, member) => {
    await database.run(member, ['bash', '-c', `read -r pid <${paths.data}/postmaster.pid && kill -KILL "$pid"`]);
  },
};

export const patroniKilled: Fault = {
  name: 'patroni killed',
  keepsServer: true,
  target: 0.5,
  lasts: 0,
  strike: async (database, member) => killPatroni(database, member, 1),
};

export const patroniKilledTenTimes: Fault = {
  name: 'patroni killed ten times',
  keepsServer: true,
  target: 0.5,
  lasts: 0,
  strike: async (database, member) => killPatroni(database, member, 10),
};

export const containerKilled: Fault = {
  name: 'container killed',
  ownNodeFor: 'kills the first process of a container',
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
  ownNodeFor: 'stops the first process of a container',
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
  keepsServer: true,
  ownNodeFor: 'drops packets on their way',
  target: 30,
  lasts: ttl + 10,
  strike: async (database, member) => {
    const { podIP } = (await database.pod(member)).status;
    const { hostname: api } = new URL(ownNode(database).server);
    return dropPackets(database, [`ip saddr ${podIP} ip daddr ${api}`, `ip saddr ${api} ip daddr ${podIP}`]);
  },
};

/** The primary writes what no replica gets, and is then frozen until another one leads. */
export const diverged: Fault = {
  name: 'frozen with what nobody else has',
  ownNodeFor: 'drops packets on their way',
  target: 30,
  lasts: ttl,
  strike: async (database, member) => {
    const { podIP } = (await database.pod(member)).status;
    const others = database.members.filter((name) => name !== member);
    const addresses = await Promise.all(others.map(async (name) => (await database.pod(name)).status.podIP ?? ''));
    const mend = await dropPackets(
      database,
      addresses.map((address) => `ip saddr ${podIP} tcp sport 5432 ip daddr ${address}`),
    );
    try {
      await database.sql(member, 'set synchronous_commit = local; create table alone (n int)', 'app');
      const thaw = await containerFrozen.strike(database, member);
      return async () => {
        await mend();
        await thaw?.();
      };
    } catch (error) {
      await mend();
      throw error;
    }
  },
};

/** Dropped, not refused: a broken network says nothing. @param what of the packets, as nft has it */
async function dropPackets(database: NodeDatabase, what: readonly string[]): Promise<() => Promise<void>> {
  const table = ['table', 'ip', 'plumbline-fault'];
  const rules = `${table.join(' ')} {
    chain forward {
      type filter hook forward priority filter - 20; policy accept;
      ${what.map((packets) => `${packets} counter drop`).join('\n')}
    }
  }`;
  await ownNode(database).runOnNode('nft', ['-f', '-'], rules);
  return async () => {
    const seen = await ownNode(database).runOnNode('nft', ['list', ...table]);
    await ownNode(database).runOnNode('nft', ['delete', ...table]);
    if (!/packets [1-9]/.test(seen)) throw new Error(`nothing was cut off:\n${seen}`);
  };
}

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

const killer = readFileSync(new URL('./kill-patroni.py', import.meta.url), 'utf8');

async function killPatroni(database: NodeDatabase, member: string, times: number): Promise<void> {
  await database.run(member, ['python3', '-c', killer, String(times)]);
}

function processesOf(database: NodeDatabase, pod: string): Promise<readonly number[]> {
  return ownNode(database).processesOf({ namespace: database.namespace, pod, container: 'postgres' });
}

function ownNode({ cluster: { own } }: NodeDatabase): NodeCluster {
  if (own === undefined) throw new Error('an existing cluster gives no such access to its nodes');
  return own;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
