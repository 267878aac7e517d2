/** The API server's client: connection, requests, errors, watches, lease. It knows nothing of databases. */
export { Backoff, type BackoffOptions } from './backoff.ts';
export { KubeClient, type KubeClientOptions } from './client.ts';
export { monotonicClock, pause, systemClock, type Clock } from './clock.ts';
export { ConnectionError, type ConnectionProblem } from './connection-error.ts';
export { connect, type Connection, type ConnectOptions, type HttpRequest, type HttpResponse } from './connection.ts';
export { classify, isObjectMissing, type ErrorClass, type Verdict } from './errors.ts';
export { JsonLines, decodeJsonLines, MalformedLineError } from './json-lines.ts';
export { KubeError, type KubeErrorFacts, type StatusCause, type StatusDetails, type Tried } from './kube-error.ts';
export type {
  Applied,
  ApplyOptions,
  CallOptions,
  CreateOptions,
  DeleteOptions,
  GetOptions,
  Kube,
  ListOptions,
  Page,
  Patch,
  RequestFacts,
  Selection,
  WatchEvent,
  WatchOptions,
} from './kube.ts';
export type { Lane } from './lanes.ts';
export { LeaderElector, type LeaderCallbacks, type LeaderElectorOptions } from './lease.ts';
export { LEASES, type Lease, type LeaseSpec } from './lease-record.ts';
export { Reflector, type ReflectorOptions } from './reflector.ts';
export type { ListChanges, Listed, ReflectorHandler, ReflectorReport } from './reflector-handler.ts';
export type { RelistReason } from './reflector-step.ts';
export { compareResourceVersions, isOlder } from './resource-version.ts';
export {
  asSeen,
  collectionPath,
  keyOf,
  objectPath,
  refOf,
  type KubeObject,
  type ManagedFieldsEntry,
  type ObjectKey,
  type ObjectMeta,
  type ObjectRef,
  type OwnerReference,
  type ResourceType,
  type Seen,
} from './resource.ts';
export { timestamp } from './timestamp.ts';
export type { Rival } from './rival.ts';
