import type { Observation } from './member.ts';

/** Whether a changed template may reach the StatefulSet, and if not, why. */
export type Release = { readonly isOpen: true } | { readonly isOpen: false; readonly message: string };

/**
 * Whether a changed pod template may be applied now. Pure. Any pod that is made after that is of the new template, the primary's too if it
 * crashes, so the change waits until every member is healthy. A member that cannot start as it is does not hold it up: the change may be the cure.
 *
 * @param isFirst no template was ever stable: there is nothing to keep to
 */
export function mayRelease({ members, isPaused }: Observation, isFirst: boolean): Release {
  if (isFirst) return { isOpen: true };
  if (isPaused) return { isOpen: false, message: 'Patroni is paused; resume it to go on.' };
  if (members.some(({ health }) => health === 'stuck')) return { isOpen: true };
  const moving = members.find(({ health }) => health !== 'healthy');
  if (moving !== undefined)
    return { isOpen: false, message: `The change of the pods waits until ${moving.name} is back.` };
  return members.length > 0 && !members.some(({ isLeader }) => isLeader)
    ? { isOpen: false, message: 'The change of the pods waits for a primary.' }
    : { isOpen: true };
}
