import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import type { Cluster } from '../../cluster/index.ts';

/** One request that the API server has answered. */
export interface AuditedRequest {
  /** As RBAC names it. */
  readonly verb: string;
  /** Empty for the core group, and for what is no resource. */
  readonly apiGroup: string;
  /** With its subresource: `pods/status`. Of what is no resource, the path. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly status: number;
  /** When it came, in milliseconds of the wall clock. */
  readonly at: number;
  /** The program, as it calls itself. */
  readonly userAgent: string;
  /** Whether RBAC has refused it. Admission refuses with the same status, such as what is over a quota. */
  readonly isDenied: boolean;
}

/** Who a ServiceAccount is for the API server. */
export function userOf(namespace: string, account: string): string {
  return `system:serviceaccount:${namespace}:${account}`;
}

/** How much the audit log has now: a beginning for {@link auditedRequests}. @throws Error where none is written */
export function auditLogLength({ auditLogPath }: Cluster): number {
  if (auditLogPath === undefined) throw new Error('the cluster writes no audit log');
  return statSync(auditLogPath).size;
}

/**
 * What a user has asked for; of a watch, that it was begun.
 *
 * @param from an earlier `auditLogLength`; defaults to the start of the cluster
 * @throws Error where no audit log is written
 */
export function auditedRequests({ auditLogPath }: Cluster, user: string, from = 0): readonly AuditedRequest[] {
  if (auditLogPath === undefined) throw new Error('the cluster writes no audit log');
  const lines = textFrom(auditLogPath, from).split('\n').slice(0, -1);
  return lines
    .filter((line) => line.includes(user))
    .map((line) => JSON.parse(line) as AuditEvent)
    .filter((event) => event.user.username === user)
    .map(({ verb, objectRef, requestURI, responseStatus, annotations, ...event }) => ({
      verb,
      apiGroup: objectRef?.apiGroup ?? '',
      resource: [objectRef?.resource ?? requestURI, objectRef?.subresource].filter(Boolean).join('/'),
      namespace: objectRef?.namespace ?? '',
      name: objectRef?.name ?? '',
      status: responseStatus?.code ?? 0,
      at: Date.parse(event.requestReceivedTimestamp),
      userAgent: event.userAgent ?? '',
      isDenied: responseStatus?.code === 401 || annotations?.['authorization.k8s.io/decision'] === 'forbid',
    }));
}

function textFrom(path: string, from: number): string {
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(Math.max(0, fstatSync(file).size - from));
    readSync(file, buffer, 0, buffer.length, from);
    return buffer.toString();
  } finally {
    closeSync(file);
  }
}

/** https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/#audit-k8s-io-v1-Event */
interface AuditEvent {
  readonly verb: string;
  readonly requestURI: string;
  readonly requestReceivedTimestamp: string;
  readonly userAgent?: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  readonly annotations?: Readonly<Record<string, string>>;
}
