import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { environmentFor, type ExistingCluster } from '../cluster/existing-cluster.ts';

/** Runs test files on an existing cluster, two at a time, and returns the exit code. @param signal ends them */
export async function runTests(
  cluster: ExistingCluster,
  patterns: readonly string[],
  signal: AbortSignal,
): Promise<number> {
  const args = ['--test', '--test-concurrency=2', '--test-reporter=spec', ...patterns];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...environmentFor(cluster) },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  // It ends its own children, and says which tests it did not end.
  const end = (): boolean => child.kill('SIGINT');
  signal.addEventListener('abort', end, { once: true });
  const [code] = (await once(child, 'close')) as [number | null];
  signal.removeEventListener('abort', end);
  return code ?? 1;
}
