import { rmSync } from 'node:fs';

/** Removes a folder of a test with all that is in it. A process that has just been ended may still write there, so it is tried for some seconds. */
export function discardFolder(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
