import { ConnectionError } from './connection-error.ts';
import { KubeError } from './kube-error.ts';
import { FIELD_MANAGER_CONFLICT, rivalsOf, type Rival } from './rival.ts';

/**
 * What the runtime does about an error that nobody handled by its kind:
 * - `retry-now`: what was believed of the object is outdated; read again and decide again, not counted as a failure;
 * - `back-off`: try again later, each time later still;
 * - `wait-for`: something outside must change first; say what, and look again now and then;
 * - `terminal`: the same request can never succeed; say so and wait for a new spec.
 */
export type ErrorClass = 'retry-now' | 'back-off' | 'wait-for' | 'terminal';

export type RetryNow = {
  readonly class: 'retry-now';
  readonly kind:
    | 'version-conflict' // our resourceVersion precondition failed
    | 'object-gone' // our uid precondition: nothing of that name is left
    | 'object-replaced' // our uid precondition: another object has the name
    | 'not-leading' // nothing was asked: the lease has to be renewed first, or is lost
    | 'expired'; // resourceVersion or continue token too old: list again
};

export type BackOff = {
  readonly class: 'back-off';
  readonly kind:
    | 'already-exists'
    | 'co-ownership' // a list key or limit that another manager holds on to: take its fields over, then apply
    | 'unauthorized'
    | 'throttled'
    | 'unavailable' // 502, 503, 504
    | 'webhook-unavailable'
    | 'server-error' // any other 5xx
    | 'timeout' // no answer within our own limit; it may have been carried out
    | 'network' // no answer; it may have been carried out
    | 'watch-broken'
    | 'malformed-response'
    | 'unknown'; // not an error of the API
  /** What the server asks for. */
  readonly retryAfterSeconds?: number | undefined;
};

export type FieldConflict = {
  readonly class: 'back-off';
  readonly kind: 'field-conflict';
  /** Never empty. */
  readonly rivals: readonly Rival[];
};

export type WaitFor = {
  readonly class: 'wait-for';
  readonly kind:
    | 'object-missing'
    | 'namespace-missing'
    | 'kind-missing' // the API does not serve this resource
    | 'namespace-terminating'
    | 'quota-exceeded'
    | 'admission-denied' // by a webhook or policy
    | 'forbidden'
    | 'disruption-budget'; // an eviction that a PodDisruptionBudget does not allow now
};

export type Terminal = {
  readonly class: 'terminal';
  readonly kind:
    | 'immutable'
    | 'invalid'
    | 'strict-decoding' // unknown or duplicate field in anything but an apply
    | 'typed-patch' // unknown field or duplicate list key in an apply, which the server answers with 500
    | 'dry-run-refused' // a webhook without dry-run
    | 'bad-request'
    | 'too-large'
    | 'unsupported' // 405, 406, 415
    | 'aborted'; // by our own signal
};

export type Verdict = RetryNow | BackOff | FieldConflict | WaitFor | Terminal;

/**
 * The one place where errors are classed. Pure; takes whatever was thrown.
 * Where the API gives no machine-readable reason, its texts are matched; each was seen in a real 1.36 server or read in
 * its source (test/controller/kube/errors.test.ts has one row for each).
 */
export function classify(error: unknown): Verdict {
  if (error instanceof KubeError)
    return error.status === undefined ? withoutAnswer(error) : byStatus(error, error.status);
  if (error instanceof ConnectionError) return backOff('network');
  if (error instanceof Error && error.name === 'AbortError') return terminal('aborted');
  return backOff('unknown');
}

/** Whether the API says that the very object asked for does not exist. */
export function isObjectMissing(error: unknown): boolean {
  return classify(error).kind === 'object-missing';
}

function withoutAnswer(error: KubeError): Verdict {
  switch (error.reason) {
    case 'ClientTimeout':
      return backOff('timeout');
    case 'WatchBroken':
      return backOff('watch-broken');
    case 'MalformedResponse':
      return backOff('malformed-response');
    case 'NotLeading':
      return { class: 'retry-now', kind: 'not-leading' };
    case undefined:
    default:
      return backOff('network');
  }
}

function byStatus(error: KubeError, status: number): Verdict {
  // A webhook chooses its own status, and a policy's default is 422.
  if (DENIED.test(error.serverMessage)) return waitFor('admission-denied');
  switch (status) {
    case 400:
      return badRequest(error);
    case 401:
      return backOff('unauthorized', error);
    case 403:
      return refused(error);
    case 404:
      return notFound(error);
    case 405:
    case 406:
    case 415:
      return terminal('unsupported');
    case 409:
      return conflict(error);
    case 410:
      return { class: 'retry-now', kind: 'expired' };
    case 413:
      return terminal('too-large');
    case 422:
      return unprocessable(error);
    case 429:
      return hasCause(error, 'DisruptionBudget') ? waitFor('disruption-budget') : backOff('throttled', error);
    case 502:
    case 503:
    case 504:
      return backOff('unavailable', error);
    default:
      return otherwise(error, status);
  }
}

function badRequest(error: KubeError): Verdict {
  const text = error.serverMessage;
  if (text.includes('strict decoding error')) return terminal('strict-decoding');
  if (text.includes('does not support dry run')) return terminal('dry-run-refused');
  return terminal('bad-request');
}

function refused(error: KubeError): Verdict {
  const text = error.serverMessage;
  if (hasCause(error, 'NamespaceTerminating')) return waitFor('namespace-terminating');
  if (text.includes('exceeded quota:') || text.includes('failed quota:')) return waitFor('quota-exceeded');
  return waitFor('forbidden');
}

function notFound(error: KubeError): Verdict {
  const { kind, name } = error.details;
  if (kind === 'namespaces' && error.tried.kind !== 'Namespace') return waitFor('namespace-missing');
  return name === undefined ? waitFor('kind-missing') : waitFor('object-missing');
}

function conflict(error: KubeError): Verdict {
  const text = error.serverMessage;
  if (hasCause(error, FIELD_MANAGER_CONFLICT)) {
    return { class: 'back-off', kind: 'field-conflict', rivals: rivalsOf(error.details.causes) };
  }
  if (error.reason === 'AlreadyExists') return backOff('already-exists');
  if (/uid mismatch: .*no existing object/.test(text)) return { class: 'retry-now', kind: 'object-gone' };
  if (/UID in (the )?precondition/.test(text)) return { class: 'retry-now', kind: 'object-replaced' };
  return { class: 'retry-now', kind: 'version-conflict' };
}

function unprocessable(error: KubeError): Verdict {
  const text = error.serverMessage;
  if (error.details.causes.some((cause) => cause.field === 'metadata.uid')) {
    return { class: 'retry-now', kind: 'object-replaced' };
  }
  if (text.includes('strict decoding error')) return terminal('strict-decoding');
  if (IMMUTABLE.test(text)) return terminal('immutable');
  const isUpdate = error.tried.verb !== 'create';
  if (isUpdate && (CO_OWNERSHIP.test(text) || hasCause(error, 'FieldValueDuplicate'))) return backOff('co-ownership');
  return terminal('invalid');
}

function otherwise(error: KubeError, status: number): Verdict {
  const text = error.serverMessage;
  if (text.includes('failed to create typed patch object')) return terminal('typed-patch');
  if (text.includes('failed calling webhook')) return backOff('webhook-unavailable', error);
  return status >= 500 ? backOff('server-error', error) : terminal('bad-request');
}

const DENIED = /admission webhook "[^"]*" denied the request|ValidatingAdmissionPolicy '[^']*'.* denied request/;
const IMMUTABLE =
  /is immutable|updates to \w+ spec for fields other than .* are forbidden|may not change once set|cannot change roleRef/;
const CO_OWNERSHIP = /may not specify more than 1|must be less than or equal to \S+ (request|limit)/;

function hasCause(error: KubeError, reason: string): boolean {
  return error.details.causes.some((cause) => cause.reason === reason);
}

function backOff(kind: BackOff['kind'], error?: KubeError): BackOff {
  return { class: 'back-off', kind, retryAfterSeconds: error?.retryAfterSeconds };
}

function waitFor(kind: WaitFor['kind']): WaitFor {
  return { class: 'wait-for', kind };
}

function terminal(kind: Terminal['kind']): Terminal {
  return { class: 'terminal', kind };
}
