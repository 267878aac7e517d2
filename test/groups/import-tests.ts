import { globSync } from 'node:fs';
import { describe } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));

/**
 * Registers the tests of all files that match, one file after the other, so that they share a cluster. Each file is a suite: otherwise what the files
 * start before their first test would all start at once, and run until the last test of all.
 *
 * @param takes which of the files belong here; defaults to all
 */
export function importTests(pattern: string, takes: (path: string) => boolean = () => true): void {
  const paths = globSync(pattern, { cwd: root })
    .sort()
    .filter((path) => takes(path));
  if (paths.length === 0) throw new Error(`no test matches ${pattern}`);
  for (const path of paths) {
    // It ends with the tests of the file, which begin when all files are registered.
    void describe(path, async () => {
      await import(pathToFileURL(`${root}${path}`).href);
    });
  }
}
