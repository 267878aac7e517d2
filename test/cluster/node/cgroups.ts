import { existsSync, mkdirSync, readFileSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** The name of the control group above all pods of a cluster, in every hierarchy. */
export function cgroupName(folder: string): string {
  return basename(folder);
}

/** Creates the control groups that the kubelet of a cluster expects to exist. */
export function createCgroups(folder: string): void {
  for (const hierarchy of hierarchies()) {
    delegateControllers(hierarchy);
    mkdirSync(join(hierarchy, cgroupName(folder)), { recursive: true });
  }
}

/** In version 2 the groups below have only those controllers that the one above passes on. systemd has done so already, mostly. */
function delegateControllers(hierarchy: string): void {
  const controllers = join(hierarchy, 'cgroup.controllers');
  if (!existsSync(controllers)) return;
  const passedOn = join(hierarchy, 'cgroup.subtree_control');
  const words = (path: string): string[] => readFileSync(path, 'utf8').split(/\s+/).filter(Boolean);
  const before = words(passedOn);
  const missing = words(controllers).filter((controller) => !before.includes(controller));
  if (missing.length > 0) writeFileSync(passedOn, missing.map((controller) => `+${controller}`).join(' '));
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
