import { patroniLabel, primaryRole, replicaRole, roleLabel } from '../labels.ts';
import { memberNames } from '../names.ts';
import { defaults, type Database } from './defaults.ts';
import { majorOf } from './images.ts';
import { paths } from './paths.ts';
import { systemRoles } from './system-roles.ts';

/** What the scripts of a member read: the facts of the database, and Patroni's local configuration without addresses and passwords. */
export function memberConfiguration(database: Database): object {
  return {
    database: database.database,
    username: database.username,
    major: majorOf(database.version),
    members: memberNames(database.name),
    tls: tlsConfiguration(database),
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
      pg_hba: hostBasedAccess('host'),
      pg_ident: [`local /^.*$ ${systemRoles.superuser}`],
      parameters: ownedParameters,
    },
    restapi: { listen: `*:${defaults.restPort}` },
    watchdog: { mode: 'off' },
  };
}

/**
 * What is different in Patroni's local configuration where the certificate is mounted. Apart from it, for this file reaches a member that runs
 * before its pod has the volume: the member then goes on as it is until its pod is made anew.
 */
function tlsConfiguration({ tlsSecret }: Database): object | null {
  if (tlsSecret === undefined) return null;
  return {
    secret: tlsSecret,
    pg_hba: hostBasedAccess('hostssl'),
    parameters: { ssl: 'on', ssl_cert_file: `${paths.served}/tls.crt`, ssl_key_file: `${paths.served}/tls.key` },
  };
}

/**
 * Who may log in, from where and how. `all` stands for every address of both families. The local superuser is whoever runs the containers of the
 * pod, told by the kernel: so the steward can set every password, also when the Secret was lost and made again.
 *
 * @param network `hostssl`: by the network encrypted connections only, also between members; libpq's default, sslmode=prefer, makes such
 */
function hostBasedAccess(network: 'host' | 'hostssl'): readonly string[] {
  return [
    `local all ${systemRoles.superuser} peer map=local`,
    'local all all scram-sha-256',
    `${network} replication ${systemRoles.replication} all scram-sha-256`,
    'host replication all all reject',
    `${network} all all all scram-sha-256`,
  ];
}

/** Settings that no spec can change: see `ownedParameters` of the API. */
const ownedParameters: Readonly<Record<string, string>> = {
  log_destination: 'stderr',
  logging_collector: 'off',
  password_encryption: 'scram-sha-256',
  unix_socket_directories: paths.socket,
  unix_socket_permissions: '0700',
};
