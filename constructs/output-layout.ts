import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** What synth writes into its output, and nothing else; each holds files named by kind and object. */
export const outputFolders = ['crds', 'databases', 'plumbline', 'plumbline-monitoring'] as const;

export type OutputFolderName = (typeof outputFolders)[number];

const manifestFile = /^[a-z0-9-]+\.[a-z0-9._-]+\.yaml$/;

/**
 * The first thing in an output that synth does not write, by its path in it.
 *
 * Not by a recursive `readdir`, which follows symbolic links.
 */
export function foreignIn(output: string): string | undefined {
  for (const { name, isFolder } of entriesOf(output)) {
    if (!isFolder || !outputFolders.some((one) => one === name)) return name;
    const found = foreignBelow(output, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

function foreignBelow(output: string, folder: string): string | undefined {
  for (const { name, isFolder, isFile } of entriesOf(join(output, folder))) {
    const path = join(folder, name);
    if (!isFolder && !(isFile && manifestFile.test(name))) return path;
    const found = isFolder ? foreignBelow(output, path) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function entriesOf(folder: string): readonly { name: string; isFolder: boolean; isFile: boolean }[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.map((entry) => ({ name: entry.name, isFolder: entry.isDirectory(), isFile: entry.isFile() }));
}
