import { globSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));

/**
 * Registers the tests of all files that match, one file after the other, so that they share a cluster.
 *
 * @param takes which of the files belong here; defaults to all
 */
export async function importTests(pattern: string, takes: (path: string) => boolean = () => true): Promise<void> {
  const paths = globSync(pattern, { cwd: root })
    .sort()
    .filter((path) => takes(path));
  if (paths.length === 0) throw new Error(`no test matches ${pattern}`);
  for (const path of paths) await import(pathToFileURL(`${root}${path}`).href);
}
