import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { commandLine } from '../command-line.ts';
import { removeCgroups } from './cgroups.ts';

const pollMs = 20;
const waitMs = 10_000;

/** The name of the interface on this machine that leads to the node of a cluster. */
export function linkName(folder: string): string {
  return `plb-${folder.slice(-6)}`;
}

/**
 * Ends process 1 of a cluster's node, with which the kernel ends all others of the node. Those outside that started them then reap
 * them and end too: killed themselves, they would leave that to the machine's process 1. Returns false where there is no node.
 */
export function endNode(folder: string): boolean {
  const path = join(folder, 'node', 'pid');
  if (!existsSync(path)) return false;
  const pid = Number(readFileSync(path, 'utf8'));
  if (commandLine(pid)?.includes(folder) !== true) return false;
  process.kill(pid, 'SIGKILL');
  return true;
}

/**
 * After the processes of a cluster were ended: waits until the kernel is done with the namespaces of its node, and removes what
 * does not go with them. Without a node it does nothing.
 */
export function sweepNode(folder: string): void {
  if (!existsSync(join(folder, 'node'))) return;
  const deadline = Date.now() + waitMs;
  while (!isSwept(folder) && Date.now() < deadline) sleep(pollMs);
  if (isLinked(folder)) spawnSync('ip', ['link', 'delete', linkName(folder)]);
  for (const device of loopDevices(folder)) spawnSync('losetup', ['--detach', device]);
}

function isSwept(folder: string): boolean {
  // In this order: a control group that can be removed has no process any more.
  return removeCgroups(folder) && !isLinked(folder) && loopDevices(folder).length === 0;
}

function isLinked(folder: string): boolean {
  return existsSync(`/sys/class/net/${linkName(folder)}`);
}

/** The loop devices that are backed by files of the folder. They go by themselves when they are no longer mounted. */
function loopDevices(folder: string): string[] {
  return readdirSync('/sys/block').flatMap((name) => {
    if (!name.startsWith('loop')) return [];
    try {
      const file = readFileSync(`/sys/block/${name}/loop/backing_file`, 'utf8');
      return file.startsWith(`${folder}/`) ? `/dev/${name}` : [];
    } catch {
      // Not in use, or not any more.
      return [];
    }
  });
}

function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
