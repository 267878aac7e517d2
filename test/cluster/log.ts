import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';

const bytes = 16_384;

/** The last lines of a log file, or a note that there are none. */
export function tail(path: string, lines = 15): string {
  if (!existsSync(path)) return '(no log)';
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const buffer = Buffer.alloc(Math.min(size, bytes));
    readSync(file, buffer, 0, buffer.length, size - buffer.length);
    return buffer.toString('utf8').trimEnd().split('\n').slice(-lines).join('\n') || '(empty)';
  } finally {
    closeSync(file);
  }
}
