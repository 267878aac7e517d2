import { clusterDomain, dnsAddress, nodeName } from './layout.ts';
import { watcherRole } from './rbac.ts';

/** CoreDNS runs beside the kubelet; a Service of the usual name and address leads to it. */
export const dnsUser = 'system:coredns';

/** The text of CoreDNS's configuration. Names outside the cluster do not exist: tests reach nothing there. */
export function corefile(kubeconfig: string, address: string): string {
  return `.:53 {
  bind ${address}
  errors
  ready 127.0.0.1:8181
  kubernetes ${clusterDomain} in-addr.arpa ip6.arpa {
    kubeconfig ${kubeconfig}
    pods insecure
    ttl 5
  }
}
`;
}

/** The objects through which pods find it and it may read Services. @param address the node's */
export function dnsObjects(address: string): object[] {
  const metadata = { name: 'kube-dns', namespace: 'kube-system' };
  const ports = [
    { name: 'dns', port: 53, protocol: 'UDP' },
    { name: 'dns-tcp', port: 53, protocol: 'TCP' },
  ];
  return [
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { clusterIP: dnsAddress, ports } },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...metadata, labels: { 'kubernetes.io/service-name': metadata.name } },
      addressType: 'IPv4',
      endpoints: [{ addresses: [address], nodeName, conditions: { ready: true } }],
      ports,
    },
    ...watcherRole(dnsUser, { '': ['services', 'pods', 'namespaces'], 'discovery.k8s.io': ['endpointslices'] }),
  ];
}
