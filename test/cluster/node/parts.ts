import { builtBinaries } from '../build.ts';
import { kubernetesNode } from '../pins.ts';
import { containerd, coredns, kubeRouter, pause } from './pins.ts';

/** Paths of the executables that a node runs. */
export type NodeBinaries = Readonly<
  Record<
    | keyof (typeof containerd)['packages']
    | keyof (typeof coredns)['packages']
    | keyof (typeof kubernetesNode)['packages']
    | 'kube-router'
    | 'pause',
    string
  >
>;

/** Finds them in the cache, where the pinned versions are built first if they are missing. */
export async function locateNodeBinaries(onProgress?: (line: string) => void): Promise<NodeBinaries> {
  return {
    ...(await builtBinaries(pause, onProgress)),
    ...(await builtBinaries(containerd, onProgress)),
    ...(await builtBinaries(kubernetesNode, onProgress)),
    ...(await builtBinaries(coredns, onProgress)),
    ...(await builtBinaries(kubeRouter, onProgress)),
  };
}
