import type { V1ConfigMap } from '@kubernetes/client-node';
import type { Construct } from 'constructs';
import { emit } from '../emit.ts';
import {
  databaseLabel,
  informativeLabels,
  patroniLabel,
  patroniLabels,
  primaryRole,
  replicaRole,
  roleLabel,
} from '../labels.ts';
import { memberName, ordinals } from '../names.ts';
import { defaults, type Database } from './defaults.ts';
import { majorOf } from './images.ts';
import { maxWalSize, bytesOf, sharedBuffers } from './memory.ts';
import { paths } from './paths.ts';
import { memoryLimit } from './resources.ts';
import { scripts } from './scripts.ts';

/** Names of the roles that the system uses. */
export const systemRoles = {
  superuser: 'postgres',
  replication: 'plumbline_replication',
  rewind: 'plumbline_rewind',
} as const;

/** The two ConfigMaps of Patroni: what it starts with, and its dynamic configuration. */
export function patroniConfiguration(scope: Construct, database: Database): void {
  const { name, namespace, names } = database;
  emit<V1ConfigMap>(scope, 'patroni', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: names.patroni,
      namespace,
      labels: { ...informativeLabels(name, 'database'), [databaseLabel]: name },
    },
    data: { ...scripts, 'member.json': `${JSON.stringify(memberConfiguration(database), null, 2)}\n` },
  });
  emit<V1ConfigMap>(scope, 'patroni-config', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: names.patroniConfig,
      namespace,
      labels: { ...informativeLabels(name, 'database'), ...patroniLabels(name), [databaseLabel]: name },
      annotations: { config: asPatroniWritesIt(dynamicConfiguration(database)) },
    },
  });
}

/** What the scripts of a member read: the facts of the database, and Patroni's local configuration without addresses and passwords. */
function memberConfiguration(database: Database): object {
  return {
    database: database.database,
    username: database.username,
    major: majorOf(database.version),
    members: ordinals.map((ordinal) => memberName(database.name, ordinal)),
    patroni: localConfiguration(database),
  };
}

/**
 * Patroni's local configuration. The start gate adds the addresses, the password of the REST API and, where this member may initialise,
 * `bootstrap`.
 * Source: https://patroni.readthedocs.io/en/latest/yaml_configuration.html
 */
function localConfiguration(database: Database): object {
  return {
    scope: database.names.patroni,
    kubernetes: {
      labels: {},
      scope_label: patroniLabel,
      role_label: roleLabel,
      leader_label_value: primaryRole,
      follower_label_value: replicaRole,
      standby_leader_label_value: primaryRole,
      use_endpoints: false,
    },
    log: { level: 'INFO', deduplicate_heartbeat_logs: true },
    postgresql: {
      // Both families; `*` of PostgreSQL and of Patroni alike.
      listen: `*:${defaults.port}`,
      data_dir: paths.data,
      // Written by the start gate: Patroni writes it for passwords of its own configuration only.
      pgpass: `${paths.run}/pgpass`,
      authentication: {
        superuser: { username: systemRoles.superuser },
        replication: { username: systemRoles.replication },
        rewind: { username: systemRoles.rewind },
      },
      use_unix_socket: true,
      use_unix_socket_repl: false,
      bin_name: { initdb: `${paths.scripts}/initdb.sh` },
      create_replica_methods: ['clone'],
      clone: { command: `bash ${paths.scripts}/clone.sh` },
      pg_hba: hostBasedAccess,
      pg_ident: [`local /^.*$ ${systemRoles.superuser}`],
      parameters: ownedParameters,
    },
    restapi: { listen: `*:${defaults.restPort}` },
    watchdog: { mode: 'off' },
  };
}

/**
 * Who may log in, from where and how. `all` stands for every address of both families. The local superuser is whoever runs the containers of the
 * pod, told by the kernel: so the steward can set every password, also when the Secret was lost and made again.
 */
const hostBasedAccess: readonly string[] = [
  `local all ${systemRoles.superuser} peer map=local`,
  'local all all scram-sha-256',
  `host replication ${systemRoles.replication} all scram-sha-256`,
  'host replication all all reject',
  'host all all all scram-sha-256',
];

/** Settings that no spec can change: see `ownedParameters` of the API. */
const ownedParameters: Readonly<Record<string, string>> = {
  log_destination: 'stderr',
  logging_collector: 'off',
  password_encryption: 'scram-sha-256',
  unix_socket_directories: paths.socket,
  unix_socket_permissions: '0700',
};

/**
 * Patroni's dynamic configuration: the settings of the spec and how failover works.
 * `loop_wait + 2 * retry_timeout <= ttl`, and 20 is the least ttl that Patroni takes.
 * Source: https://patroni.readthedocs.io/en/latest/dynamic_configuration.html
 */
function dynamicConfiguration(database: Database): object {
  const parameters: Readonly<Record<string, string>> = {
    shared_buffers: sharedBuffers(memoryLimit(database.resources)),
    max_wal_size: maxWalSize(bytesOf(database.storage.size)),
    // Ten members, each with its stream and the two of a clone; a change would need a restart in a certain order, so it is fixed.
    max_wal_senders: '32',
    max_replication_slots: '32',
    // A replica that lost its primary looks for the next one each second, not each five.
    wal_retrieve_retry_interval: '1s',
    ...database.parameters,
  };
  return {
    failsafe_mode: true,
    // A logical slot is somebody's: Patroni would drop it as unknown (patroni#3237).
    ignore_slots: [{ type: 'logical' }],
    loop_wait: 5,
    maximum_lag_on_failover: 1048576,
    // How long the slot of a member whose pod is gone keeps WAL: a pod that is only replaced is back in seconds.
    member_slots_ttl: 120,
    postgresql: {
      parameters: Object.fromEntries(Object.entries(parameters).sort(([a], [b]) => (a < b ? -1 : 1))),
      // What pg_rewind left behind when it failed is no copy of anything.
      remove_data_directory_on_rewind_failure: true,
      use_pg_rewind: true,
      use_slots: true,
    },
    primary_start_timeout: 60,
    retry_timeout: 5,
    synchronous_mode: database.durability !== 'Async',
    synchronous_mode_strict: database.durability === 'SyncStrict',
    ttl: 20,
  };
}

/**
 * JSON as Python's `json.dumps(…, separators=(',', ':'))` writes it. Patroni writes the annotation back after the first bootstrap, and only where
 * the bytes are the same does it stay ours.
 */
function asPatroniWritesIt(configuration: object): string {
  return JSON.stringify(configuration).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
