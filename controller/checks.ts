import type { Checks } from './endpoints/health.ts';
import type { ManagerState } from './runtime/manager.ts';

/** The controller as probes see it. */
export interface Probed {
  readonly state: ManagerState;
  /** Names of the kinds that have not been read yet. */
  readonly unread: ReadonlySet<string>;
  readonly workers: number;
  /** Workers that have a database. */
  readonly busyWorkers: number;
  /** How long each of these has had it at least, in milliseconds. */
  readonly busyForMs: number;
  /** Who holds the lease; empty while that is not known. */
  readonly leader: string;
}

/** A run may wait for dozens of answers, each at most half a minute. */
const stuckAfterMs = 15 * 60_000;

/**
 * What probes ask. Nothing of it depends on a database or on the API server: a restart would mend neither, and a standby that has read everything is as
 * ready as the leader.
 *
 * @param probed undefined between two leases
 */
export function checks(probed: () => Probed | undefined): Checks {
  return {
    healthz: [{ name: 'workers', problem: () => stuckWorkers(probed()) }],
    readyz: [
      { name: 'caches', problem: () => emptyCaches(probed()) },
      { name: 'lease', problem: () => (probed()?.leader ? undefined : 'nobody is known to hold the lease') },
    ],
  };
}

/** One that is stuck holds up one database, and the metrics tell. When all are, only a new process goes on. */
function stuckWorkers(probed: Probed | undefined): string | undefined {
  if (probed === undefined) return undefined;
  const { workers, busyWorkers, busyForMs } = probed;
  if (busyWorkers < workers || busyForMs < stuckAfterMs) return undefined;
  return `none of ${workers} has ended a run for ${Math.floor(busyForMs / 60_000)} minutes`;
}

function emptyCaches(probed: Probed | undefined): string | undefined {
  switch (probed?.state) {
    case 'standby':
    case 'leading':
      return undefined;
    case 'stopping':
    case 'stopped':
      return 'the controller is stopping';
    case undefined:
    case 'new':
    case 'syncing':
      return ['not read yet', [...(probed?.unread ?? [])].join(', ')].filter(Boolean).join(': ');
  }
}
