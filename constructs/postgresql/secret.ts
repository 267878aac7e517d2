import { databaseLabel, managedBy } from '../labels.ts';
import type { Manifest } from '../manifest.ts';
import type { Database } from './defaults.ts';

/** What a Secret of a database has beside its name and values. */
export interface SecretOptions {
  /** Defaults to Opaque. */
  readonly type?: 'Opaque' | 'kubernetes.io/tls';
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A Secret of a database. `data`, never `stringData`: that one is write-only, so nobody could tell whose a value is. */
export function secret(
  database: Pick<Database, 'name' | 'namespace'>,
  name: string,
  values: Readonly<Record<string, string>>,
  { type = 'Opaque', annotations }: SecretOptions = {},
): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      namespace: database.namespace,
      labels: { ...managedBy, [databaseLabel]: database.name },
      ...(annotations === undefined ? {} : { annotations }),
    },
    type,
    data: Object.fromEntries(
      Object.entries(values).map(([key, value]) => [key, Buffer.from(value, 'utf8').toString('base64')]),
    ),
  };
}
