import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sandbox } from './sandbox.ts';
import { patienceMs } from '../../patience.ts';

/** Arguments of `unshare` with which a program is the first process of a namespace of its own, as in a container. */
export const asFirst: readonly string[] = ['--user', '--pid', '--fork', '--kill-child'];

/** For the `skip` of a test. */
export const notFirst = spawnSync('unshare', [...asFirst, 'true']).status === 0 ? false : 'needs user namespaces';

/** Runs a program as the first process and returns its exit code; undefined when it stays. */
export async function endOfFirst(sandbox: Sandbox, command: readonly string[]): Promise<number | null | undefined> {
  const { process } = sandbox.start('unshare', [...asFirst, ...command]);
  const { promise, resolve } = Promise.withResolvers<number | null>();
  process.once('close', resolve);
  return Promise.race([promise, sleep(patienceMs, undefined, { ref: false })]);
}
