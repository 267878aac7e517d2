import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** All files of a folder with their content, by path. Not by a recursive `readdir`, which follows symbolic links. */
export function filesBelow(folder: string): Readonly<Record<string, string>> {
  return Object.fromEntries(pathsBelow(folder, '').map((path) => [path, readFileSync(join(folder, path), 'utf8')]));
}

function pathsBelow(folder: string, below: string): readonly string[] {
  const entries = readdirSync(join(folder, below), { withFileTypes: true });
  return entries
    .flatMap((entry) => {
      const path = join(below, entry.name);
      if (entry.isDirectory()) return pathsBelow(folder, path);
      return entry.isFile() ? [path] : [];
    })
    .sort();
}
