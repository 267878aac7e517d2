import { classify, KubeError, type Verdict } from '../kube/index.ts';
import type { Reason } from './reasons.ts';

/** Why what is stated could not be made true. */
export interface Blocker {
  readonly reason: Reason;
  /** A sentence: what, where, and what to do. */
  readonly message: string;
  /** Nothing changes until a person does something. */
  readonly isStalled: boolean;
  /** The error to hand to the queue, which knows when to try again; undefined to wait for a change. */
  readonly retry: unknown;
}

/** What an error of the API server means for a database. @param object such as `Service orders` */
export function blockerOf(error: unknown, object: string): Blocker {
  const verdict = classify(error);
  const reason = reasonOf(verdict);
  const isStalled = verdict.class === 'terminal' || verdict.class === 'wait-for';
  return { reason, message: `${object}: ${words(error)}`, isStalled, retry: error };
}

const named: Partial<Record<Verdict['kind'], Reason>> = {
  'namespace-terminating': 'NamespaceTerminating',
  'namespace-missing': 'NamespaceTerminating',
  'quota-exceeded': 'QuotaExceeded',
  'admission-denied': 'AdmissionDenied',
  forbidden: 'Forbidden',
  'kind-missing': 'KindMissing',
  'co-ownership': 'Refused',
};

function reasonOf({ kind, class: errorClass }: Verdict): Reason {
  return named[kind] ?? (errorClass === 'terminal' ? 'Refused' : 'ApiUnreachable');
}

/** The server's own words; of an error without answer, its message. */
function words(error: unknown): string {
  if (error instanceof KubeError && error.serverMessage !== '') return error.serverMessage;
  return error instanceof Error ? error.message : String(error);
}
