import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { tar, writeArchive, type Image } from './archive.ts';
import { pauseImage } from './layout.ts';

/** The image of the first process of each pod. @param pause path of its executable in the cache, next to which the archive is kept */
export async function pauseArchive(pause: string): Promise<Image> {
  const image: Image = { reference: pauseImage, archive: join(dirname(pause), 'pause.tar') };
  if (existsSync(image.archive)) return image;
  const layer = `${image.archive}.${process.pid}.layer`;
  mkdirSync(dirname(layer), { recursive: true });
  tar([
    '--create',
    `--file=${layer}`,
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    `--directory=${dirname(pause)}`,
    'pause',
  ]);
  await writeArchive(image, layer, { Entrypoint: ['/pause'], User: '65535:65535' });
  return image;
}
