import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

export interface KubectlResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

/** Nothing that a test asks for takes so long; what an `exec` waits for may never come. */
export const longestMs = 600_000;

/** Runs kubectl with a kubeconfig, untouched by the settings and caches of the person who runs it. */
export async function runKubectl(
  kubectl: string,
  kubeconfig: string,
  folder: string,
  args: readonly string[],
  stdin = '',
): Promise<KubectlResult> {
  const child = spawn(
    kubectl,
    [`--kubeconfig=${kubeconfig}`, `--cache-dir=${join(folder, 'kubectl-cache')}`, ...args],
    { env: { ...process.env, KUBECONFIG: kubeconfig, KUBERC: 'off' }, stdio: 'pipe', timeout: longestMs },
  );
  // kubectl may end without reading its input.
  child.stdin.on('error', () => undefined);
  child.stdin.end(stdin);
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? -1));
  });
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { stdout, stderr, code };
}
