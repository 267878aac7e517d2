import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { isIPv6 } from 'node:net';
import { ConnectionError } from './connection-error.ts';
import type { Target } from './kubeconfig.ts';
import { tokenFileAuthenticator, withTokenFile } from './token-file.ts';

/** Where a pod finds its service account: files `token`, `ca.crt` and `namespace`. */
export const SERVICE_ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * The API server as a pod sees it: address from KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT, the rest from the
 * mounted service account. As in client-go's InClusterConfig, but that files are read again while the process runs.
 * @returns undefined outside of a pod, or in one without a service account.
 */
export async function targetInCluster(environment: NodeJS.ProcessEnv, folder: string): Promise<Target | undefined> {
  const host = environment['KUBERNETES_SERVICE_HOST'] ?? '';
  const port = environment['KUBERNETES_SERVICE_PORT'] ?? '443';
  if (host === '' || (await textOf(`${folder}/token`)) === undefined) return undefined;
  return {
    cluster: {
      name: 'in-cluster',
      // A bare IPv6 address is no host of a URL (https://github.com/kubernetes-client/javascript/issues/599).
      server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
      caFile: `${folder}/ca.crt`,
      skipTLSVerify: false,
    },
    user: withTokenFile({ name: 'service-account' }, `${folder}/token`),
    namespace: (await textOf(`${folder}/namespace`))?.trim(),
    source: 'the service account of this pod',
    isServiceAccount: true,
  };
}

/** What lets the requests of such a pod in, from its files as they are now. @throws Error where one can't be read, or the token is empty */
export async function serviceAccountOptions({ cluster, user }: Target): Promise<RequestOptions> {
  const options: RequestOptions = {};
  if (cluster.caFile !== undefined) options.ca = await readFile(cluster.caFile);
  await tokenFileAuthenticator.applyAuthentication(user, options);
  return options;
}

export function notInCluster(folder: string): ConnectionError {
  const message =
    `this is not a pod with a service account: KUBERNETES_SERVICE_HOST or ${folder}/token is missing. ` +
    'Give a kubeconfig, or set automountServiceAccountToken: true';
  return new ConnectionError('not-in-cluster', message);
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch {
    return undefined;
  }
}
