import type { DatabaseServiceDocument } from '../api/resource.ts';
import type { Manifest } from '../manifest.ts';
import { defaults, settle } from './defaults.ts';
import { secret } from './secret.ts';

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
  const uri = connectionUri({ username, password, host, port, dbname: database.database });
  return secret(database, database.names.credentials, {
    username,
    password,
    dbname: database.database,
    host,
    port,
    // Said outright: a client that would do without, or go back to plain text when somebody interferes, encrypts too.
    uri: database.tlsSecret === undefined ? uri : `${uri}?sslmode=require`,
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
