import { classify } from './errors.ts';
import { KubeError } from './kube-error.ts';

/** How a list or a watch came to its end. */
export type Outcome =
  /** In good order: the server's time limit. */
  | { readonly kind: 'ended'; readonly livedMs: number }
  /** Nothing came, not even a bookmark. */
  | { readonly kind: 'silent' }
  /** A version lower than one already seen. */
  | { readonly kind: 'version-backwards' }
  | { readonly kind: 'list-failed'; readonly error: unknown; readonly reason: RelistReason }
  | { readonly kind: 'watch-failed'; readonly error: unknown };

/** Why everything is listed. */
export type RelistReason = 'start' | 'expired' | 'silent' | 'version-backwards' | 'outage';

/** What a reflector does next. */
export interface Step {
  /** The reason to list anew; undefined: watch on from the last version. */
  readonly relist: RelistReason | undefined;
  readonly backOff: boolean;
  /** What the server asked for. */
  readonly retryAfterSeconds?: number | undefined;
}

/** A watch that the server ends sooner is refused in effect (client-go, "very short watch"). */
const SHORT_MS = 1_000;

/**
 * Pure. A watch that breaks is opened again from the last version: the server replays what was missed. It is not
 * trusted to do so in three cases, and everything is listed:
 * - it says that the version is too old;
 * - it stayed silent, although it sends a bookmark each minute: a server whose etcd was restored from a backup takes a
 *   version of the lost future and says nothing until its counter has caught up
 *   (https://github.com/kubernetes/kubernetes/issues/107457);
 * - it could not be reached for a while, in which etcd may have been restored.
 */
export function nextStep(outcome: Outcome): Step {
  switch (outcome.kind) {
    case 'ended':
      return { relist: undefined, backOff: outcome.livedMs < SHORT_MS };
    case 'silent':
      return { relist: 'silent', backOff: false };
    case 'version-backwards':
      return { relist: 'version-backwards', backOff: true };
    case 'list-failed':
      return { relist: outcome.reason, backOff: true, retryAfterSeconds: retryAfter(outcome.error) };
    case 'watch-failed':
      return afterFailedWatch(outcome.error);
  }
}

function afterFailedWatch(error: unknown): Step {
  const { kind } = classify(error);
  if (kind === 'expired') return { relist: 'expired', backOff: true };
  const canResume = kind === 'throttled' || kind === 'watch-broken';
  return { relist: canResume ? undefined : 'outage', backOff: true, retryAfterSeconds: retryAfter(error) };
}

/** No server may put us to sleep for longer. */
const MAX_RETRY_AFTER_SECONDS = 60;

function retryAfter(error: unknown): number | undefined {
  const seconds = error instanceof KubeError ? error.retryAfterSeconds : undefined;
  return seconds === undefined ? undefined : Math.min(seconds, MAX_RETRY_AFTER_SECONDS);
}
