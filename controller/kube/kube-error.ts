/** What a request was about, for messages and logs. */
export interface Tried {
  readonly verb: string;
  /** Kind and, if there is one, subresource: `StatefulSet`, `DatabaseService/status`. */
  readonly kind: string;
  /** `namespace/name`, a namespace, or empty for all. */
  readonly object: string;
}

/** One entry of a Status's `details.causes`. */
export interface StatusCause {
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  /** Path of the field, such as `.spec.replicas`. */
  readonly field?: string | undefined;
}

/** What a Status's `details` name. */
export interface StatusDetails {
  readonly name?: string | undefined;
  readonly group?: string | undefined;
  /** For most reasons the plural resource, not the kind. */
  readonly kind?: string | undefined;
  readonly uid?: string | undefined;
  readonly causes: readonly StatusCause[];
}

/** Reasons of our own, for answers that never came or could not be read; they have no status. */
export type ClientReason = 'ClientTimeout' | 'NetworkError' | 'WatchBroken' | 'MalformedResponse' | 'NotLeading';

export interface KubeErrorFacts {
  readonly tried: Tried;
  readonly message: string;
  readonly status?: number | undefined;
  readonly reason?: string | undefined;
  readonly details?: StatusDetails;
  readonly retryAfterSeconds?: number | undefined;
  readonly cause?: unknown;
}

/** A request that failed. `classify` says what to make of it. */
export class KubeError extends Error {
  override readonly name = 'KubeError';
  /** HTTP status, or the `code` of a watch's ERROR event; undefined if no answer came. */
  readonly status: number | undefined;
  /** The server's reason (`Conflict`, `Invalid`, …) or a {@link ClientReason}. A few answers carry none. */
  readonly reason: string | undefined;
  readonly details: StatusDetails;
  /** What the server asks for, from the header or the Status. */
  readonly retryAfterSeconds: number | undefined;
  readonly tried: Tried;
  /** The server's own words, without what was tried. */
  readonly serverMessage: string;

  constructor(facts: KubeErrorFacts) {
    const { tried, message, status, reason } = facts;
    const answer = status === undefined ? message : `${status} ${reason ?? 'without a reason'}: ${message}`;
    super(`${describeTried(tried)}: ${answer}`, { cause: facts.cause });
    this.status = status;
    this.reason = reason;
    this.details = facts.details ?? { causes: [] };
    this.retryAfterSeconds = facts.retryAfterSeconds;
    this.tried = tried;
    this.serverMessage = message;
  }
}

function describeTried(tried: Tried): string {
  return [tried.verb, tried.kind, tried.object].filter((word) => word !== '').join(' ');
}

/**
 * Reads an error answer: a `v1.Status` as JSON or, from proxies and old paths, plain text.
 * @param retryAfter the Retry-After header: seconds or an HTTP date.
 * @param nowEpochMs the time against which a date is taken.
 */
export function errorFromResponse(
  tried: Tried,
  status: number,
  body: unknown,
  retryAfter: string | undefined,
  nowEpochMs: number,
): KubeError {
  const answer = isRecord(body) ? body : {};
  const details = isRecord(answer['details']) ? answer['details'] : {};
  const text = typeof body === 'string' ? body.trim().slice(0, 300) : '';
  const causes = Array.isArray(details['causes']) ? details['causes'].filter(isRecord) : [];
  const hide = (message: string): string => withoutValues(message, secretKinds.has(tried.kind));
  return new KubeError({
    tried,
    status,
    reason: stringOf(answer['reason']),
    message: hide(stringOf(answer['message']) ?? text) || 'the server gave no message',
    details: {
      name: stringOf(details['name']),
      group: stringOf(details['group']),
      kind: stringOf(details['kind']),
      uid: stringOf(details['uid']),
      causes: causes.map((cause) => ({
        reason: stringOf(cause['reason']),
        message: hide(stringOf(cause['message']) ?? ''),
        field: stringOf(cause['field']),
      })),
    },
    retryAfterSeconds: parseRetryAfter(retryAfter, nowEpochMs) ?? positive(details['retryAfterSeconds']),
  });
}

/**
 * The API repeats refused values in its messages; for a merge patch with an unknown field that value is the whole
 * stored object, seen on 1.36 for a ConfigMap. So long values are left out, and those of a Secret or of a question about a token always.
 */
function withoutValues(message: string, isSecret: boolean): string {
  return message.replace(REFUSED_VALUE, (match, what: string, value: string) =>
    isSecret || value.length > LONGEST_VALUE ? `${what} value: (hidden)` : match,
  );
}

const secretKinds: ReadonlySet<string> = new Set(['Secret', 'TokenReview']);
const LONGEST_VALUE = 120;
const REFUSED_VALUE = /(Invalid|Unsupported|Duplicate) value: ("(?:[^"\\]|\\.)*"|.*?(?=: [a-z])|.*)/gs;

function parseRetryAfter(value: string | undefined, nowEpochMs: number): number | undefined {
  if (value === undefined || value === '') return undefined;
  if (/^\d+$/.test(value)) return Number(value);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - nowEpochMs) / 1000));
}

function positive(value: unknown): number | undefined {
  return typeof value === 'number' && value > 0 ? value : undefined;
}

function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
