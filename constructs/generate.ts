import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { customResourceDefinition, fileName } from './api/crd.ts';
import { gitDestinationDefinition, gitDestinationFile } from './api/git-destination/crd.ts';
import { gitDestinationReference } from './api/git-destination/reference.ts';
import { reference } from './api/reference.ts';
import { argoScripts, embeddedScriptsSource, podScripts } from './embed-scripts.ts';
import { serialize } from './serialize.ts';

/** A file that is written by a program and committed. */
export interface GeneratedFile {
  /** Relative to the root of the project. */
  readonly path: string;
  readonly content: () => string;
}

export const generatedFiles: readonly GeneratedFile[] = [
  { path: `crds/${fileName}`, content: () => serialize(customResourceDefinition()) },
  { path: `crds/${gitDestinationFile}`, content: () => serialize(gitDestinationDefinition()) },
  { path: 'docs/databaseservice.md', content: reference },
  { path: 'docs/gitdestination.md', content: gitDestinationReference },
  ...[podScripts, argoScripts].map((scripts) => ({
    path: scripts.path,
    content: () => embeddedScriptsSource(scripts),
  })),
];

const root = join(import.meta.dirname, '..');

/** The files that are missing or not what would be written now; ends of lines don't count. */
export function staleFiles(files: readonly GeneratedFile[] = generatedFiles): readonly string[] {
  return files.filter(({ path, content }) => read(path) !== content()).map(({ path }) => path);
}

/** What to do about stale files. */
export function renewal(stale: readonly string[]): string {
  return `Stale: ${stale.join(', ')}. Run \`npm run generate\` and commit what it writes.`;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(join(root, path), 'utf8').replaceAll('\r\n', '\n');
  } catch {
    return undefined;
  }
}

function write({ path, content }: GeneratedFile): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content());
}

/** `npm run generate` writes them; `npm run generate -- --check` only says which are stale. */
function main(args: readonly string[]): void {
  const stale = staleFiles();
  if (args.includes('--check')) {
    if (stale.length === 0) return;
    process.stderr.write(`${renewal(stale)}\n`);
    process.exitCode = 1;
    return;
  }
  for (const file of generatedFiles.filter(({ path }) => stale.includes(path))) write(file);
  process.stdout.write(stale.length === 0 ? 'Nothing to write.\n' : `Written: ${stale.join(', ')}\n`);
}

if (import.meta.main) main(process.argv.slice(2));
