import { readFileSync } from 'node:fs';
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
}

/** Who a ServiceAccount is for the API server. */
export function userOf(namespace: string, account: string): string {
  return `system:serviceaccount:${namespace}:${account}`;
}

/** What a user has asked for since the cluster was started; of a watch, that it was begun. @throws Error where no audit log is written */
export function auditedRequests({ auditLogPath }: Cluster, user: string): readonly AuditedRequest[] {
  if (auditLogPath === undefined) throw new Error('the cluster writes no audit log');
  const lines = readFileSync(auditLogPath, 'utf8').split('\n').slice(0, -1);
  return lines
    .map((line) => JSON.parse(line) as AuditEvent)
    .filter((event) => event.user.username === user)
    .map(({ verb, objectRef, requestURI, responseStatus }) => ({
      verb,
      apiGroup: objectRef?.apiGroup ?? '',
      resource: [objectRef?.resource ?? requestURI, objectRef?.subresource].filter(Boolean).join('/'),
      namespace: objectRef?.namespace ?? '',
      name: objectRef?.name ?? '',
      status: responseStatus?.code ?? 0,
    }));
}

/** https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/#audit-k8s-io-v1-Event */
interface AuditEvent {
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number };
}
