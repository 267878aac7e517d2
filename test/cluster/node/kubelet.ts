import { stringify } from 'yaml';
import { clusterDomain, containerdSocket, dnsAddress, nodeName, podRange, type NodeFiles } from './layout.ts';

export interface KubeletSettings {
  readonly files: NodeFiles;
  /** Path of the certificate of the authority that clients of the kubelet are signed by. */
  readonly authority: string;
  readonly address: string;
  /** Above all pods, in every hierarchy of control groups. */
  readonly cgroup: string;
}

/** The text of the kubelet's configuration. */
export function kubeletConfig({ files, authority, address, cgroup }: KubeletSettings): string {
  return stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address,
    authentication: { anonymous: { enabled: false }, x509: { clientCAFile: authority } },
    authorization: { mode: 'Webhook' },
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${cgroup}`,
    failCgroupV1: false,
    failSwapOn: false,
    clusterDNS: [dnsAddress],
    clusterDomain,
    resolvConf: files.resolvConf,
    containerRuntimeEndpoint: `unix://${containerdSocket}`,
    podLogsDir: files.podLogs,
    // What else fills this machine's disk is not the tests' business.
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    evictionHard: {
      'memory.available': '50Mi',
      'nodefs.available': '0%',
      'nodefs.inodesFree': '0%',
      'imagefs.available': '0%',
    },
    registerWithTaints: [],
    readOnlyPort: 0,
    kubeAPIQPS: 1000,
    kubeAPIBurst: 2000,
  });
}

export function kubeletArguments({ files, address }: KubeletSettings, kubeconfig: string): string[] {
  return [
    `--config=${files.kubeletConfig}`,
    `--kubeconfig=${kubeconfig}`,
    `--root-dir=${files.kubeletRoot}`,
    `--cert-dir=${files.kubeletRoot}/pki`,
    `--volume-plugin-dir=${files.kubeletRoot}/volume-plugins`,
    `--hostname-override=${nodeName}`,
    `--node-ip=${address}`,
  ];
}

/** kube-proxy leads the addresses of Services to pods. */
export function kubeProxyArguments(kubeconfig: string): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    '--proxy-mode=nftables',
    `--hostname-override=${nodeName}`,
    `--cluster-cidr=${podRange}`,
    // Settings of the machine, which are not ours to change.
    '--conntrack-max-per-core=0',
    '--conntrack-tcp-timeout-established=0',
    '--conntrack-tcp-timeout-close-wait=0',
  ];
}
