/** What of an error goes into a log line. */
export interface ErrorDescription {
  readonly type: string;
  readonly message: string;
  readonly reason?: string;
  readonly stack?: string;
  readonly cause?: ErrorDescription;
}

const longestCauseChain = 5;

/**
 * Picks the few fields of an error that can't hold a secret by our own rules. Clients hang requests, headers and bodies
 * onto their errors, so an error is never written whole.
 */
export function describeError(error: unknown, depth = 0): ErrorDescription {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const { cause, stack } = error;
  const reason = 'reason' in error && typeof error.reason === 'string' ? error.reason : undefined;
  return {
    type: error.name,
    message: error.message,
    ...(reason === undefined ? {} : { reason }),
    ...(stack === undefined ? {} : { stack }),
    ...(cause === undefined || depth >= longestCauseChain ? {} : { cause: describeError(cause, depth + 1) }),
  };
}
