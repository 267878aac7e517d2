import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The Go module that pins etcd and Kubernetes. */
export const moduleFolder = fileURLToPath(new URL('control-plane', import.meta.url));

const goMod = readFileSync(join(moduleFolder, 'go.mod'), 'utf8');

/** The pinned version of Kubernetes, as `v1.36.3`. */
export const kubernetesVersion = pinned('k8s.io/kubernetes (v\\S+)');
/** The oldest Go that can build it, as `1.26.0`. */
export const goVersion = pinned('^go (\\S+)');

const versionPackage = 'k8s.io/component-base/version';
const [, major, minor] = /^v(\d+)\.(\d+)\./.exec(kubernetesVersion) ?? [];
// A server without these reports no version, which breaks its clients.
const versionFlags = { gitVersion: kubernetesVersion, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' };

/** What is built, the quickest first. */
export const packages = {
  etcd: 'go.etcd.io/etcd/server/v3',
  kubectl: 'k8s.io/kubernetes/cmd/kubectl',
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
  'kube-scheduler': 'k8s.io/kubernetes/cmd/kube-scheduler',
} as const;

export const buildFlags = [
  '-mod=readonly',
  '-buildvcs=false',
  '-trimpath',
  `-ldflags=-s -w ${Object.entries(versionFlags)
    .map(([name, value]) => `-X ${versionPackage}.${name}=${value}`)
    .join(' ')}`,
];

/** Names everything that the executables are a function of; safe as the name of a folder. */
export const buildKey = [
  kubernetesVersion,
  process.platform,
  process.arch,
  createHash('sha256')
    .update(goMod)
    .update(readFileSync(join(moduleFolder, 'go.sum')))
    .update(JSON.stringify([packages, buildFlags]))
    .digest('hex')
    .slice(0, 12),
].join('-');

function pinned(pattern: string): string {
  const version = new RegExp(pattern, 'm').exec(goMod)?.[1];
  if (version === undefined) throw new Error(`${moduleFolder}/go.mod has no line that matches ${pattern}.`);
  return version;
}
