import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from './build.ts';
import { withLock } from './lock.ts';
import { createProgress } from './progress.ts';

/** Why no package can be had on this machine, as a part of a sentence. Undefined when they can. */
export function whyNoPackages(): string | undefined {
  if (process.platform !== 'linux') return 'this is no Linux';
  return spawnSync('apt-get', ['--version']).status === 0 ? undefined : 'there is no apt-get';
}

/**
 * Path of a folder with the files of one of Debian's packages, such as `usr/bin/prometheus`. It is downloaded into the cache, the first time, and not
 * installed: that would start servers. What it depends on is not there.
 */
export async function unpackedPackage(name: string, onProgress?: (line: string) => void): Promise<string> {
  const folder = join(cacheFolder(), name);
  if (existsSync(folder)) return folder;
  mkdirSync(cacheFolder(), { recursive: true });
  const progress = createProgress(onProgress);
  const onWait = (pid: number): void => progress.line(`Waiting for process ${pid}, which downloads ${name} …`);
  await withLock(`${folder}.lock`, onWait, async () => {
    if (existsSync(folder)) return;
    await progress.during(`Downloading ${name} from Debian, once`, async () => unpack(name, folder));
  });
  return folder;
}

function unpack(name: string, folder: string): void {
  const partial = mkdtempSync(`${folder}.partial-`);
  try {
    // The list of packages may never have been read here.
    if (!run('apt-get', ['download', name], partial).isDone) {
      mustRun('apt-get', ['--quiet', 'update'], partial);
      mustRun('apt-get', ['download', name], partial);
    }
    const [archive = ''] = readdirSync(partial).filter((file) => file.endsWith('.deb'));
    mustRun('dpkg-deb', ['--extract', archive, 'root'], partial);
    renameSync(join(partial, 'root'), folder);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

function run(program: string, args: readonly string[], cwd: string): { isDone: boolean; said: string } {
  const { status, error, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  return { isDone: status === 0, said: error?.message ?? `${stdout}${stderr}`.trim().split('\n').slice(-5).join('\n') };
}

function mustRun(program: string, args: readonly string[], cwd: string): void {
  const { isDone, said } = run(program, args, cwd);
  if (!isDone) throw new Error(`${program} ${args.join(' ')} failed: ${said}`);
}
