import { fileURLToPath } from 'node:url';
import { goModule, pinned } from './go-module.ts';

/** The Go module that pins etcd and Kubernetes. */
export const moduleFolder = fileURLToPath(new URL('control-plane', import.meta.url));

/** The pinned version of Kubernetes, as `v1.36.3`. */
export const kubernetesVersion = pinned(moduleFolder, 'k8s.io/kubernetes (v\\S+)');
/** The oldest Go that can build it, as `1.26.0`. */
export const goVersion = pinned(moduleFolder, '^go (\\S+)');

const versionPackage = 'k8s.io/component-base/version';
const [, major, minor] = /^v(\d+)\.(\d+)\./.exec(kubernetesVersion) ?? [];

const kubernetes = {
  folder: moduleFolder,
  version: kubernetesVersion,
  // A server without these reports no version, which breaks its clients.
  variables: {
    [`${versionPackage}.gitVersion`]: kubernetesVersion,
    [`${versionPackage}.gitMajor`]: major,
    [`${versionPackage}.gitMinor`]: minor,
    [`${versionPackage}.gitTreeState`]: 'clean',
  },
};

export const controlPlane = goModule({
  ...kubernetes,
  name: 'Kubernetes',
  packages: {
    etcd: 'go.etcd.io/etcd/server/v3',
    kubectl: 'k8s.io/kubernetes/cmd/kubectl',
    'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
    'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
    'kube-scheduler': 'k8s.io/kubernetes/cmd/kube-scheduler',
  },
});

/** What a node needs of Kubernetes, apart from the control plane, for which nobody should wait longer than necessary. */
export const kubernetesNode = goModule({
  ...kubernetes,
  name: 'kubelet and kube-proxy',
  packages: {
    'kube-proxy': 'k8s.io/kubernetes/cmd/kube-proxy',
    kubelet: 'k8s.io/kubernetes/cmd/kubelet',
  },
});
