import { pino } from 'pino';
import { describeError } from './describe-error.ts';
import { readableLine } from './readable-line.ts';

/** Structured log. Fields first, then one sentence. No field ever holds a secret. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** A logger that puts these fields into each of its lines. */
  child(fields: Readonly<Record<string, unknown>>): Logger;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export interface LoggerOptions {
  /** Defaults to `info`. */
  readonly level?: LogLevel;
  /** Where the lines go. Defaults to standard output. */
  readonly output?: { write(text: string): void };
  /** Short lines for people instead of JSON. Defaults to whether standard output is a terminal. */
  readonly isReadable?: boolean;
}

/**
 * JSON lines, written synchronously, so that the last line before an exit is not lost and no worker thread is needed.
 * A field `err` is an error: of it only what `describeError` picks is written.
 */
export function createLogger(options: LoggerOptions = {}): Logger {
  const isReadable = options.isReadable ?? (options.output === undefined && process.stdout.isTTY);
  const output = options.output ?? (isReadable ? process.stdout : pino.destination({ dest: 1, sync: true }));
  return pino(
    {
      level: options.level ?? 'info',
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
      serializers: { err: describeError },
    },
    isReadable ? { write: (line: string) => output.write(readableLine(line)) } : output,
  );
}
