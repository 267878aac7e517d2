import { isDeepStrictEqual } from 'node:util';
import type { StoredGitDestination } from '../../../constructs/api/git-destination/resource.ts';
import type { GitDestinationStatus } from '../../../constructs/api/git-destination/status.ts';
import { timestamp } from '../../kube/index.ts';
import { GitDeliveryError } from '../git/git-delivery-error.ts';
import { longestMessage } from '../../database/longest-message.ts';

/** What became of a place last. */
export interface PlaceNews {
  /** Undefined where it took what it was given, or gave what it was asked for. */
  readonly failure: unknown;
  /** The last commit of this process, and when it was pushed, in milliseconds of the wall clock. */
  readonly commit: string | undefined;
  readonly pushedAt: number | undefined;
  /** Databases that wait. */
  readonly pending: number;
  /** Databases whose change is not merged yet. */
  readonly inReview: number;
}

/** The status that holds now; it equals the one before when nothing has changed. Pure. */
export function nextDestinationStatus(
  { metadata, spec, status: before }: StoredGitDestination,
  news: PlaceNews,
  now: number,
): GitDestinationStatus {
  const { failure, commit, pushedAt, pending, inReview } = news;
  const { generation } = metadata;
  const isReady = failure === undefined;
  const last = before?.conditions?.find(({ type }) => type === 'Ready');
  const status = isReady ? 'True' : 'False';
  const condition = {
    type: 'Ready',
    status,
    reason: isReady ? 'Reached' : reasonOf(failure),
    message: isReady ? 'The repository has what is to be in it.' : messageOf(failure),
    lastTransitionTime: last?.status === status ? last.lastTransitionTime : timestamp(now),
    observedGeneration: generation,
  } as const;
  const pushed = commit !== undefined && pushedAt !== undefined ? { commit, at: timestamp(pushedAt) } : undefined;
  return {
    observedGeneration: generation,
    conditions: [condition],
    ...definedOnly({
      lastCommit: pushed?.commit ?? before?.lastCommit,
      lastPushTime: pushed?.at ?? before?.lastPushTime,
    }),
    pending: isReady ? 0 : pending,
    ...(spec.pullRequest && { inReview }),
  };
}

/** Whether a stored status says this. */
export function isDestinationStatus(next: GitDestinationStatus, stored: GitDestinationStatus | undefined): boolean {
  return isDeepStrictEqual(next, stored);
}

function reasonOf(failure: unknown): string {
  return failure instanceof GitDeliveryError ? failure.reason : 'Failed';
}

function messageOf(failure: unknown): string {
  return (failure instanceof Error ? failure.message : String(failure)).slice(0, longestMessage);
}

function definedOnly<T extends object>(values: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}
