import { ApiObject, type ApiObjectProps } from 'cdk8s';
import type { Construct } from 'constructs';

/**
 * A model of `@kubernetes/client-node` as it is in JSON, readonly: times are strings, and fields that are reserved words somewhere (`_from`)
 * have their own names.
 */
export type Json<T> = T extends Date
  ? string
  : T extends readonly (infer E)[]
    ? readonly Json<E>[]
    : T extends object
      ? { readonly [K in keyof T as K extends `_${infer Name}` ? Name : K]: Json<T[K]> | OrAbsent<T, K> }
      : T;

/** Undefined, for a member that may be absent: `emit` leaves it out. */
type OrAbsent<T, K extends keyof T> = Partial<Pick<T, K>> extends Pick<T, K> ? undefined : never;

/** What every kind of `@kubernetes/client-node` has in common. */
interface KubernetesObject {
  apiVersion?: string;
  kind?: string;
  metadata?: object;
}

/** A whole object: its model, with what identifies it required. */
export type Emitted<T extends KubernetesObject> = Json<T> & {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
};

/**
 * Adds an object to the construct tree exactly as it is written: typed by client-node's model of the kind, and lossless, where cdk8s-plus
 * filters fields through the schema of its own Kubernetes version. Members that are undefined or null are left out: server-side apply takes a
 * null for a value that we own.
 */
export function emit<T extends KubernetesObject>(scope: Construct, id: string, object: Emitted<T>): ApiObject {
  return new ApiObject(scope, id, withoutEmpty(object) as ApiObjectProps);
}

function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter(isPresent).map(withoutEmpty);
  if (typeof value !== 'object' || value === null) return value;
  const result: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) if (isPresent(member)) result[key] = withoutEmpty(member);
  return result;
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}
