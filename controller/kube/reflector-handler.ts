import type { RelistReason } from './reflector-step.ts';
import type { KubeObject, ObjectKey } from './resource.ts';

/**
 * Who is told of each change. Calls come one after the other, never two at once, and must return without waiting; what
 * one throws is reported and the reflector goes on, and gives that object again when it next lists.
 */
export interface ReflectorHandler<T extends KubeObject = KubeObject> {
  /** The object is new or changed. `isInitial`: it was there when the reflector started. */
  onUpsert(object: T, info: { readonly isInitial: boolean }): void;
  /**
   * The object is gone, or another one has its name (then its `onUpsert` follows).
   * @param last its final state, if the deletion itself was seen and not only that it is not there any more.
   */
  onDelete(key: ObjectKey, info: { readonly uid: string; readonly last: T | undefined }): void;
  /** Once: every object that was there at the start has been given. */
  onSynced?(): void;
  /** After each later list, all of whose changes have been given. */
  onRelisted?(changes: ListChanges, listed: Listed): void;
}

export interface ListChanges {
  readonly reason: RelistReason;
  /** Given because they are new or changed; after doubt about the server's history, all. */
  readonly upserted: number;
  readonly deleted: number;
  readonly unchanged: number;
}

/** What a list has shown. */
export interface Listed {
  /** The state of the server that it is of. */
  readonly version: string | undefined;
  readonly keys: ReadonlySet<ObjectKey>;
}

/** What a log or a metric wants to know. */
export type ReflectorReport =
  | { readonly kind: 'handler-failed'; readonly key: ObjectKey | undefined; readonly error: unknown }
  | { readonly kind: 'request-failed'; readonly doing: 'list' | 'watch'; readonly error: unknown }
  | { readonly kind: 'watch-silent'; readonly silentMs: number }
  /** The server has lost history. Said once for each time that it happens. */
  | { readonly kind: 'version-backwards'; readonly seen: string; readonly got: string }
  | { readonly kind: 'waiting'; readonly delayMs: number; readonly relist: RelistReason | undefined };
