import { createLogger, type Logger } from '../../../controller/runtime/logger.ts';

/** A logger whose lines a test can read. */
export class LogLines {
  readonly lines: Record<string, unknown>[] = [];
  readonly log: Logger = createLogger({
    level: 'debug',
    isReadable: false,
    output: { write: (text) => this.lines.push(JSON.parse(text) as Record<string, unknown>) },
  });
}
