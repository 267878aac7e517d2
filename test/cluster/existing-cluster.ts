import { dirname } from 'node:path';
import { runKubectl } from './kubectl.ts';
import type { PodCluster } from './pod-cluster.ts';
import { patience } from '../patience.ts';

/** Where `npm run test:members` tells the tests which cluster was named. */
const variable = 'PLUMBLINE_TEST_CLUSTER';

/** Marks what is made on somebody's cluster, with the run that made it. */
export const runLabel = 'plumbline.dev/test-run';

/** A cluster of somebody's own, as the command that it was named to hands it on. */
export interface ExistingCluster {
  /** Path of a file with one context, so that nothing can reach another cluster. */
  readonly kubeconfig: string;
  readonly kubectl: string;
  readonly image: string;
  /** Value of `runLabel`. */
  readonly run: string;
}

/** The environment of tests that are to run on an existing cluster. */
export function environmentFor(cluster: ExistingCluster): NodeJS.ProcessEnv {
  return { [variable]: JSON.stringify(cluster) };
}

/** The existing cluster that was named; undefined where none was. */
export function existingCluster(environment: NodeJS.ProcessEnv = process.env): PodCluster | undefined {
  const text = environment[variable];
  if (text === undefined) return undefined;
  const { kubeconfig, kubectl, image, run } = JSON.parse(text) as ExistingCluster;
  const kubectlRun: PodCluster['kubectlRun'] = (args, stdin) =>
    runKubectl(kubectl, kubeconfig, dirname(kubeconfig), args, stdin);
  const must = async (args: readonly string[], stdin?: string): Promise<void> => {
    const { code, stderr } = await kubectlRun(args, stdin);
    if (code !== 0) throw new Error(stderr);
  };
  return {
    own: undefined,
    image,
    kubeconfig,
    kubectl,
    kubectlRun,
    createNamespace: async (name) => {
      const metadata = { name, labels: { [runLabel]: run } };
      await must(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata }));
      await must(['-n', name, 'wait', '--for=create', 'serviceaccount/default', patience]);
    },
  };
}
