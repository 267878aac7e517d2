import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheFolder } from '../build.ts';
import { unpackedPackage } from '../debian-package.ts';
import { tar, writeArchive, type Image } from './archive.ts';

/** An image whose containers start and end at once: what they run is BusyBox, which knows nothing under these names and says so. */
export async function crashingImage(): Promise<Image> {
  const image: Image = {
    reference: 'plumbline.test/crashing:17',
    archive: join(cacheFolder(), 'images', 'crashing.tar'),
  };
  if (existsSync(image.archive)) return image;
  const busybox = join(await unpackedPackage('busybox-static'), 'bin/busybox');
  mkdirSync(dirname(image.archive), { recursive: true });
  const root = mkdtempSync(`${image.archive}.partial-`);
  try {
    mkdirSync(join(root, 'bin'));
    for (const name of ['bash', 'python3']) copyFileSync(busybox, join(root, 'bin', name));
    const layer = join(root, 'layer.tar');
    tar(['--create', `--file=${layer}`, '--owner=0', '--group=0', '--numeric-owner', `--directory=${root}`, 'bin']);
    await writeArchive(image, layer, { Env: ['PATH=/bin'] });
  } finally {
    rmSync(root, { recursive: true });
  }
  return image;
}
