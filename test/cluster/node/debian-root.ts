import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFolder } from '../folder.ts';
import { tail } from '../log.ts';
import { Guard } from '../process.ts';
import { tar, type ImageConfig } from './archive.ts';

// The release of Debian that images are made of.
const suite = 'trixie';

// What Debian's own base image for Docker leaves out too.
const excluded = ['/usr/share/doc/*', '/usr/share/man/*', '/usr/share/info/*', '/usr/share/locale/*'];

export interface DebianRoot {
  readonly packages: readonly string[];
  /** What there is beside the packages: `minbase` is a small Debian, `extract` nothing. Nothing is set up in the latter. */
  readonly variant: 'minbase' | 'extract';
  /** Path of a script that is given the folder before the packages are installed. Not of an `extract`. Defaults to none. */
  readonly prepare?: string;
  /** Path of a script that is given the folder at the end. Defaults to none. */
  readonly finish?: string;
}

/** Names an image by what it is made of, for a cache. The variant goes without saying: it is always the same for an image of one name. */
export function imageKey({ packages, prepare, finish }: DebianRoot, config: ImageConfig): string {
  const script = [prepare, finish].map((path) => (path === undefined ? '' : readFileSync(path, 'utf8'))).join('');
  const inputs = JSON.stringify([suite, process.arch, packages, config, excluded, script]);
  return createHash('sha256').update(inputs).digest('hex').slice(0, 12);
}

/** The Debian packages that an image lists, as its Dockerfile reads them too. */
export function readPackages(folder: string): string[] {
  const lines = readFileSync(join(folder, 'packages.txt'), 'utf8').split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('#'));
}

/** Writes the root file system of an image as a tar, without Docker. Needs mmdebstrap and unshare. */
export async function writeDebianRoot(path: string, { packages, variant, prepare, finish }: DebianRoot): Promise<void> {
  const guard = new Guard(createFolder());
  const root = join(guard.folder, 'root');
  try {
    const built = await guard.run({
      name: 'mmdebstrap',
      command: 'unshare',
      // Whatever it mounts or starts ends with it.
      args: [
        '--mount',
        '--pid',
        '--fork',
        '--kill-child',
        'mmdebstrap',
        '--mode=root',
        `--variant=${variant}`,
        `--format=${finish === undefined ? 'tar' : 'directory'}`,
        `--include=${packages.join(',')}`,
        ...(prepare === undefined ? [] : [`--essential-hook=sh '${prepare}' "$1"`]),
        ...excluded.map((path) => `--dpkgopt=path-exclude=${path}`),
        // What is left of an image that is made of nothing else is passed on, and the licences with it.
        ...(variant === 'extract' ? ['--dpkgopt=path-include=/usr/share/doc/*/copyright'] : []),
        suite,
        finish === undefined ? path : root,
      ],
      cwd: guard.folder,
      environment: { ...process.env, TMPDIR: guard.folder },
      log: join(guard.folder, 'mmdebstrap.log'),
    });
    const exit = await guard.wait(built);
    if (exit !== 'with code 0') {
      throw new Error(`The image could not be built: mmdebstrap ended ${exit}.\n${tail(built.command.log)}`);
    }
    if (finish === undefined) return;
    execFileSync('sh', [finish, root]);
    tar(['--create', `--file=${path}`, '--numeric-owner', `--directory=${root}`, '.']);
  } finally {
    await guard.close();
  }
}
