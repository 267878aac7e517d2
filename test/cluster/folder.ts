import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandLine } from './command-line.ts';
import { cgroupName } from './node/cgroups.ts';
import { linkName, sweepNode } from './node/sweep.ts';

const prefix = 'plumbline-cluster-';
const guardFile = 'guard';
const setUpMs = 60_000;
const momentMs = 5_000;

/** Creates a temporary folder that only this user can read. Whoever creates one starts a `Guard` for it at once. */
export function createFolder(): string {
  return mkdtempSync(join(tmpdir(), prefix));
}

/** Notes which process guards a folder, so that others can tell when it is gone. */
export function writeGuard(folder: string, pid: number): void {
  writeFileSync(join(folder, guardFile), `${pid}\n${hostname()}`, { mode: 0o600 });
}

/**
 * Removes the folders whose guard is gone (it was killed, or the machine went down), after ending what still runs in them.
 * A folder of another user, of another host or container that shares this disk, or one just being set up is left alone.
 */
export function removeStaleFolders(): void {
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(prefix)) continue;
    const folder = join(tmpdir(), name);
    if (isStale(folder)) removeFolder(folder);
  }
}

/** Ends what still runs in a folder without a guard, and removes the folder. */
export function removeFolder(folder: string): void {
  for (const pid of readPids(folder)) {
    // A pid may have been given to another process since. What was started here has the folder in its command line.
    if (commandLine(pid)?.includes(folder) === true) endNow(pid);
  }
  sweepNode(folder);
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

/** Writes the script with which a person stops a cluster that outlives its process, and returns its path. */
export function writeStopScript(folder: string, guardPid: number): string {
  const path = join(folder, 'stop.sh');
  const script = `#!/bin/sh
# Stops this cluster and removes its folder.
isRunning() {
  { tr '\\0' ' ' </proc/${guardPid}/cmdline || ps -p ${guardPid} -o args=; } 2>/dev/null | grep -q -F '${folder}'
}
isRunning && kill ${guardPid}
while isRunning; do sleep 0.1; done
for pid in $(cat '${folder}/pids' 2>/dev/null); do
  { tr '\\0' ' ' </proc/$pid/cmdline || ps -p $pid -o args=; } 2>/dev/null | grep -q -F '${folder}' && kill -9 $pid
done
# Of its node the kernel leaves control groups, which can be removed when no process is in them any more.
tries=0
while [ $tries -lt 100 ]; do
  groups=$(find /sys/fs/cgroup -depth -type d -path '*/${cgroupName(folder)}*' 2>/dev/null)
  [ -z "$groups" ] && [ ! -e /sys/class/net/${linkName(folder)} ] && break
  rmdir $groups 2>/dev/null
  sleep 0.1
  tries=$((tries + 1))
done
rm -rf '${folder}'
`;
  writeFileSync(path, script, { mode: 0o700 });
  return path;
}

function endNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function isStale(folder: string): boolean {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (stats === undefined || stats.uid !== process.getuid?.()) return false;
  const guard = readGuard(folder);
  if (guard === undefined) return Date.now() - stats.mtimeMs > setUpMs;
  return guard.host === hostname() && settledCommandLine(guard.pid)?.includes(folder) !== true;
}

/** A process that is just being ended, or replaces itself by another program, has an empty command line for a moment. */
function settledCommandLine(pid: number): string | undefined {
  const end = Date.now() + momentMs;
  let found = commandLine(pid);
  while (found === '' && Date.now() < end) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    found = commandLine(pid);
  }
  return found;
}

/** The process that guards a folder. Undefined while it is being started. */
export function readGuard(folder: string): { readonly pid: number; readonly host: string } | undefined {
  const [pid, host] = readLines(join(folder, guardFile));
  return host === undefined ? undefined : { pid: Number(pid), host };
}

/** What the guard of a folder has started so far. */
export function readPids(folder: string): number[] {
  return readLines(join(folder, 'pids')).map(Number);
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').filter(Boolean);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
