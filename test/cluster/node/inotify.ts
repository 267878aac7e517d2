import { readFileSync, writeFileSync } from 'node:fs';

const limit = '/proc/sys/fs/inotify/max_user_instances';
/** A shim has one for each container, and Linux gives 128 to all processes of a user together. */
const enough = 512;

/**
 * Raises how many inotify instances a user may have, where that is too few for some nodes beside each other: a kubelet that gets none ends. It stays
 * raised, since others may rely on it by then; it costs nothing until they are used.
 * Source: https://kind.sigs.k8s.io/docs/user/known-issues/#pod-errors-due-to-too-many-open-files
 */
export function allowInotify(): void {
  if (Number(readFileSync(limit, 'utf8')) >= enough) return;
  try {
    writeFileSync(limit, String(enough));
  } catch {
    // Where settings of the kernel are not ours to change, a node is started with what there is.
  }
}
