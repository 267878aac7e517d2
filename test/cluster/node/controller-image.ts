import { copyFileSync, existsSync, globSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defaultImage } from '../../../constructs/install/image.ts';
import { bundle } from '../../../images/controller/bundle.ts';
import { noticesFile } from '../../../images/controller/notices.ts';
import { cacheFolder } from '../build.ts';
import { withLock } from '../lock.ts';
import { createProgress } from '../progress.ts';
import { tar, writeArchive, type Image } from './archive.ts';
import { imageKey, readPackages, writeDebianRoot, type DebianRoot } from './debian-root.ts';
import { readConfig } from './dockerfile.ts';
import { installPrograms } from './requirements.ts';

const project = fileURLToPath(new URL('../../..', import.meta.url));
const source = join(project, 'images/controller');

/**
 * Builds the image of `images/controller` into a folder, under the name that the Deployment of `dist/plumbline/` has. Without Docker: it is put
 * together from the same packages, which are kept in the cache, this very Node and the sources as they are now.
 */
export async function controllerImage(folder: string, onProgress?: (line: string) => void): Promise<Image> {
  const image: Image = { reference: `docker.io/library/${defaultImage}`, archive: join(folder, 'controller.tar') };
  const layer = join(folder, 'controller-layer.tar');
  const content = join(folder, 'controller-content');
  copyFileSync(await controllerRoot(onProgress), layer);
  for (const name of ['usr/local/bin', 'plumbline']) mkdirSync(join(content, name), { recursive: true });
  copyFileSync(process.execPath, join(content, 'usr/local/bin/node'));
  const [licence = ''] = globSync('node_modules/node/node_modules/node-*/LICENSE', { cwd: project });
  copyFileSync(join(project, licence), join(content, 'usr/local/LICENSE'));
  await bundle(join(content, 'plumbline/controller.mjs'));
  for (const path of [join(project, 'LICENSE'), noticesFile])
    copyFileSync(path, join(content, 'plumbline', basename(path)));
  tar([
    '--append',
    `--file=${layer}`,
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    `--directory=${content}`,
    'usr/local',
    'plumbline',
  ]);
  await writeArchive(image, layer, readConfig(join(source, 'Dockerfile')));
  rmSync(content, { recursive: true });
  return image;
}

/** Path of a tar with what Node is linked to. */
async function controllerRoot(onProgress?: (line: string) => void): Promise<string> {
  const root: DebianRoot = { packages: readPackages(source), variant: 'extract', finish: join(source, 'finish.sh') };
  const path = join(cacheFolder(), 'images', `controller-root-${imageKey(root, {})}.tar`);
  if (existsSync(path)) return path;
  await installPrograms({ mmdebstrap: 'mmdebstrap', unshare: 'util-linux' }, onProgress);
  mkdirSync(dirname(path), { recursive: true });
  const progress = createProgress(onProgress);
  const onWait = (pid: number): void => progress.line(`Waiting for process ${pid}, which builds the image …`);
  await withLock(`${path}.lock`, onWait, async () => {
    if (existsSync(path)) return;
    await progress.during('Building what the controller’s image is made of from Debian packages, once', () =>
      writeDebianRoot(`${path}.partial`, root),
    );
    renameSync(`${path}.partial`, path);
  });
  return path;
}
