/** Something that mirrors a part of the cluster into memory. Runs in every instance, leader or not. */
export interface Cache {
  readonly name: string;
  /** Runs until the signal is aborted; may return at once and go on in the background. */
  start(signal: AbortSignal): Promise<void> | void;
  /** Resolves once everything that exists has been read. */
  readonly synced: Promise<unknown>;
}

/** Something that only the leader does. */
export interface Runnable {
  readonly name: string;
  /** Resolves after `stop` is aborted and what was begun is finished; `abort` asks to end that early. */
  run(stop: AbortSignal, abort: AbortSignal): Promise<void>;
}

export interface ElectionCallbacks {
  onStartedLeading(): void;
  /** Called as soon as the lease is lost; also welcome when it was given back on request. */
  onStoppedLeading(): void;
}

export interface Elector {
  /** Campaigns and renews until the signal is aborted, then gives the lease back and resolves. */
  run(callbacks: ElectionCallbacks, signal: AbortSignal): Promise<void>;
  /** Whether the lease was renewed in time. What was frozen and runs again asks this before it does anything, since it hears of the loss later. */
  readonly isLeading: boolean;
}

export type FailureReason = 'CachesNotSynced' | 'CacheFailed' | 'LeaseLost' | 'ControllerFailed' | 'StopTimedOut';

/** Why the manager ended. After `failed` the process must exit with an error, so that it is started afresh. */
export type ManagerEnd =
  | { readonly kind: 'stopped' }
  | { readonly kind: 'failed'; readonly reason: FailureReason; readonly message: string; readonly cause?: unknown };
