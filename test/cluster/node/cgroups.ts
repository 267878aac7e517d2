import { existsSync, mkdirSync, readFileSync, readdirSync, rmdirSync } from 'node:fs';
import { basename, join } from 'node:path';

/** The name of the control group above all pods of a cluster, in every hierarchy. */
export function cgroupName(folder: string): string {
  return basename(folder);
}

/** Creates the control groups that the kubelet of a cluster expects to exist. */
export function createCgroups(folder: string): void {
  for (const hierarchy of hierarchies()) mkdirSync(join(hierarchy, cgroupName(folder)), { recursive: true });
}

/** Removes them and all below. Returns whether they are gone; they cannot be removed while a process is in one. */
export function removeCgroups(folder: string): boolean {
  const groups = hierarchies().map((hierarchy) => join(hierarchy, cgroupName(folder)));
  return groups.map(removeGroup).every(Boolean);
}

/** The processes in the control group of a container. */
export function processesIn(folder: string, containerId: string): number[] {
  for (const hierarchy of hierarchies()) {
    const pods = join(hierarchy, cgroupName(folder));
    const group = readdirSync(pods, { recursive: true, encoding: 'utf8' }).find((path) => path.endsWith(containerId));
    if (group === undefined) continue;
    const pids = readFileSync(join(pods, group, 'cgroup.procs'), 'utf8').split('\n');
    return pids.filter(Boolean).map(Number);
  }
  return [];
}

/** Where they are mounted: one of version 2, or several of version 1. */
function hierarchies(): string[] {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  return mounts
    .map((line) => line.split(' '))
    .flatMap(([, path, type]) => (path && /^cgroup2?$/.test(type ?? '') ? path : []));
}

function removeGroup(path: string): boolean {
  if (!existsSync(path)) return true;
  try {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      if (entry.isDirectory()) removeGroup(join(path, entry.name));
    }
    // Its files are the kernel's and need no removal.
    rmdirSync(path);
    return true;
  } catch {
    return !existsSync(path);
  }
}
