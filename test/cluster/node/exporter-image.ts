import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { exporterImage } from '../../../constructs/postgresql/images.ts';
import { builtBinaries, cacheFolder } from '../build.ts';
import { unpackedPackage } from '../debian-package.ts';
import { tar, writeArchive, type Image } from './archive.ts';
import { postgresExporter } from './pins.ts';

/**
 * The exporter under the name that is rendered, for a node to load. As the public image it is the program and BusyBox; without Docker: it is built from
 * the source of that release, the first time, which takes a minute, and then kept in the cache.
 */
export async function postgresExporterImage(onProgress?: (line: string) => void): Promise<Image> {
  const image: Image = {
    reference: exporterImage,
    archive: join(cacheFolder(), 'images', `postgres-exporter-${postgresExporter.key}.tar`),
  };
  if (existsSync(image.archive)) return image;
  const { postgres_exporter: program } = await builtBinaries(postgresExporter, onProgress);
  const busybox = join(await unpackedPackage('busybox-static', onProgress), 'bin/busybox');
  mkdirSync(dirname(image.archive), { recursive: true });
  const root = mkdtempSync(`${image.archive}.partial-`);
  try {
    mkdirSync(join(root, 'bin'));
    copyFileSync(program, join(root, 'bin/postgres_exporter'));
    copyFileSync(busybox, join(root, 'bin/busybox'));
    for (const name of ['sh', 'sleep']) symlinkSync('busybox', join(root, 'bin', name));
    const layer = join(root, 'layer.tar');
    tar(['--create', `--file=${layer}`, '--owner=0', '--group=0', '--numeric-owner', `--directory=${root}`, 'bin']);
    await writeArchive(image, layer, {
      User: 'nobody',
      Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
      Entrypoint: ['/bin/postgres_exporter'],
    });
  } finally {
    rmSync(root, { recursive: true });
  }
  return image;
}
