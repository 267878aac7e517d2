import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '../build.ts';
import { withLock } from '../lock.ts';
import { createProgress } from '../progress.ts';
import { writeArchive, type Image } from './archive.ts';
import { imageKey, readPackages, writeDebianRoot, type DebianRoot } from './debian-root.ts';
import { readConfig } from './dockerfile.ts';
import { installPrograms } from './requirements.ts';

const source = fileURLToPath(new URL('../../../images/postgresql', import.meta.url));
const reference = 'plumbline.test/postgresql:17';

/**
 * The image of `images/postgresql`, for a node to load. Without Docker: it is put together from the same packages, the first time,
 * which takes one or two minutes, and then kept in the cache.
 */
export async function postgresqlImage(onProgress?: (line: string) => void): Promise<Image> {
  const root: DebianRoot = {
    packages: readPackages(source),
    variant: 'minbase',
    prepare: join(source, 'prepare.sh'),
  };
  const config = readConfig(join(source, 'Dockerfile'));
  const image: Image = {
    reference,
    archive: join(cacheFolder(), 'images', `postgresql-17-${imageKey(root, config)}.tar`),
  };
  if (existsSync(image.archive)) return image;

  await installPrograms({ mmdebstrap: 'mmdebstrap', unshare: 'util-linux' }, onProgress);
  mkdirSync(dirname(image.archive), { recursive: true });
  const progress = createProgress(onProgress);
  const onWait = (pid: number): void => progress.line(`Waiting for process ${pid}, which builds the image …`);
  await withLock(`${image.archive}.lock`, onWait, async () => {
    if (existsSync(image.archive)) return;
    await progress.during(`Building the image ${reference} from Debian packages, once`, async () => {
      const layer = `${image.archive}.layer.partial`;
      await writeDebianRoot(layer, root);
      await writeArchive(image, layer, config);
    });
  });
  return image;
}
