import type { ErrorClass } from '../kube/errors.ts';

/** What to do about an error. `classify` of kube/errors.ts gives one; each part of the runtime is handed that function. */
export interface ErrorVerdict {
  /** `terminal`: trying again can't help. `retry-now`: what was believed was outdated, which is no failure. */
  readonly class: ErrorClass;
  readonly kind: string;
  readonly retryAfterSeconds?: number | undefined;
}
