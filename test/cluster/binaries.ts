import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { builtBinaries } from './build.ts';
import type { Part } from './parts.ts';
import { controlPlane } from './pins.ts';

/** Paths of executables. What may be missing in a folder of somebody else's is optional. */
export type Binaries = Readonly<Record<'etcd' | 'kube-apiserver' | 'kubectl', string>> &
  Readonly<Partial<Record<Part, string>>>;

const required = ['etcd', 'kube-apiserver', 'kubectl'] as const;
const optional = ['kube-controller-manager', 'kube-scheduler'] as const;

/**
 * Finds the executables of the control plane: in the folder `KUBEBUILDER_ASSETS` if it is set (the convention of
 * controller-runtime's envtest), otherwise in the cache, where the pinned versions are built first if they are missing.
 * @param onProgress receives each line of the build's progress; defaults to standard error
 * @throws when a tool is missing, in one sentence that says what to install.
 */
export async function locateBinaries(onProgress?: (line: string) => void): Promise<Binaries> {
  const assets = process.env['KUBEBUILDER_ASSETS'];
  // Whoever starts them works in folders of their own.
  return assets ? assetsIn(resolve(assets)) : builtBinaries(controlPlane, onProgress);
}

function assetsIn(folder: string): Binaries {
  const missing = required.filter((name) => !existsSync(join(folder, name)));
  if (missing.length > 0) {
    throw new Error(
      `KUBEBUILDER_ASSETS is ${folder}, but ${missing.join(', ')} is not there: put etcd, kube-apiserver and kubectl into ` +
        'that folder, or unset it to have them built.',
    );
  }
  const present = [...required, ...optional].filter((name) => existsSync(join(folder, name)));
  return Object.fromEntries(present.map((name) => [name, join(folder, name)])) as unknown as Binaries;
}
