import { fileURLToPath } from 'node:url';
import { goModule, pinned } from '../go-module.ts';

const containerdFolder = folderOf('containerd');
const containerdVersion = pinned(containerdFolder, 'github.com/containerd/containerd/v2 (v\\S+)');
const plugins = 'github.com/containernetworking/plugins/plugins';

/** The container runtime and the plugins that give each pod its network. */
export const containerd = goModule({
  name: 'containerd',
  folder: containerdFolder,
  version: containerdVersion,
  variables: { 'github.com/containerd/containerd/v2/version.Version': containerdVersion },
  packages: {
    loopback: `${plugins}/main/loopback`,
    ptp: `${plugins}/main/ptp`,
    'host-local': `${plugins}/ipam/host-local`,
    portmap: `${plugins}/meta/portmap`,
    'containerd-shim-runc-v2': 'github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2',
    ctr: 'github.com/containerd/containerd/v2/cmd/ctr',
    containerd: 'github.com/containerd/containerd/v2/cmd/containerd',
  },
});

const corednsFolder = folderOf('coredns');

export const coredns = goModule({
  name: 'CoreDNS',
  folder: corednsFolder,
  version: pinned(corednsFolder, 'github.com/coredns/coredns (v\\S+)'),
  packages: { coredns: 'github.com/coredns/coredns' },
});

const kubeRouterFolder = folderOf('kube-router');

/**
 * Of it only the part that enforces NetworkPolicies. The one of sigs.k8s.io/kube-network-policies needs a kernel with
 * CONFIG_NFT_QUEUE, which not all have; this one needs ip sets.
 */
export const kubeRouter = goModule({
  name: 'kube-router',
  folder: kubeRouterFolder,
  version: pinned(kubeRouterFolder, 'github.com/cloudnativelabs/kube-router/v2 (v\\S+)'),
  packages: { 'kube-router': 'github.com/cloudnativelabs/kube-router/v2/cmd/kube-router' },
});

const exporterFolder = folderOf('postgres-exporter');
/** As the tag of the image that is rendered. */
export const exporterVersion = pinned(exporterFolder, 'github.com/prometheus-community/postgres_exporter (v\\S+)');

/** What serves the metrics of PostgreSQL in the members. */
export const postgresExporter = goModule({
  name: 'postgres_exporter',
  folder: exporterFolder,
  version: exporterVersion,
  variables: { 'github.com/prometheus/common/version.Version': exporterVersion.slice(1) },
  packages: { postgres_exporter: 'github.com/prometheus-community/postgres_exporter/cmd/postgres_exporter' },
});

/** The first process of each pod, and of the node itself. */
export const pause = goModule({
  name: 'pause',
  folder: folderOf('pause'),
  version: 'v1',
  packages: { pause: 'plumbline.dev/node/pause' },
});

function folderOf(name: string): string {
  return fileURLToPath(new URL(`../node-parts/${name}`, import.meta.url));
}
