import type { KubeObject } from '../kube/index.ts';
import type { Deviation } from './deviation.ts';
import type { FieldPath } from './field-path.ts';
import type { Foreign } from './foreign.ts';
import { isFields, says } from './value.ts';
import { valueAt } from './value-at.ts';

/**
 * Items of lists that somebody gave another key: a port another number, a variable another name. To the API server ours is gone and another one is
 * there, which would stay beside ours, or for the sake of its name keep ours out (https://github.com/kubernetes/kubernetes/issues/118725). Pure.
 *
 * @returns what has become of a removed item
 */
export function moves(
  found: readonly Deviation[],
  live: KubeObject,
  foreign: readonly Foreign[],
): ReadonlyMap<Deviation, Foreign> {
  const moved = new Map<Deviation, Foreign>();
  for (const deviation of found) {
    if (deviation.kind !== 'removed' || deviation.path.at(-1)?.startsWith('k:') !== true) continue;
    const taken = new Set(moved.values());
    const now = foreign.find((one) => !taken.has(one) && isMoved(deviation, one.path, live));
    if (now !== undefined) moved.set(deviation, now);
  }
  return moved;
}

function isMoved({ path, was }: Deviation, to: FieldPath, live: KubeObject): boolean {
  const last = to.at(-1) ?? '';
  if (!last.startsWith('k:') || to.slice(0, -1).join('/') !== path.slice(0, -1).join('/')) return false;
  const now = valueAt(live, to);
  if (!isFields(was) || !isFields(now)) return false;
  const keys = Object.keys(JSON.parse(last.slice(2)) as object);
  // A port is known by its name, if it has one, whatever else of it was changed.
  if (path.at(-2) === 'f:ports' && was['name'] !== undefined) return was['name'] === now['name'];
  const rest = Object.entries(was).filter(([name]) => !keys.includes(name));
  const same = rest.filter(([name, value]) => says(now[name], value, [name]));
  if (rest.length > 0 && same.length === rest.length) return true;
  return isContainer(path) && same.length * 2 > rest.length && same.some(isTaken);
}

/**
 * A container that was renamed and edited at once would stay beside ours, with the same ports and volumes. Most of it says what ours said, and all
 * ports or all mounts are the same; a sidecar has ports and mounts of its own, and little else of ours.
 */
function isTaken([name, value]: readonly [string, unknown]): boolean {
  return (name === 'ports' || name === 'volumeMounts') && Array.isArray(value) && value.length > 0;
}

function isContainer(path: FieldPath): boolean {
  return path.at(-2) === 'f:containers' || path.at(-2) === 'f:initContainers';
}
