import { execFile, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** @throws Error in one sentence when there is no git */
export function requireGit(): void {
  const { error } = spawnSync('git', ['--version'], { stdio: 'ignore' });
  if (error === undefined) return;
  throw new Error(
    'The quickstart delivers into a Git repository, and there is no git on PATH: install git (https://git-scm.com/downloads).',
    { cause: error },
  );
}

/** Runs git on its own, without the user's configuration and prompts. @throws what git says */
export async function git(folder: string, ...args: readonly string[]): Promise<string> {
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    LC_ALL: 'C',
  };
  const { stdout } = await run('git', [...args], { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 });
  return stdout.trim();
}

/** The files of a folder by name. */
export function filesIn(folder: string): ReadonlyMap<string, string> {
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.yaml'))
    .sort();
  return new Map(files.map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
}

/** The first difference between two sets of files, in words; undefined when all bytes are the same. */
export function difference(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): string | undefined {
  const missing = [...a.keys()].find((file) => !b.has(file)) ?? [...b.keys()].find((file) => !a.has(file));
  if (missing !== undefined) return `${missing} is only on one side`;
  return [...a].find(([file, bytes]) => b.get(file) !== bytes)?.[0];
}
