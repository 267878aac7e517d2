import type { DatabaseServiceSpec, StoredSpec } from './spec.ts';
import type { DatabaseServiceStatus } from './status.ts';

export const group = 'plumbline.dev';
export const version = 'v1alpha1';
export const apiVersion = `${group}/${version}`;
export const kind = 'DatabaseService';
export const plural = 'databaseservices';

/** Names become label values, Service names and `<name>-N` pods with an 11-character revision label: so 45 at most. */
export const maxNameLength = 45;

/** A DatabaseService as a user writes it. */
export interface DatabaseServiceDocument {
  readonly apiVersion: typeof apiVersion;
  readonly kind: typeof kind;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: DatabaseServiceSpec;
}

/** A DatabaseService as the API server serves it. */
export interface StoredDatabaseService extends DatabaseServiceDocument {
  readonly metadata: DatabaseServiceDocument['metadata'] & {
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation: number;
    readonly creationTimestamp?: string;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
  };
  readonly spec: StoredSpec;
  readonly status?: DatabaseServiceStatus;
}
