import { MalformedAnswerError, toObject } from './answer.ts';
import { errorFromResponse, isRecord, type KubeError, type Tried } from './kube-error.ts';
import type { WatchEvent } from './kube.ts';
import type { KubeObject, ResourceType } from './resource.ts';

/**
 * Reads one document of a watch.
 * @returns the event, or for an ERROR event the error that it carries.
 * @throws MalformedAnswerError
 */
export function readWatchEvent<T extends KubeObject>(
  type: ResourceType<T>,
  tried: Tried,
  document: unknown,
): WatchEvent<T> | KubeError {
  const kind = isRecord(document) ? document['type'] : undefined;
  const object = isRecord(document) ? document['object'] : undefined;
  if (!isRecord(object)) throw new MalformedAnswerError('a watch event has no object');
  switch (kind) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type: kind, object: toObject(type, object) };
    case 'BOOKMARK':
      return { type: kind, resourceVersion: bookmarkVersion(object) };
    case 'ERROR':
      return errorFromResponse(
        tried,
        typeof object['code'] === 'number' ? object['code'] : 500,
        object,
        undefined,
        Date.now(),
      );
    default:
      throw new MalformedAnswerError('a watch event is of no known type');
  }
}

function bookmarkVersion(object: Record<string, unknown>): string {
  const version = isRecord(object['metadata']) ? object['metadata']['resourceVersion'] : undefined;
  if (typeof version !== 'string') throw new MalformedAnswerError('a bookmark has no resourceVersion');
  return version;
}
