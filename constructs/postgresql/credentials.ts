import type { Manifest } from '../manifest.ts';
import { databaseLabel, managedBy } from '../labels.ts';
import { defaults, settle, type Database } from './defaults.ts';
import type { DatabaseServiceDocument } from '../api/resource.ts';

/** Passwords of the system, as they stand in `<name>-system`. */
export interface SystemPasswords {
  readonly superuser: string;
  readonly replication: string;
  readonly rewind: string;
  readonly restapi: string;
}

/** The keys of `<name>-system`. */
export const systemKeys = [
  'superuser',
  'replication',
  'rewind',
  'restapi',
] as const satisfies readonly (keyof SystemPasswords)[];

/**
 * The Secret that applications mount: username, password, dbname, host, port and uri. Never part of `render()`: a delivery that may hold
 * passwords hands them in.
 */
export function credentialsSecret(resource: DatabaseServiceDocument, password: string): Manifest {
  const database = settle(resource);
  const host = `${database.names.database}.${database.namespace}.svc`;
  const port = String(defaults.port);
  const { username } = database;
  return secret(database, database.names.credentials, {
    username,
    password,
    dbname: database.database,
    host,
    port,
    uri: connectionUri({ username, password, host, port, dbname: database.database }),
  });
}

/** The Secret `<name>-system`. */
export function systemSecret(resource: DatabaseServiceDocument, passwords: SystemPasswords): Manifest {
  const database = settle(resource);
  return secret(database, database.names.system, Object.fromEntries(systemKeys.map((key) => [key, passwords[key]])));
}

/** A URI in which every character of name and password is safe: what is not unreserved in RFC 3986 is percent-encoded. */
export function connectionUri(
  parts: Readonly<Record<'username' | 'password' | 'host' | 'port' | 'dbname', string>>,
): string {
  const { username, password, host, port, dbname } = parts;
  return `postgresql://${encode(username)}:${encode(password)}@${host}:${port}/${encode(dbname)}`;
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** `data`, never `stringData`: that one is write-only, so nobody could tell whose a value is. */
function secret(database: Database, name: string, values: Readonly<Record<string, string>>): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: database.namespace, labels: { ...managedBy, [databaseLabel]: database.name } },
    type: 'Opaque',
    data: Object.fromEntries(
      Object.entries(values).map(([key, value]) => [key, Buffer.from(value, 'utf8').toString('base64')]),
    ),
  };
}
