import type { V1Volume, V1VolumeMount } from '@kubernetes/client-node';
import { containerSecurity, podSecurity } from '../../constructs/postgresql/pod-security.ts';
import { pods } from '../../controller/database/kinds.ts';
import type { NodeDatabase } from './node-database.ts';
import { patience } from '../patience.ts';

export interface RestingPod {
  readonly name: string;
  /** Defaults to that of the database. */
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly mounted?: { readonly mount: V1VolumeMount; readonly volume: V1Volume };
}

/** Sees to it that a pod runs that does nothing by itself, in the image of the members, with a volume or without one. @throws Error when it is not ready in two minutes */
export async function ensureRestingPod(
  { cluster, kube, namespace: own }: NodeDatabase,
  { name, namespace = own, labels = {}, mounted }: RestingPod,
): Promise<void> {
  const command = ['sleep', 'infinity'];
  const container = {
    name: 'main',
    image: cluster.image,
    command,
    securityContext: containerSecurity,
    volumeMounts: mounted && [mounted.mount],
  };
  const spec = {
    terminationGracePeriodSeconds: 0,
    securityContext: podSecurity,
    containers: [container],
    volumes: mounted && [mounted.volume],
  };
  const manifest = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, labels }, spec };
  await kube.apply(manifest, { type: pods, fieldManager: 'test', force: true });
  const wait = ['-n', namespace, 'wait', '--for=condition=Ready', `pod/${name}`, patience];
  const { code, stderr } = await cluster.kubectlRun(wait);
  if (code !== 0) throw new Error(stderr);
}
