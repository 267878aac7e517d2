import { serviceRange } from '../parts.ts';
import { nodeName } from './layout.ts';
import { watcherRole } from './rbac.ts';

/** kube-router runs beside the kubelet, and of its three tasks only that of a firewall is on. */
export const networkPolicyUser = 'system:kube-router';

export function kubeRouterArguments(kubeconfig: string): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    '--run-firewall=true',
    '--run-router=false',
    '--run-service-proxy=false',
    '--run-loadbalancer=false',
    `--hostname-override=${nodeName}`,
    `--service-cluster-ip-range=${serviceRange}`,
    '--health-port=0',
    '--metrics-port=0',
  ];
}

/** The objects that let it watch what NetworkPolicies speak of. */
export function networkPolicyObjects(): object[] {
  return watcherRole(networkPolicyUser, {
    '': ['nodes', 'namespaces', 'pods', 'services', 'endpoints'],
    'networking.k8s.io': ['networkpolicies'],
    'discovery.k8s.io': ['endpointslices'],
  });
}
