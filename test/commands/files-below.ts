import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** All files of a folder with their content, by path. */
export function filesBelow(folder: string): Readonly<Record<string, string>> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  return Object.fromEntries(files.map((file) => [relative(folder, file), readFileSync(file, 'utf8')]));
}
