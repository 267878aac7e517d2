import { join } from 'node:path';

/** The only node's name. */
export const nodeName = 'node';
/** Where pods get their addresses from. */
export const podRange = '10.244.0.0/16';
/** The cluster's DNS server, in the range of Services. */
export const dnsAddress = '10.96.0.10';
export const clusterDomain = 'cluster.local';
export const pauseImage = 'plumbline.test/pause:1';
/** Seen only inside the node, where /run is its own. */
export const containerdSocket = '/run/containerd/containerd.sock';

/** Paths in the node's own folder. */
export interface NodeFiles {
  readonly folder: string;
  readonly containerdConfig: string;
  readonly containerdRoot: string;
  readonly cniFolder: string;
  readonly kubeletConfig: string;
  readonly kubeletRoot: string;
  readonly podLogs: string;
  readonly resolvConf: string;
  readonly corefile: string;
  readonly volumes: string;
}

export function nodeFiles(folder: string): NodeFiles {
  return {
    folder,
    containerdConfig: join(folder, 'containerd.toml'),
    containerdRoot: join(folder, 'containerd'),
    cniFolder: join(folder, 'cni'),
    kubeletConfig: join(folder, 'kubelet.yaml'),
    kubeletRoot: join(folder, 'kubelet'),
    podLogs: join(folder, 'pod-logs'),
    resolvConf: join(folder, 'resolv.conf'),
    corefile: join(folder, 'Corefile'),
    volumes: join(folder, 'volumes'),
  };
}
