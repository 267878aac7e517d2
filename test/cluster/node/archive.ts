import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** An image that a node can load. */
export interface Image {
  /** What a pod's `image` says. */
  readonly reference: string;
  /** Path of a docker-archive: a tar of one layer, its configuration and a manifest. */
  readonly archive: string;
}

export interface ImageConfig {
  readonly User?: string;
  readonly Env?: readonly string[];
  readonly Entrypoint?: readonly string[] | undefined;
  readonly Cmd?: readonly string[] | undefined;
}

/**
 * Writes an image as docker-archive (https://github.com/moby/docker-image-spec/blob/main/v1.2.md), under its name when it is whole.
 * @param layer path of a tar, next to which there is room; it is moved into the archive
 */
export async function writeArchive(image: Image, layer: string, config: ImageConfig): Promise<void> {
  mkdirSync(dirname(image.archive), { recursive: true });
  const folder = mkdtempSync(`${image.archive}.partial-`);
  try {
    renameSync(layer, join(folder, 'layer.tar'));
    const digest = createHash('sha256');
    await pipeline(createReadStream(join(folder, 'layer.tar')), digest);
    const description = {
      architecture: process.arch === 'x64' ? 'amd64' : process.arch,
      os: 'linux',
      config,
      rootfs: { type: 'layers', diff_ids: [`sha256:${digest.digest('hex')}`] },
    };
    const manifest = [{ Config: 'config.json', RepoTags: [image.reference], Layers: ['layer.tar'] }];
    writeFileSync(join(folder, 'config.json'), JSON.stringify(description));
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
    const whole = join(folder, basename(image.archive));
    tar(['--create', `--file=${whole}`, `--directory=${folder}`, 'manifest.json', 'config.json', 'layer.tar']);
    renameSync(whole, image.archive);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @throws when tar fails, with what it said. */
export function tar(args: readonly string[]): void {
  const { status, error, stderr } = spawnSync('tar', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`tar ${args.join(' ')} failed: ${error?.message ?? stderr}`, { cause: error });
}
