export interface CommandOptions {
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly input?: string | Buffer | undefined;
  /** After this time it is killed. */
  readonly timeoutMs: number;
}

export interface CommandEnd {
  /** The exit code; undefined where a signal ended it. */
  readonly code: number | undefined;
  readonly isTimedOut: boolean;
  /** Standard output. */
  readonly output: Buffer;
  /** Standard error. */
  readonly errors: string;
}
