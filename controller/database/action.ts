import type { Drift, FieldPath } from '../drift/index.ts';
import type { KubeObject } from '../kube/index.ts';
import type { Child } from './child.ts';
import type { Stated } from './stated.ts';

/** What is to be done about one object, with the reason. There is exactly one for each object that is stated. */
export type Action =
  /** The object is known to be what we state. */
  | { readonly kind: 'keep'; readonly stated: Stated }
  /** Nothing has the name, as far as is known. `drifts`: it was there before. */
  | { readonly kind: 'create'; readonly stated: Stated; readonly drifts: readonly Drift[] }
  /**
   * The object is ours (`uid`), and is brought to what we state, unless it is not as it was seen (`resourceVersion`) any more. `isRepair`: we stated the same before. `taken`: what others own and is to go: we
   * have to own it before. `yielded`: what we state and somebody else is to have: drift.allowManagers says so, or it is
   * contested. `contested`: what is left for that; undefined where nothing is. `hasOldHands`: what earlier hands hold of it is to become
   * ours before. `untold`: what is put back without a word, and may come again and again. `live`: as it was found; undefined where nothing but our own wish has changed.
   */
  | {
      readonly kind: 'apply';
      readonly stated: Stated;
      readonly uid: string;
      readonly resourceVersion: string;
      readonly isRepair: boolean;
      readonly drifts: readonly Drift[];
      readonly taken: readonly FieldPath[];
      readonly yielded: readonly FieldPath[];
      readonly contested: readonly Drift[] | undefined;
      readonly hasOldHands: boolean;
      readonly untold: readonly Drift[];
      readonly live: KubeObject | undefined;
    }
  /** All fields are ours, but not all values: somebody else's admission changes what we apply, or an older we applied it. Ask which. */
  | { readonly kind: 'verify'; readonly stated: Stated; readonly live: KubeObject }
  /** The object was compared and is what we state. */
  | { readonly kind: 'accept'; readonly stated: Stated; readonly live: KubeObject }
  /** Somebody changed the object, and drift.policy is Report. Without `live`: nothing has happened to it since. */
  | {
      readonly kind: 'leave';
      readonly stated: Stated;
      readonly live: KubeObject | undefined;
      readonly drifts: readonly Drift[];
    }
  /** Somebody deleted the object, or took its label away, and drift.policy is Report. */
  | { readonly kind: 'lack'; readonly stated: Stated; readonly drifts: readonly Drift[] }
  /** The object is being deleted; it is made again when it is gone. */
  | { readonly kind: 'await'; readonly stated: Stated }
  /** The name belongs to something else. `drifts`: ours had it before. `isWatched`: we will see when that is gone. */
  | {
      readonly kind: 'refuse';
      readonly stated: Stated;
      readonly holder: string;
      readonly drifts: readonly Drift[];
      readonly isWatched: boolean;
    }
  /** A Secret of a database that has data is gone, or has lost its label: no new password is invented. */
  | { readonly kind: 'miss'; readonly stated: Stated }
  /** The object is no longer stated. */
  | { readonly kind: 'remove'; readonly child: Child }
  /** The object bears our label, and is neither stated nor ours. */
  | { readonly kind: 'ignore'; readonly child: Child; readonly live: KubeObject };

export type ActionOf<K extends Action['kind']> = Extract<Action, { readonly kind: K }>;

/** Whether an action makes nothing new, so that it need not wait for what comes before it. */
export function isIndependent(action: Action): boolean {
  switch (action.kind) {
    case 'keep':
    case 'accept':
    case 'verify':
    case 'leave':
    case 'lack':
    case 'refuse':
    case 'ignore':
      return true;
    case 'apply':
      return action.isRepair;
    case 'create':
      return action.drifts.length > 0;
    case 'await':
    case 'miss':
    case 'remove':
      return false;
  }
}

/** Such as `Service orders`. */
export function nameOf(action: Action): string {
  const { kind, name } =
    'stated' in action ? { ...action.stated.object, ...action.stated.object.metadata } : action.child;
  return `${kind} ${name}`;
}
