import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const project = fileURLToPath(new URL('../..', import.meta.url));

/** What CommonJS modules need in a file that is none. */
const banner = "import{createRequire}from'node:module';const require=createRequire(import.meta.url);";

/**
 * Writes the controller as one file. The notices of licences are not in it but beside it, in THIRD-PARTY-NOTICES.txt.
 *
 * @param metafile where esbuild writes what it put into it: https://esbuild.github.io/api/#metafile. Defaults to nowhere
 * @throws Error with what the bundler says
 */
export async function bundle(file: string, metafile?: string): Promise<void> {
  const result = await build({
    absWorkingDir: project,
    entryPoints: ['controller/main.ts'],
    outfile: file,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    minifySyntax: true,
    minifyWhitespace: true,
    charset: 'ascii',
    legalComments: 'none',
    banner: { js: banner },
    logLevel: 'warning',
    metafile: true,
    write: false,
  });
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, inAscii(result.outputFiles[0]?.text ?? ''));
  if (metafile !== undefined) writeFileSync(metafile, JSON.stringify(result.metafile));
}

/**
 * A source that is not all ASCII is kept in two bytes for each character: 4.4 MB more for a single µ. esbuild escapes what is in strings and names;
 * what it leaves is in regular expressions, where an escape means the same.
 */
function inAscii(text: string): string {
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

if (import.meta.main) await bundle(`${project}build/controller.mjs`);
