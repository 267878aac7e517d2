import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '../build.ts';
import { createFolder } from '../folder.ts';
import { withLock } from '../lock.ts';
import { tail } from '../log.ts';
import { Guard } from '../process.ts';
import { createProgress } from '../progress.ts';
import { writeArchive, type Image, type ImageConfig } from './archive.ts';
import { installPrograms } from './requirements.ts';

const source = fileURLToPath(new URL('../../../images/postgresql', import.meta.url));
const reference = 'plumbline.test/postgresql:17';
const suite = 'trixie';
// What Debian's own base image for Docker leaves out too.
const excluded = ['/usr/share/doc/*', '/usr/share/man/*', '/usr/share/info/*', '/usr/share/locale/*'];

/**
 * The image of `images/postgresql`, for a node to load. Without Docker: it is put together from the same packages, the first time,
 * which takes one or two minutes, and then kept in the cache.
 */
export async function postgresqlImage(onProgress?: (line: string) => void): Promise<Image> {
  const prepare = join(source, 'prepare.sh');
  const packages = readPackages();
  const config = readConfig();
  const inputs = JSON.stringify([suite, process.arch, packages, config, excluded, readFileSync(prepare, 'utf8')]);
  const key = createHash('sha256').update(inputs).digest('hex').slice(0, 12);
  const image: Image = { reference, archive: join(cacheFolder(), 'images', `postgresql-17-${key}.tar`) };
  if (existsSync(image.archive)) return image;

  await installPrograms({ mmdebstrap: 'mmdebstrap', unshare: 'util-linux' }, onProgress);
  mkdirSync(dirname(image.archive), { recursive: true });
  const progress = createProgress(onProgress);
  const onWait = (pid: number): void => progress.line(`Waiting for process ${pid}, which builds the image …`);
  await withLock(`${image.archive}.lock`, onWait, async () => {
    if (existsSync(image.archive)) return;
    await progress.during(`Building the image ${reference} from Debian packages, once`, () =>
      build(image, packages, prepare, config),
    );
  });
  return image;
}

async function build(image: Image, packages: readonly string[], prepare: string, config: ImageConfig): Promise<void> {
  const guard = new Guard(createFolder());
  try {
    const layer = `${image.archive}.layer.partial`;
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
        '--variant=minbase',
        '--format=tar',
        `--include=${packages.join(',')}`,
        `--essential-hook=sh '${prepare}' "$1"`,
        ...excluded.map((path) => `--dpkgopt=path-exclude=${path}`),
        suite,
        layer,
      ],
      cwd: guard.folder,
      environment: { ...process.env, TMPDIR: guard.folder },
      log: join(guard.folder, 'mmdebstrap.log'),
    });
    const exit = await guard.wait(built);
    if (exit !== 'with code 0') {
      throw new Error(`The image could not be built: mmdebstrap ended ${exit}.\n${tail(built.command.log)}`);
    }
    await writeArchive(image, layer, config);
  } finally {
    await guard.close();
  }
}

function readPackages(): string[] {
  const lines = readFileSync(join(source, 'packages.txt'), 'utf8').split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('#'));
}

/** What the Dockerfile says about running it, so that both builds agree. */
function readConfig(): ImageConfig {
  const dockerfile = readFileSync(join(source, 'Dockerfile'), 'utf8');
  const all = (instruction: string): string[] =>
    [...dockerfile.matchAll(new RegExp(`^${instruction} (.+)$`, 'gm'))].map(([, rest = '']) => rest);
  const [user = ''] = all('USER');
  return { User: user, Env: all('ENV'), Cmd: JSON.parse(all('CMD')[0] ?? '[]') as string[] };
}
