import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Cluster } from '../cluster/index.ts';
import { eventually } from '../controller/running-plumbline.ts';
import { folder } from './runner.ts';

const run = promisify(execFile);
const kinds = ['application', 'applicationset'] as const;

/** Installs the CustomResourceDefinitions of Argo CD, from its Go module, and waits until they are served. */
export async function installArgoDefinitions(cluster: Cluster): Promise<void> {
  const { stdout } = await run('go', ['mod', 'download', '-json', 'github.com/argoproj/argo-cd/v3'], { cwd: folder });
  const { Dir: module } = JSON.parse(stdout) as { readonly Dir: string };
  const files = kinds.map((kind) => `--filename=${join(module, 'manifests', 'crds', `${kind}-crd.yaml`)}`);
  const { code, stderr } = await cluster.kubectlRun(['apply', '--server-side', ...files]);
  if (code !== 0) throw new Error(`The definitions of Argo CD are not accepted: ${stderr}`);
  await eventually('the kinds of Argo CD are served', async () => {
    const found = await Promise.all(
      kinds.map((kind) => cluster.kubectlRun(['get', `${kind}s.argoproj.io`, '--all-namespaces'])),
    );
    return found.every((one) => one.code === 0) || undefined;
  });
}
