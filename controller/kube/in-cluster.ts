import { access } from 'node:fs/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { ConnectionError } from './connection-error.ts';
import type { Target } from './kubeconfig.ts';
import { withTokenFile } from './token-file.ts';

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Whether this process looks like one in a pod with a service account. */
export async function isInCluster(root = ''): Promise<boolean> {
  try {
    await access(`${root}${SERVICE_ACCOUNT}/token`);
    return (process.env['KUBERNETES_SERVICE_HOST'] ?? '') !== '';
  } catch {
    return false;
  }
}

/**
 * The API server as a pod sees it: address from KUBERNETES_SERVICE_HOST and _PORT (a bare IPv6 address gets its
 * brackets), token, certificate authority and namespace from the mounted service account.
 * @param root put before the mount path; empty but in tests.
 * @throws ConnectionError outside of a pod.
 */
export async function targetInCluster(root = ''): Promise<Target> {
  if (!(await isInCluster(root))) {
    throw new ConnectionError(
      'not-in-cluster',
      `this is not a pod with a service account: KUBERNETES_SERVICE_HOST or ${root}${SERVICE_ACCOUNT}/token is missing. ` +
        'Give a kubeconfig, or set automountServiceAccountToken: true',
    );
  }
  const config = new KubeConfig();
  config.loadFromCluster(root);
  const cluster = config.getCurrentCluster();
  const user = config.getCurrentUser();
  if (cluster === null || user === null) throw new TypeError('client-node gave no in-cluster configuration');
  return {
    cluster,
    user: withTokenFile(user, `${root}${SERVICE_ACCOUNT}/token`),
    namespace: config.getContextObject(config.getCurrentContext())?.namespace,
    source: 'the service account of this pod',
  };
}
