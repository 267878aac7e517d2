import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheFolder } from '../build.ts';
import { createFolder } from '../folder.ts';
import { withLock } from '../lock.ts';
import { Guard } from '../process.ts';
import { createProgress } from '../progress.ts';
import type { Image } from './archive.ts';
import { nodeFiles } from './layout.ts';
import { LinuxNode } from './linux-node.ts';
import type { NodeBinaries } from './parts.ts';
import { pauseArchive } from './pause-image.ts';
import { Sandbox } from './sandbox.ts';

/**
 * A folder in the cache that can become containerd's root: the images are in it, unpacked, which takes seconds each time
 * otherwise. The image of each pod's first process is always among them.
 */
export async function imageStore(
  images: readonly Image[],
  binaries: NodeBinaries,
  onProgress?: (line: string) => void,
): Promise<string> {
  const all = [await pauseArchive(binaries.pause), ...images];
  const key = createHash('sha256').update(binaries.containerd);
  for (const { reference, archive } of all) {
    const { size, mtimeMs } = statSync(archive);
    key.update(JSON.stringify([reference, archive, size, mtimeMs]));
  }
  const store = join(cacheFolder(), 'image-stores', key.digest('hex').slice(0, 12));
  if (existsSync(store)) return store;

  mkdirSync(dirname(store), { recursive: true });
  const progress = createProgress(onProgress);
  const onWait = (pid: number): void => progress.line(`Waiting for process ${pid}, which unpacks images …`);
  await withLock(`${store}.lock`, onWait, async () => {
    if (existsSync(store)) return;
    const names = all.map(({ reference }) => reference).join(', ');
    await progress.during(`Unpacking ${names}, once`, () => unpack(all, binaries, store));
  });
  return store;
}

/** Makes a copy that containerd may write to. What it only reads is shared with the store where both are on one file system. */
export function copyStore(store: string, root: string): void {
  const { status } = spawnSync('cp', ['--archive', '--link', store, root]);
  if (status === 0) return ownDatabases(store, root);
  rmSync(root, { recursive: true, force: true });
  const { status: copied, error, stderr } = spawnSync('cp', ['--archive', store, root], { encoding: 'utf8' });
  if (copied !== 0) throw new Error(`${store} could not be copied: ${error?.message ?? stderr}`, { cause: error });
}

async function unpack(images: readonly Image[], binaries: NodeBinaries, store: string): Promise<void> {
  const partial = `${store}.partial`;
  rmSync(partial, { recursive: true, force: true });
  const guard = new Guard(createFolder());
  try {
    const sandbox = await Sandbox.create(guard, binaries.pause);
    const node = new LinuxNode(sandbox, binaries, { ...nodeFiles(sandbox.folder), containerdRoot: partial });
    await node.startRuntime();
    for (const image of images) await node.loadImage(image);
  } finally {
    await guard.close();
  }
  renameSync(partial, store);
}

/** containerd keeps its records in files that it writes to in place. */
function ownDatabases(store: string, root: string): void {
  for (const plugin of readdirSync(store)) {
    for (const name of readdirSync(join(store, plugin))) {
      if (!name.endsWith('.db')) continue;
      const copy = join(root, plugin, name);
      rmSync(copy);
      copyFileSync(join(store, plugin, name), copy);
    }
  }
}
