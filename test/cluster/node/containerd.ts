import { containerdSocket, pauseImage, podRange, type NodeFiles } from './layout.ts';

/** The text of containerd's configuration. @param plugins folder of the executables of the CNI */
export function containerdConfig({ containerdRoot, cniFolder }: NodeFiles, plugins: string): string {
  const runtime = `plugins."io.containerd.cri.v1.runtime"`;
  return `version = 3
root = "${containerdRoot}"
state = "/run/containerd"
disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.nri.v1.nri"]

[grpc]
address = "${containerdSocket}"

[${runtime}]
# Where lowering it is not permitted, every pod would fail with "can't get final child's PID from pipe".
restrict_oom_score_adj = true
# It would load a profile into the machine's kernel.
disable_apparmor = true

[${runtime}.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
options.SystemdCgroup = false

[${runtime}.cni]
bin_dirs = ["${plugins}"]
conf_dir = "${cniFolder}"

[plugins."io.containerd.cri.v1.images".pinned_images]
sandbox = "${pauseImage}"
`;
}

/**
 * The text of the CNI's configuration. Pods are routed, not bridged: so all their traffic passes the packet filter, also between
 * two pods, without a setting of the machine's for bridges.
 */
export function cniConfig(): string {
  const ipam = {
    type: 'host-local',
    dataDir: '/run/cni',
    ranges: [[{ subnet: podRange }]],
    routes: [{ dst: '0.0.0.0/0' }],
  };
  const plugins = [
    { type: 'ptp', ipam },
    { type: 'portmap', capabilities: { portMappings: true }, backend: 'nftables' },
  ];
  return JSON.stringify({ cniVersion: '1.0.0', name: 'pods', plugins });
}
