import { everyKey, type Rule } from './rule.ts';

/**
 * Settings that Plumbline or Patroni sets, or that would end durability, or that run code or read files of the pod.
 * Sources: https://patroni.readthedocs.io/en/latest/patroni_configuration.html#postgresql-parameters-controlled-by-patroni
 * and https://www.postgresql.org/docs/current/runtime-config.html
 */
export const ownedParameters: readonly string[] = [
  'allow_alter_system',
  'archive_library',
  'archive_mode',
  'cluster_name',
  'config_file',
  'data_directory',
  'data_sync_retry',
  'dynamic_library_path',
  'event_source',
  'extension_control_path',
  'fsync',
  'full_page_writes',
  'hot_standby',
  'ignore_checksum_failure',
  'jit_provider',
  'listen_addresses',
  'local_preload_libraries',
  'log_destination',
  'log_directory',
  'log_filename',
  'logging_collector',
  'oauth_validator_libraries',
  'password_encryption',
  'port',
  'primary_conninfo',
  'primary_slot_name',
  'recovery_init_sync_method',
  'restart_after_crash',
  'session_preload_libraries',
  'stats_temp_directory',
  'sync_replication_slots',
  'synchronized_standby_slots',
  'synchronous_standby_names',
  'syslog_facility',
  'syslog_ident',
  'unix_socket_directories',
  'unix_socket_group',
  'unix_socket_permissions',
  'wal_log_hints',
  'wal_sync_method',
  'zero_damaged_pages',
];

/** Families of such settings: commands, libraries that are loaded, files, everything of TLS and of recovery. */
export const ownedFamilies: readonly string[] = [
  '*_command',
  '*_file',
  '*keyfile',
  'ssl*',
  'recovery_*',
  'krb_*',
  'gss_*',
];

const name = '^[a-z_][a-z0-9_]*([.][a-z_][a-z0-9_]*)?$';
const families = ownedFamilies.map((family) => `^${family.replace('*', '.*')}$`).join('|');
const owned = ownedParameters.map((parameter) => `'${parameter}'`).join(', ');

export const parameterRules: readonly Rule[] = [
  everyKey(
    `k.matches('${name}') && size(k) <= 63`,
    'names of settings are lower case, such as work_mem or pg_stat_statements.max, not',
  ),
  everyKey(`!(k in [${owned}]) && !k.matches('${families}')`, 'must not be set: Plumbline sets it, or it can run code'),
];
