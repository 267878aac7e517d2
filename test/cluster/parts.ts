import { join } from 'node:path';

/** The servers of a control plane, in the order in which they start. */
export const allParts = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;
export type Part = (typeof allParts)[number];

/** On 127.0.0.1, but the API server's at its own address. etcd has none: it listens on a socket in the folder. */
export interface Ports {
  readonly apiServer: number;
  readonly controllerManager: number;
  readonly scheduler: number;
}

export interface Layout {
  readonly folder: string;
  /** Where the API server listens. On a loopback address it is for this machine alone, otherwise for a node too. */
  readonly address: string;
  readonly ports: Ports;
  readonly hasControllerManager: boolean;
  readonly auditLogPath: string | undefined;
  readonly apiServerFlags: readonly string[];
  readonly controllerManagerFlags: readonly string[];
  readonly crds: readonly string[];
}

/** Where Services get their addresses from. */
export const serviceRange = '10.96.0.0/16';
/** The address of the Service `kubernetes`: the first of the range. */
export const serviceAddress = '10.96.0.1';

// Sockets in the working directory, so that no port can be taken and nobody else can connect. Their names look like host and
// port, because etcd insists on that, and the API server's check for etcd looks at this part of the URL only.
const etcdSocket = 'unix://etcd:2379';
const etcdPeerSocket = 'unix://etcd:2380';

// By default 20 requests per second, which alone makes the start of the controller manager take four seconds.
const noThrottling = ['--kube-api-qps=1000', '--kube-api-burst=2000'];

/** The command line of a part. Paths are those that `writeFiles` (files.ts) writes. */
export function argumentsOf(part: Part, layout: Layout): string[] {
  switch (part) {
    case 'etcd':
      return etcd(layout);
    case 'kube-apiserver':
      return [...apiServer(layout), ...layout.apiServerFlags];
    case 'kube-controller-manager':
      return [...controllerManager(layout), ...layout.controllerManagerFlags];
    case 'kube-scheduler':
      return scheduler(layout);
  }
}

function etcd({ folder }: Layout): string[] {
  return [
    '--name=plumbline',
    `--data-dir=${join(folder, 'etcd')}`,
    '--unsafe-no-fsync',
    `--quota-backend-bytes=${8 * 1024 ** 3}`,
    `--listen-client-urls=${etcdSocket}`,
    `--advertise-client-urls=${etcdSocket}`,
    `--listen-peer-urls=${etcdPeerSocket}`,
    `--initial-advertise-peer-urls=${etcdPeerSocket}`,
    `--initial-cluster=plumbline=${etcdPeerSocket}`,
    '--log-level=warn',
  ];
}

function apiServer({ folder, address, ports, hasControllerManager, auditLogPath }: Layout): string[] {
  return [
    `--etcd-servers=${etcdSocket}`,
    `--bind-address=${address}`,
    `--secure-port=${ports.apiServer}`,
    ...(address.startsWith('127.') ? withoutNode : withNode(folder, address)),
    ...servingCertificate(folder),
    `--client-ca-file=${join(folder, 'ca.crt')}`,
    '--authorization-mode=Node,RBAC',
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-key-file=${join(folder, 'service-accounts.pub')}`,
    `--service-account-signing-key-file=${join(folder, 'service-accounts.key')}`,
    `--service-cluster-ip-range=${serviceRange}`,
    '--allow-privileged=true',
    '--profiling=false',
    // Nobody would create the ServiceAccount that every pod needs.
    ...(hasControllerManager ? [] : ['--disable-admission-plugins=ServiceAccount']),
    ...(auditLogPath === undefined
      ? []
      : [
          `--audit-policy-file=${join(folder, 'audit-policy.yaml')}`,
          `--audit-log-path=${auditLogPath}`,
          // All of it in one file: at 100 MB it would go on in another.
          '--audit-log-maxsize=100000',
        ]),
  ];
}

const withoutNode = [
  // Must not be a loopback address, and without nodes nobody dials it: one of those reserved for documentation (RFC 5737).
  '--advertise-address=192.0.2.1',
  '--endpoint-reconciler-type=none',
];

function withNode(folder: string, address: string): string[] {
  return [
    `--advertise-address=${address}`,
    '--endpoint-reconciler-type=master-count',
    // Its name is known to nobody.
    '--kubelet-preferred-address-types=InternalIP',
    `--kubelet-client-certificate=${join(folder, 'kubelet-client.crt')}`,
    `--kubelet-client-key=${join(folder, 'kubelet-client.key')}`,
  ];
}

function controllerManager({ folder, ports }: Layout): string[] {
  return [
    `--kubeconfig=${join(folder, 'kube-controller-manager.kubeconfig')}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${ports.controllerManager}`,
    ...servingCertificate(folder),
    '--leader-elect=false',
    ...noThrottling,
    '--use-service-account-credentials',
    `--service-account-private-key-file=${join(folder, 'service-accounts.key')}`,
    `--root-ca-file=${join(folder, 'ca.crt')}`,
    `--cluster-signing-cert-file=${join(folder, 'ca.crt')}`,
    `--cluster-signing-key-file=${join(folder, 'ca.key')}`,
    '--profiling=false',
  ];
}

function scheduler({ folder, ports }: Layout): string[] {
  return [
    `--kubeconfig=${join(folder, 'kube-scheduler.kubeconfig')}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${ports.scheduler}`,
    ...servingCertificate(folder),
    '--leader-elect=false',
    ...noThrottling,
    '--profiling=false',
  ];
}

function servingCertificate(folder: string): string[] {
  return [`--tls-cert-file=${join(folder, 'server.crt')}`, `--tls-private-key-file=${join(folder, 'server.key')}`];
}
