import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { namesOf } from '../../constructs/names.ts';
import { credentialsName } from '../database/credentials.ts';
import { secrets } from '../database/kinds.ts';
import { isObjectMissing, type Kube } from '../kube/index.ts';

/** Shorter ones occur by chance: `postgres` is in every manifest. Those that are made here are longer. */
const shortest = 16;

/**
 * The passwords of a database that its files could hold: what is rendered is a function of the spec, so that a spec without a text as long as a
 * password holds none, and costs no request. Otherwise its two Secrets are read, and nothing of them is kept.
 *
 * @throws KubeError
 */
export async function knownPasswords(
  kube: Kube,
  resource: StoredDatabaseService,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (!hasLongText(resource.spec)) return [];
  const { name, namespace } = resource.metadata;
  const found: string[] = [];
  for (const secret of [credentialsName(resource), namesOf(name).system]) {
    const data = await dataOf(kube, { name: secret, namespace }, signal);
    const values = Object.entries(data).filter(([key]) => !harmless.has(key));
    found.push(...values.map(([, value]) => Buffer.from(value, 'base64').toString()));
  }
  return [...new Set(found)].filter((value) => value.length >= shortest);
}

/** What a Secret with credentials has beside passwords. */
const harmless: ReadonlySet<string> = new Set(['username', 'dbname', 'host', 'port']);

function hasLongText(value: unknown): boolean {
  if (typeof value === 'string') return value.length >= shortest;
  return typeof value === 'object' && value !== null && Object.entries(value).flat().some(hasLongText);
}

async function dataOf(
  kube: Kube,
  ref: { readonly name: string; readonly namespace: string },
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  try {
    const { data } = await kube.get(secrets, ref, { signal });
    return (data ?? {}) as Readonly<Record<string, string>>;
  } catch (error) {
    if (!isObjectMissing(error)) throw error;
    return {};
  }
}
