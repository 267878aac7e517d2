import { isRecord } from './kube-error.ts';
import type { KubeObject, ResourceType } from './resource.ts';

/** An answer that is not what the API promises. Its content is not repeated: it may be a Secret. */
export class MalformedAnswerError extends Error {
  override readonly name = 'MalformedAnswerError';
}

/** Parsed JSON, or the text itself if it is none. */
export function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * Checks that a value is an object of the API and puts its type's name on it where the API left it out (items of a
 * list) or told the form of transfer instead (PartialObjectMetadata).
 * @throws MalformedAnswerError
 */
export function toObject<T extends KubeObject>(type: ResourceType<T>, value: unknown): T {
  if (!isRecord(value) || !isRecord(value['metadata']) || typeof value['metadata']['name'] !== 'string') {
    throw new MalformedAnswerError(`the answer is not a ${type.kind}`);
  }
  if (value['kind'] === undefined || value['kind'] === 'PartialObjectMetadata') {
    value['apiVersion'] = type.apiVersion;
    value['kind'] = type.kind;
  }
  return value as unknown as T;
}

/** @throws MalformedAnswerError */
export function toPage<T extends KubeObject>(
  type: ResourceType<T>,
  value: unknown,
): { readonly items: readonly T[]; readonly resourceVersion: string; readonly next: string | undefined } {
  // An empty list of a Go slice that was never made is null.
  const items = isRecord(value) ? (value['items'] ?? []) : undefined;
  const metadata = isRecord(value) ? value['metadata'] : undefined;
  if (!Array.isArray(items) || !isRecord(metadata) || typeof metadata['resourceVersion'] !== 'string') {
    throw new MalformedAnswerError(`the answer is not a list of ${type.plural}`);
  }
  const next = metadata['continue'];
  return {
    items: items.map((item) => toObject(type, item)),
    resourceVersion: metadata['resourceVersion'],
    next: typeof next === 'string' && next !== '' ? next : undefined,
  };
}
