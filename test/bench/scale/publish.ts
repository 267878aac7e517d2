import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { lastRun, type Run } from './figure-file.ts';
import { describe } from './page.ts';
import { drawPicture } from './picture.ts';

const docs = new URL('../../../docs/', import.meta.url);

/** The run that the documentation tells of. */
export const published = fileURLToPath(new URL('scale.json', docs));

/** Files of `docs/` that say what a run found, by their names. */
export function filesOf(run: Run): ReadonlyMap<string, string> {
  return new Map([
    ['scale.svg', drawPicture(run.stages)],
    ['scale.md', describe(run)],
  ]);
}

/** Puts the figures of the last run, or of a file that is named, into the documentation. @returns the exit code */
function main([file = lastRun]: readonly string[]): number {
  if (!existsSync(file)) {
    process.stderr.write(`${file} is not there: run 'npm run bench -- scale' first.\n`);
    return 1;
  }
  if (file !== published) copyFileSync(file, published);
  const run = JSON.parse(readFileSync(published, 'utf8')) as Run;
  for (const [name, text] of filesOf(run)) writeFileSync(new URL(name, docs), text);
  return 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = main(process.argv.slice(2));
