import { truncateUtf8 } from './truncate-utf8.ts';

/** The object that something happened to. */
export interface EventObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** Absent for an object without namespace; its events are in `default`. */
  readonly namespace?: string;
  readonly uid?: string;
}

/** What happened to it. */
export interface Happening {
  readonly type: 'Normal' | 'Warning';
  /** UpperCamelCase constant. */
  readonly reason: string;
  /** One sentence for people. Longer than 1024 bytes is cut. */
  readonly message: string;
}

/** The part of a `v1` Event that changes when the same thing happens again. */
export interface EventPatch {
  readonly count: number;
  /** RFC 3339, whole seconds. */
  readonly lastTimestamp: string;
  readonly message: string;
}

export interface CoreEvent extends EventPatch {
  readonly apiVersion: 'v1';
  readonly kind: 'Event';
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly involvedObject: EventObject;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly firstTimestamp: string;
  readonly source: { readonly component: string };
  readonly reportingComponent: string;
  readonly reportingInstance: string;
}

/** The API server refuses longer ones (pkg/apis/core/validation, NoteLengthLimit). */
export const maxMessageBytes = 1024;

export function eventMessage(text: string): string {
  return truncateUtf8(text, maxMessageBytes);
}
