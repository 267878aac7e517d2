import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { V1Deployment } from '@kubernetes/client-node';
import { parse, stringify } from 'yaml';
import { installationFiles } from '../../../constructs/install/files.ts';
import type { InstallationProps } from '../../../constructs/install/options.ts';
import type { Manifest } from '../../../constructs/manifest.ts';
import type { Cluster } from '../../cluster/index.ts';

/** Applies an installation but for its Deployment, as `kubectl apply --server-side -f` would, and returns what was applied. */
export async function installAccess(cluster: Cluster, props: InstallationProps): Promise<readonly Manifest[]> {
  const manifests = installationFiles(props)
    .map(([, manifest]) => manifest)
    .filter(({ kind }) => kind !== 'Deployment');
  await kubectl(cluster, ['apply', '--server-side', '-f', '-'], manifests.map((one) => JSON.stringify(one)).join('\n'));
  return manifests;
}

/** What the Deployment of an installation tells the controller; not where it serves, which are ports of a pod. */
export function environmentOf(props: InstallationProps): Readonly<Record<string, string>> {
  const deployment = installationFiles(props).find(
    ([, { kind }]) => kind === 'Deployment',
  )?.[1] as unknown as V1Deployment;
  const [container] = deployment.spec?.template.spec?.containers ?? [];
  const stated = (container?.env ?? []).flatMap(({ name, value = '' }) =>
    name.endsWith('_ADDRESS') ? [] : [[name, value] as const],
  );
  return Object.fromEntries(stated);
}

/** Path of a kubeconfig with a token of a ServiceAccount, which holds for a day. */
export async function kubeconfigOf(cluster: Cluster, namespace: string, account: string): Promise<string> {
  const token = await kubectl(cluster, ['-n', namespace, 'create', 'token', account, '--duration=24h']);
  const { clusters, contexts } = parse(await kubectl(cluster, ['config', 'view', '--raw', '-o', 'yaml'])) as {
    clusters: unknown;
    contexts: readonly { context: { cluster: string } }[];
  };
  const context = { cluster: contexts[0]?.context.cluster, user: account };
  const path = join(cluster.folder, `${namespace}-${account}.kubeconfig`);
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters,
    users: [{ name: account, user: { token: token.trim() } }],
    contexts: [{ name: account, context }],
    'current-context': account,
  };
  writeFileSync(path, stringify(config), { mode: 0o600 });
  return path;
}

/** Runs kubectl and returns what it printed. @throws Error with what it says, when it fails */
export async function kubectl(cluster: Cluster, args: readonly string[], stdin?: string): Promise<string> {
  const { code, stdout, stderr } = await cluster.kubectlRun(args, stdin);
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr.trim()}`);
  return stdout;
}
