import type { KubeObject, ResourceType } from './resource.ts';

/** `spec` of a Lease, in so far as leader election uses it. */
export interface LeaseSpec {
  /** Empty after a release. */
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}

export interface Lease extends KubeObject {
  readonly spec?: LeaseSpec;
}

export const LEASES: ResourceType<Lease> = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
};

/** The API's MicroTime takes exactly six digits after the second (apimachinery, micro_time.go). */
export function microTime(epochMs: number): string {
  return new Date(epochMs).toISOString().replace('Z', '000Z');
}
