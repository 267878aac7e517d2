import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readFlags, specFlags } from './flags.ts';
import { filesAt } from './review/git-files.ts';
import { summaryOf } from './review/summary.ts';

const usage = `npm run review -- [--specs FOLDER] [--output FOLDER] [--base REVISION] [--standalone]

For CI: checks every DatabaseService below a folder, and that what is committed is what they render. With a base it prints
what that changes, as Markdown.

  --specs FOLDER    where the DatabaseService files are (default: examples)
  --output FOLDER   what 'npm run synth' wrote and somebody committed (default: dist)
  --base REVISION   of git, to compare with, such as origin/main
  --standalone      what only the controller can do is an error, not a note
  -h, --help        print this

Exit codes: 0 all is well; 1 a spec is wrong, the output is stale, or git does not know the base; 2 wrong usage.
`;

interface Options {
  readonly specs: string;
  readonly output: string;
  readonly base: string | undefined;
  readonly isStandalone: boolean;
}

async function review({ specs, output, base, isStandalone }: Options): Promise<number> {
  const temporary = mkdtempSync(join(tmpdir(), 'plumbline-review-'));
  try {
    const fresh = join(temporary, 'dist');
    const code = await synth(['--specs', specs, '--output', fresh, ...(isStandalone ? ['--standalone'] : [])]);
    if (code !== 0) return code;
    const [rendered, committed] = [filesOf(fresh), filesOf(output)];
    if (base !== undefined) process.stdout.write(summaryOf({ before: filesAt(base, output), after: rendered }));
    const paths = [...new Set([...rendered.keys(), ...committed.keys()])];
    const stale = paths.filter((path) => rendered.get(path) !== committed.get(path)).toSorted();
    if (stale.length === 0) return 0;
    process.stderr.write(stale.map((path) => `stale: ${join(output, path)}\n`).join(''));
    process.stderr.write('Run npm run synth with the same folders, and commit what it writes.\n');
    return 1;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** What it says of the specs goes to standard error; that of the files is of no interest here. */
function synth(args: readonly string[]): Promise<number> {
  const command = fileURLToPath(new URL('synth.ts', import.meta.url));
  const child = spawn(process.execPath, [command, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  return new Promise((settle, fail) => {
    child.once('error', fail);
    child.once('close', (code) => settle(code ?? 1));
  });
}

/** The manifests below a folder by their paths in it; none where there is no such folder. */
function filesOf(folder: string): ReadonlyMap<string, string> {
  if (!existsSync(folder)) return new Map();
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [relative(folder, path), readFileSync(path, 'utf8')] as const;
    }),
  );
}

function flags(): Options {
  const { values } = parseArgs({ options: { ...specFlags, base: { type: 'string' } } });
  const { specs, output, base, standalone: isStandalone } = values;
  if (specs === '') throw new Error('--specs names no folder');
  return { specs: resolve(specs), output: resolve(output), base, isStandalone };
}

const options = readFlags(usage, flags);
try {
  process.exitCode = await review(options);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
