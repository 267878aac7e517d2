import { namesOf } from '../../constructs/names.ts';
import { secrets } from '../../controller/database/kinds.ts';
import { execInPod, type KubectlResult } from '../cluster/index.ts';
import type { NodeDatabase } from './node-database.ts';

export interface Login {
  /** A Service, or the address of a member. */
  readonly host: string;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/** Runs a statement as a client that logs in over the network would, from a member. */
export function psql({ cluster, namespace, members }: NodeDatabase, login: Login, sql: string): Promise<KubectlResult> {
  const { host, user, password, database } = login;
  const script = 'read -r PGPASSWORD && export PGPASSWORD && exec psql -X -v ON_ERROR_STOP=1 -At "$@"';
  const options = ['-h', host, '-U', user, '-d', database, '-c', sql];
  const command = ['bash', '-c', script, 'psql', ...options];
  const [pod = ''] = members;
  return execInPod(cluster.kubeconfig, { namespace, pod, container: 'postgres' }, command, `${password}\n`);
}

/** Reads one of the Secrets that belong to a database, decoded. */
export async function secretOf(
  { kube, namespace, name }: NodeDatabase,
  which: 'credentials' | 'system',
): Promise<Readonly<Record<string, string>>> {
  const { data } = await kube.get(secrets, { namespace, name: namesOf(name)[which] });
  const entries = Object.entries((data ?? {}) as Record<string, string>);
  return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
}
