import { loadAll, YAML11_SCHEMA } from 'js-yaml';
import { GitDeliveryError } from './git-delivery-error.ts';

/**
 * The last look at a file before it goes into Git: no Secret with values passes, in whatever document, list or merge it
 * hides, and nothing that holds a password, plain, in base64 or as in a URI. Returns what is in the file, for people: `StatefulSet orders`, or the path where it is no manifest.
 * @param passwords that are known
 * @throws GitDeliveryError SecretRefused, ManifestUnreadable
 */
export function inspectFile(path: string, content: string, passwords: readonly string[] = []): string {
  const documents = read(path, content);
  const spellings = passwords.flatMap((one) => [one, encodeURIComponent(one), Buffer.from(one).toString('base64')]);
  if (spellings.length > 0 && holdsOne([content, ...documents], spellings, new Set())) {
    throw new GitDeliveryError(
      'SecretRefused',
      `${path} holds a password of the database, and what is in Git can be read by many and never be taken back. ` +
        'Take it out of the spec and change it: it can be read there too.',
    );
  }
  if (holdsSecret(documents, new Set())) {
    throw new GitDeliveryError(
      'SecretRefused',
      `${path} holds a Secret with its values, and what is in Git can be read by many and never be taken back. ` +
        'Let the credentials come from the cluster or from an external store.',
    );
  }
  return describe(documents[0]) ?? path;
}

/** YAML 1.1 with merge keys, which is how kubectl and Argo CD read it (sigs.k8s.io/yaml). */
function read(path: string, content: string): readonly unknown[] {
  try {
    return loadAll(content, { schema: YAML11_SCHEMA });
  } catch {
    if (!/\.(ya?ml|json)$/i.test(path)) return [];
    // Without the cause: it quotes the file.
    const why =
      'so nobody can say whether it holds a Secret. It was not written. This is a mistake in what rendered it.';
    throw new GitDeliveryError('ManifestUnreadable', `${path} can't be read as YAML, ${why}`);
  }
}

function holdsSecret(value: unknown, seen: Set<object>): boolean {
  if (typeof value !== 'object' || value === null || seen.has(value)) return false;
  seen.add(value);
  const isSecret = 'kind' in value && value.kind === 'Secret';
  if (isSecret && ['data', 'stringData'].some((field) => isFilled(Reflect.get(value, field)))) return true;
  return Object.values(value).some((child) => holdsSecret(child, seen));
}

function holdsOne(value: unknown, texts: readonly string[], seen: Set<object>): boolean {
  if (typeof value === 'string') return texts.some((text) => value.includes(text));
  if (typeof value !== 'object' || value === null || seen.has(value)) return false;
  seen.add(value);
  return Object.entries(value).some(([key, child]) => holdsOne(key, texts, seen) || holdsOne(child, texts, seen));
}

function isFilled(value: unknown): boolean {
  if (value === undefined || value === null) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

function describe(manifest: unknown): string | undefined {
  if (typeof manifest !== 'object' || manifest === null || !('kind' in manifest) || !('metadata' in manifest))
    return undefined;
  const { kind, metadata } = manifest;
  if (typeof kind !== 'string' || typeof metadata !== 'object' || metadata === null || !('name' in metadata))
    return undefined;
  return typeof metadata.name === 'string' ? `${kind} ${metadata.name}` : undefined;
}
