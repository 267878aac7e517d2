import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from './build.ts';
import { withLock } from './lock.ts';
import { createProgress } from './progress.ts';

/** Paths of the programs of Debian's package `prometheus`. */
export interface PrometheusPrograms {
  readonly prometheus: string;
  readonly promtool: string;
}

/** Why they cannot be had on this machine, as one sentence. Undefined when they can. */
export function whyNoPrometheus(): string | undefined {
  if (process.platform !== 'linux') return 'Prometheus is taken from a Debian package';
  const { status } = spawnSync('apt-get', ['--version']);
  return status === 0 ? undefined : 'Prometheus is taken from a Debian package, and there is no apt-get';
}

/** Downloads the package, the first time, and unpacks it into the cache. It is not installed: that would start a server. */
export async function prometheusPrograms(onProgress?: (line: string) => void): Promise<PrometheusPrograms> {
  const folder = join(cacheFolder(), 'prometheus');
  const programs = {
    prometheus: join(folder, 'usr/bin/prometheus'),
    promtool: join(folder, 'usr/bin/promtool'),
  };
  if (existsSync(programs.promtool)) return programs;
  mkdirSync(cacheFolder(), { recursive: true });
  const progress = createProgress(onProgress);
  const onWait = (pid: number): void => progress.line(`Waiting for process ${pid}, which downloads Prometheus …`);
  await withLock(`${folder}.lock`, onWait, async () => {
    if (existsSync(programs.promtool)) return;
    await progress.during('Downloading Prometheus from Debian, once', async () => unpack(folder));
  });
  return programs;
}

function unpack(folder: string): void {
  const partial = mkdtempSync(`${folder}.partial-`);
  try {
    // The list of packages may never have been read here.
    if (!run('apt-get', ['download', 'prometheus'], partial).isDone) {
      mustRun('apt-get', ['--quiet', 'update'], partial);
      mustRun('apt-get', ['download', 'prometheus'], partial);
    }
    const [archive = ''] = readdirSync(partial).filter((name) => name.endsWith('.deb'));
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
