import { accessSync, constants, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createFolder, removeStaleFolders } from './folder.ts';
import { requireGo } from './go.ts';
import { withLock } from './lock.ts';
import { tail } from './log.ts';
import type { GoModule } from './go-module.ts';
import { Guard } from './process.ts';
import { createProgress, type Progress } from './progress.ts';

/** Paths of a module's executables in the cache; those that are missing are built, by one process at a time. */
export async function builtBinaries<Name extends string>(
  module: GoModule<Name>,
  onProgress?: (line: string) => void,
): Promise<Readonly<Record<Name, string>>> {
  const folder = join(cacheFolder(), module.key);
  if (missingIn(folder, module).length > 0) {
    requireGo();
    createCache(folder);
    const progress = createProgress(onProgress);
    const onWait = (pid: number): void => progress.line(`Waiting for process ${pid}, which builds ${module.title} …`);
    await withLock(join(folder, 'lock'), onWait, () => buildMissing(folder, module, progress));
  }
  return Object.fromEntries(namesOf(module).map((name) => [name, join(folder, name)])) as Record<Name, string>;
}

/** @throws Error in words when the folder cannot be made */
function createCache(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
  } catch (cause) {
    const why = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new Error(
      `The cache folder ${folder} cannot be written (${why}): make it writable, or name another one by PLUMBLINE_CACHE.`,
      { cause },
    );
  }
}

/** `$PLUMBLINE_CACHE`, or `plumbline` in the user's cache folder. */
export function cacheFolder(): string {
  const { PLUMBLINE_CACHE: own, XDG_CACHE_HOME: user } = process.env;
  return own || join(user || join(homedir(), '.cache'), 'plumbline');
}

function namesOf<Name extends string>({ packages }: GoModule<Name>): Name[] {
  return Object.keys(packages) as Name[];
}

function missingIn(folder: string, module: GoModule): string[] {
  return namesOf(module).filter((name) => !existsSync(join(folder, name)));
}

async function buildMissing(folder: string, module: GoModule, progress: Progress): Promise<void> {
  const missing = missingIn(folder, module);
  if (missing.length === 0) return;
  for (const name of readdirSync(folder)) if (name.endsWith('.partial')) rmSync(join(folder, name), { force: true });
  removeStaleFolders();
  progress.line(`Building ${module.title} from source, once, into ${folder} (some minutes) …`);
  const guard = new Guard(createFolder());
  try {
    for (const name of missing) await progress.during(`  ${name}`, () => build(guard, module, name, folder));
  } finally {
    await guard.close();
  }
}

async function build(guard: Guard, module: GoModule, name: string, folder: string): Promise<void> {
  const partial = join(folder, `${name}.${process.pid}.partial`);
  const go = await guard.run({
    name,
    command: 'go',
    args: ['build', ...module.flags, '-o', partial, module.packages[name] ?? name],
    cwd: module.folder,
    environment: environment(guard.folder),
    log: join(guard.folder, `${name}.log`),
  });
  const exit = await guard.wait(go);
  if (exit !== 'with code 0') {
    const output = tail(go.command.log);
    const hint = output.includes('executable file not found') && output.includes('git') ? ' Install git.' : '';
    throw new Error(`${name} could not be built: go ended ${exit}.${hint} Its last lines:\n${output}`);
  }
  // By renaming, so that an executable that exists is always whole.
  renameSync(partial, join(folder, name));
}

/** Of this person's settings for Go, those that would change what is built are left out. */
function environment(temporary: string): Record<string, string | undefined> {
  const { GOOS: _os, GOARCH: _arch, GOFLAGS: _flags, ...rest } = process.env;
  return { ...rest, CGO_ENABLED: '0', GOWORK: 'off', GOTMPDIR: temporary };
}
