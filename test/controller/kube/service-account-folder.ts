import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Mounts a service account as the kubelet does: the files are links into a folder that is swapped as a whole, by the
 * rename of one link.
 */
export async function mountServiceAccount(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  swaps += 1;
  const version = `..${swaps}`;
  await mkdir(join(folder, version), { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(folder, version, name), content);
    // It is there from the second time on.
    await symlink(join('..data', name), join(folder, name)).catch(() => undefined);
  }
  await symlink(version, join(folder, '..data_tmp'));
  await rename(join(folder, '..data_tmp'), join(folder, '..data'));
}

let swaps = 0;
