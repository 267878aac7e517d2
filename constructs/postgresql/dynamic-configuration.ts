import { hash } from 'node:crypto';
import type { Database } from './defaults.ts';
import { majorOf } from './images.ts';
import { bytesOf, maxWalSize, sharedBuffers, walKeepSize } from './memory.ts';
import { memoryLimit } from './resources.ts';

/**
 * Patroni's dynamic configuration: the settings of the spec and how failover works.
 * `loop_wait + 2 * retry_timeout <= ttl`, and 20 is the least ttl that Patroni takes.
 * Source: https://patroni.readthedocs.io/en/latest/dynamic_configuration.html
 */
export function dynamicConfiguration(database: Database): object {
  const volume = bytesOf(database.storage.size);
  const parameters: Readonly<Record<string, string>> = {
    shared_buffers: sharedBuffers(memoryLimit(database.resources)),
    max_wal_size: maxWalSize(volume),
    wal_keep_size: walKeepSize(volume),
    // Ten members, each with its stream and the two of a clone; a change would need a restart in a certain order, so it is fixed.
    max_wal_senders: '32',
    max_replication_slots: '32',
    // A replica that lost its primary looks for the next one each second, not each five.
    wal_retrieve_retry_interval: '1s',
    ...slotSettings(database),
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
    // Any replica may acknowledge: with one that is named, its restart would hold up every commit until Patroni names another.
    synchronous_mode: database.durability === 'Async' ? false : 'quorum',
    synchronous_mode_strict: database.durability === 'SyncStrict',
    ttl: 20,
  };
}

/**
 * Where there can be logical slots, replicas keep those with `failover` in step, and go on with them when one becomes the primary. Only there: the
 * feedback of replicas keeps rows on the primary that their long queries still read.
 * Source: https://www.postgresql.org/docs/17/logicaldecoding-explanation.html#LOGICALDECODING-REPLICATION-SLOTS-SYNCHRONIZATION
 */
function slotSettings({ version, parameters }: Database): Readonly<Record<string, string>> {
  const isPossible = majorOf(version) >= 17 && parameters['wal_level']?.toLowerCase() === 'logical';
  return isPossible ? { hot_standby_feedback: 'on', sync_replication_slots: 'on' } : {};
}

/**
 * JSON as Python's `json.dumps(…, separators=(',', ':'))` writes it. Patroni writes the annotation back after the first bootstrap, and only where
 * the bytes are the same does it stay ours.
 */
export function asPatroniWritesIt(configuration: object): string {
  return JSON.stringify(configuration).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** What a member names the configuration by that it has read: see `settings.py`. */
export function configurationDigest(database: Database): string {
  return hash('sha256', asPatroniWritesIt(dynamicConfiguration(database)), 'hex').slice(0, 16);
}
