import type { KubeObject, ObjectRef, ResourceType } from './resource.ts';

/** What every call takes. */
export interface CallOptions {
  /** Ends the call; it then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until a call without answer fails with a KubeError of reason `ClientTimeout`. Defaults to 30,000. */
  readonly timeoutMs?: number | undefined;
}

export interface Selection {
  /** Of a namespaced type; all namespaces if absent. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Only `metadata` is transferred (PartialObjectMetadata). Defaults to false. */
  readonly metadataOnly?: boolean | undefined;
}

export interface GetOptions extends CallOptions {
  /** Only `metadata` is transferred. Defaults to false. */
  readonly metadataOnly?: boolean | undefined;
}

export interface ListOptions extends Selection, CallOptions {
  /** Objects to a page. Defaults to 500. */
  readonly limit?: number | undefined;
}

export interface Page<T extends KubeObject = KubeObject> {
  /** `apiVersion` and `kind` are filled in from the type, since the API leaves them out of lists. */
  readonly items: readonly T[];
  /** Of the whole list, the same on each page. */
  readonly resourceVersion: string;
}

export interface ApplyOptions<T extends KubeObject = KubeObject> extends CallOptions {
  readonly type: ResourceType<T>;
  /** Name under which the fields are owned; at most 128 bytes. */
  readonly fieldManager: string;
  /** Take fields from other managers. Defaults to false: a conflict is a 409. */
  readonly force?: boolean;
  /** Answer as if, change nothing. Defaults to false. */
  readonly dryRun?: boolean;
  /** The answer has only `metadata`. Defaults to false. */
  readonly metadataOnly?: boolean | undefined;
  /** Such as `status`. */
  readonly subresource?: string;
}

export interface Applied<T extends KubeObject = KubeObject> {
  readonly object: T;
  /** True if there was no such object before (201). */
  readonly isCreated: boolean;
}

export interface CreateOptions<T extends KubeObject = KubeObject> extends CallOptions {
  readonly type: ResourceType<T>;
  readonly fieldManager: string;
  /** Answer as if, change nothing. Defaults to false. */
  readonly dryRun?: boolean;
}

export interface DeleteOptions extends CallOptions {
  /** Precondition: delete this very object, or answer 409. */
  readonly uid?: string;
  /** Precondition. */
  readonly resourceVersion?: string;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  readonly gracePeriodSeconds?: number;
}

export interface Patch {
  readonly kind: 'merge' | 'json' | 'strategic';
  /** A `metadata.resourceVersion` or `metadata.uid` in a merge patch is a precondition. */
  readonly body: unknown;
  readonly fieldManager: string;
  readonly subresource?: string;
}

export interface WatchOptions extends Selection {
  /** Events after this version. */
  readonly resourceVersion: string;
  /** Seconds after which the server ends the watch in good order. */
  readonly timeoutSeconds: number;
  readonly signal?: AbortSignal | undefined;
}

export type WatchEvent<T extends KubeObject = KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string };

/**
 * The API of one cluster. Objects are plain JSON in both directions; whole numbers beyond 2^53 lose digits, as
 * anywhere in JavaScript.
 *
 * Each call throws a KubeError if the server refuses, does not answer in time or can't be reached, and the reason of
 * its signal if that is aborted. `classify` says what an error means.
 */
export interface Kube {
  get<T extends KubeObject>(type: ResourceType<T>, ref: ObjectRef, options?: GetOptions): Promise<T>;
  /** Page by page, from the most recent state. */
  list<T extends KubeObject>(type: ResourceType<T>, options?: ListOptions): AsyncGenerator<Page<T>, void>;
  /** Server-side apply with fieldValidation=Strict. */
  apply<T extends KubeObject>(object: KubeObject, options: ApplyOptions<T>): Promise<Applied<T>>;
  /** POST; 409 AlreadyExists if the name is taken. */
  create<T extends KubeObject>(object: KubeObject, options: CreateOptions<T>): Promise<T>;
  delete(type: ResourceType, ref: ObjectRef, options?: DeleteOptions): Promise<void>;
  patch<T extends KubeObject>(type: ResourceType<T>, ref: ObjectRef, patch: Patch, options?: CallOptions): Promise<T>;
  /** One watch with bookmarks, until the server ends it. An ERROR event is thrown as a KubeError. */
  watch<T extends KubeObject>(type: ResourceType<T>, options: WatchOptions): AsyncGenerator<WatchEvent<T>, void>;
  /** GET of any path, such as `/version`: the parsed JSON, or the text if it is none. */
  raw(path: string, options?: CallOptions): Promise<unknown>;
}

/** One finished request, for metrics and for tests that count. */
export interface RequestFacts {
  readonly verb: 'get' | 'list' | 'watch' | 'apply' | 'create' | 'delete' | 'patch' | 'raw';
  /** Absent for `raw`. */
  readonly type: ResourceType | undefined;
  /** Absent if no answer came. */
  readonly status: number | undefined;
  /** Milliseconds until the answer was read; of a watch, until it was opened. */
  readonly ms: number;
  /** Of a failure. */
  readonly reason: string | undefined;
}
