import { tlsAnnotation } from '../../constructs/labels.ts';
import { lifetimeOf, type Lifetime } from '../certificates/lifetime.ts';
import type { ObjectMeta } from '../kube/index.ts';

/** What a member says of TLS. */
export interface ServedCertificate {
  /** Of the certificate that it serves. */
  readonly lifetime: Lifetime | undefined;
  /** Why the certificate of the Secret cannot be served, in words. */
  readonly problem: string | undefined;
}

const longestProblem = 200;

/** Reads what a member's steward wrote onto its pod; undefined where it has said nothing yet, or nothing that can be read. */
export function servedCertificate({ annotations }: Pick<ObjectMeta, 'annotations'>): ServedCertificate | undefined {
  const said = parsed(annotations?.[tlsAnnotation]);
  if (said === undefined) return undefined;
  const { problem } = said;
  return {
    lifetime: lifetimeOf(said['notBefore'], said['notAfter']),
    problem: typeof problem === 'string' ? problem.slice(0, longestProblem) : undefined,
  };
}

function parsed(text: string | undefined): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text ?? 'null');
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
