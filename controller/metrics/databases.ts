import { setImmediate } from 'node:timers/promises';
import { phases } from '../../constructs/api/status.ts';
import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { lastBackup } from '../database/backups.ts';
import type { Child } from '../database/child.ts';
import { conditionTypes } from '../database/conditions.ts';
import { wantedReplicas } from '../database/status.ts';
import { primaryOf } from '../health/primary.ts';
import { headOf, lineOf, type Family, type Sample } from './exposition.ts';

/** The databases as they are in memory. */
export interface DatabaseSource {
  readonly databases: {
    keys(): Iterable<string>;
    get(key: string): StoredDatabaseService | undefined;
  };
  readonly children: { of(key: string): readonly Child[] };
}

/** A family with a few series for each database. */
interface PerDatabase extends Family {
  readonly samples: (
    resource: StoredDatabaseService,
    children: () => readonly Child[],
    failovers: () => number,
  ) => readonly Sample[];
}

const of = ['namespace', 'name'] as const;
const phaseFamily: Family = {
  name: 'plumbline_databases',
  help: 'Databases by phase.',
  labels: ['phase'],
};

const perDatabase: readonly PerDatabase[] = [
  {
    name: 'plumbline_database_info',
    help: 'Always 1; what a database is.',
    labels: [...of, 'engine', 'version'],
    samples: ({ metadata, spec }) => [[1, metadata.namespace, metadata.name, spec?.engine, spec?.version]],
  },
  {
    name: 'plumbline_database_condition',
    help: 'Always 1; which status (True, False or Unknown) each condition of a database has, and why.',
    labels: [...of, 'type', 'status', 'reason'],
    samples: ({ metadata, status }) =>
      (status?.conditions ?? [])
        .filter(({ type }) => conditionTypes.has(type))
        .map(({ type, status, reason }) => [1, metadata.namespace, metadata.name, type, status, reason] as const),
  },
  {
    name: 'plumbline_database_replicas',
    help: 'Members that a database is to have.',
    labels: of,
    samples: (resource) => [[wantedReplicas(resource), resource.metadata.namespace, resource.metadata.name]],
  },
  {
    name: 'plumbline_database_ready_replicas',
    help: 'Members of a database that are ready.',
    labels: of,
    samples: ({ metadata, status }) => [[status?.readyReplicas ?? 0, metadata.namespace, metadata.name]],
  },
  {
    name: 'plumbline_database_replication_lag_bytes',
    help: 'How much of the WAL a replica lacks, by what it and the primary said last. Each says it every five seconds, so what is written meanwhile is in it.',
    labels: [...of, 'pod'],
    samples: ({ metadata }, children) =>
      lagsOf(children()).map(({ pod, bytes }) => [bytes, metadata.namespace, metadata.name, pod]),
  },
  {
    name: 'plumbline_failovers_total',
    help: 'Changes of a primary that Plumbline did not ask for, as the controller that works has seen them: failovers, and switchovers by somebody else.',
    type: 'counter',
    labels: of,
    samples: ({ metadata }, _, failovers) => [[failovers(), metadata.namespace, metadata.name]],
  },
  {
    name: 'plumbline_database_storage_capacity_bytes',
    help: 'Size of the volume of a member, as it says itself.',
    labels: [...of, 'pod'],
    samples: ({ metadata }, children) =>
      volumesOf(children()).map(({ pod, capacityBytes }) => [capacityBytes, metadata.namespace, metadata.name, pod]),
  },
  {
    name: 'plumbline_database_storage_used_ratio',
    help: 'Which part of the volume of a member is used, from 0 to 1, in steps of 0.05.',
    labels: [...of, 'pod'],
    samples: ({ metadata }, children) =>
      volumesOf(children()).map(({ pod, usedPercent }) => [usedPercent / 100, metadata.namespace, metadata.name, pod]),
  },
  {
    name: 'plumbline_database_certificate_expiry_timestamp_seconds',
    help: 'When the certificate ends that a member serves.',
    labels: [...of, 'pod'],
    samples: ({ metadata }, children) =>
      children().flatMap(({ name, facts }) => {
        const end = facts.kind === 'Pod' ? facts.served?.lifetime?.notAfter : undefined;
        return end === undefined ? [] : [[end / 1000, metadata.namespace, metadata.name, name] as const];
      }),
  },
  {
    name: 'plumbline_backup_last_success_timestamp_seconds',
    help: 'When the last good backup of a database ended; absent where there is none, or none is asked for.',
    labels: of,
    samples: ({ metadata, spec }, children) => {
      const last = spec?.backup && lastBackup(metadata.name, children());
      return last === undefined ? [] : [[last / 1000, metadata.namespace, metadata.name]];
    },
  },
];

/** Every family of which this file gives the samples. */
export const databaseFamilies: readonly Family[] = [phaseFamily, ...perDatabase];

/** Databases between which other things get their turn. */
const atATime = 100;

/**
 * The series of all databases, read from memory and written at once: kept in a registry they would cost 20 KB for each database, and a scrape of
 * 5,000 would stand in the way of everything else for 150 ms.
 *
 * @param failovers of the database with a key
 */
export async function* databaseText(
  { databases, children }: DatabaseSource,
  failovers: (key: string) => number,
): AsyncGenerator<string> {
  const keys = [...databases.keys()];
  yield phaseText(keys, databases);
  for (const family of perDatabase) {
    yield headOf(family);
    for (let from = 0; from < keys.length; from += atATime) {
      let text = '';
      for (const key of keys.slice(from, from + atATime)) {
        const resource = databases.get(key);
        if (resource === undefined) continue;
        const samples = family.samples(
          resource,
          () => children.of(key),
          () => failovers(key),
        );
        for (const sample of samples) text += lineOf(family, sample);
      }
      yield text;
      await setImmediate();
    }
  }
}

function phaseText(keys: readonly string[], databases: DatabaseSource['databases']): string {
  const counts = new Map<string, number>(phases.map((phase) => [phase, 0]));
  for (const key of keys) {
    const resource = databases.get(key);
    if (resource === undefined) continue;
    const phase = resource.status?.phase ?? 'Pending';
    counts.set(phase, (counts.get(phase) ?? 0) + 1);
  }
  return headOf(phaseFamily) + [...counts].map(([phase, count]) => lineOf(phaseFamily, [count, phase])).join('');
}

function volumesOf(
  children: readonly Child[],
): readonly { readonly pod: string; readonly capacityBytes: number; readonly usedPercent: number }[] {
  return children.flatMap(({ name, facts }) =>
    facts.kind === 'Pod' && facts.usage.capacityBytes > 0 ? [{ pod: name, ...facts.usage }] : [],
  );
}

/** Of those replicas that have said where they are; none while there is no ready primary. */
function lagsOf(children: readonly Child[]): readonly { readonly pod: string; readonly bytes: number }[] {
  const pods = children.flatMap(({ name, facts }) => (facts.kind === 'Pod' ? [{ name, facts }] : []));
  const primary = primaryOf(pods);
  const written = primary?.facts.position ?? 0;
  return pods.flatMap(({ name, facts }) =>
    name === primary?.name || written === 0 || facts.position === 0
      ? []
      : [{ pod: name, bytes: Math.max(0, written - facts.position) }],
  );
}
