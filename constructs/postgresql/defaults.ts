import type { DatabaseServiceDocument, StoredDatabaseService } from '../api/resource.ts';
import type { StoredSpec } from '../api/spec.ts';
import { restartedAtAnnotation } from '../labels.ts';
import { namesOf, type Names } from '../names.ts';
import { exporterImage, imageOf } from './images.ts';
import { settleResources, type SettledResources } from './resources.ts';

/**
 * A DatabaseService with every default filled in: what the parts render from. The defaults stand here and not in the CRD, so that a GitOps tool
 * sees no difference between what was written and what is stored.
 */
export interface Database {
  readonly name: string;
  readonly namespace: string;
  readonly names: Names;
  readonly version: string;
  readonly image: string;
  readonly replicas: number;
  readonly storage: StoredSpec['storage'];
  readonly database: string;
  readonly username: string;
  /** Secret that holds the password of the owner. */
  readonly credentialsSecret: string;
  /** Secret with the certificate of the members; undefined where TLS is off. */
  readonly tlsSecret: string | undefined;
  readonly parameters: Readonly<Record<string, string>>;
  readonly durability: NonNullable<StoredSpec['durability']>;
  readonly resources: SettledResources;
  readonly scheduling: NonNullable<StoredSpec['scheduling']> & { readonly spreadBy: string };
  readonly access: NonNullable<StoredSpec['access']>['from'];
  readonly monitoring: Monitoring | undefined;
  readonly backup: Backup | undefined;
  readonly rollout: 'Managed' | 'StatefulSet';
  /** By what it was last asked to make the members again; undefined where nobody did. */
  readonly restartedAt: string | undefined;
}

/** Who may scrape, and the image of the exporter. */
export interface Monitoring {
  readonly from: NonNullable<StoredSpec['access']>['from'];
  readonly image: string;
}

/** Backups with their defaults. */
export interface Backup {
  readonly schedule: string;
  readonly timeZone: string;
  readonly keep: number;
  readonly volume: NonNullable<StoredSpec['backup']>['volume'];
  readonly suspend: boolean;
}

/** Everything about the pods that is a choice of ours and no field of the spec. */
export const defaults = {
  replicas: 1,
  owner: 'app',
  retention: 7,
  timeZone: 'Etc/UTC',
  /** How late a backup may begin. */
  backupStartSeconds: 3600,
  /** How long one may take. */
  backupRunSeconds: 6 * 3600,
  hostname: 'kubernetes.io/hostname',
  /** User, group and volume group of every container: the image contract. */
  uid: 26,
  port: 5432,
  restPort: 8008,
  exporterPort: 9187,
} as const;

/** Fills in the defaults. The resource must be valid. */
export function settle(resource: DatabaseServiceDocument | StoredDatabaseService): Database {
  const { spec, metadata } = resource;
  const names = namesOf(metadata.name);
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? 'default',
    names,
    version: spec.version,
    image: spec.image ?? imageOf(spec.version),
    replicas: spec.replicas ?? defaults.replicas,
    storage: spec.storage,
    database: spec.database ?? defaults.owner,
    username: spec.username ?? defaults.owner,
    credentialsSecret: spec.credentials?.secretName ?? names.credentials,
    tlsSecret: spec.tls?.mode === 'Off' ? undefined : (spec.tls?.secretName ?? names.tls),
    parameters: spec.parameters ?? {},
    durability: spec.durability ?? 'Async',
    resources: settleResources(spec.resources),
    scheduling: { ...spec.scheduling, spreadBy: spec.scheduling?.spreadBy ?? defaults.hostname },
    access: spec.access?.from ?? sameNamespace,
    monitoring: settleMonitoring(spec.monitoring),
    backup: spec.backup && settleBackup(spec.backup),
    rollout: spec.upgrade?.rollout ?? 'Managed',
    restartedAt: metadata.annotations?.[restartedAtAnnotation],
  };
}

const sameNamespace = [{ podSelector: {} }];

function settleMonitoring(monitoring: StoredSpec['monitoring']): Monitoring | undefined {
  if (monitoring?.enabled !== true) return undefined;
  return { from: monitoring.from ?? sameNamespace, image: monitoring.image ?? exporterImage };
}

function settleBackup(backup: NonNullable<StoredSpec['backup']>): Backup {
  return {
    schedule: backup.schedule,
    timeZone: backup.timeZone ?? defaults.timeZone,
    keep: backup.retention?.keep ?? defaults.retention,
    volume: backup.volume,
    suspend: backup.suspend ?? false,
  };
}
