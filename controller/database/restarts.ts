import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import { isAddition, isWithin, type Drift } from '../drift/index.ts';
import type { Child } from './child.ts';
import { isManaged } from './is-managed.ts';
import type { Told } from './memory.ts';
import { statefulSetOf } from './observed-members.ts';

/** Whom it restarts to put the pod template back. */
export interface Restarts {
  /** Plumbline makes members again, and not Kubernetes. */
  readonly isManaged: boolean;
  /** Names of the members that were made from the template as it is. */
  readonly made: readonly string[];
}

/**
 * Whom it would restart to put the pod template back, if somebody has changed it. To be asked before that is done. Pure. A template that the
 * StatefulSet's own controller has not looked at yet, nothing was made from.
 */
export function restartsOf({ metadata, spec }: StoredDatabaseService, children: readonly Child[]): Restarts {
  const set = statefulSetOf(children, metadata.name);
  const revision = set?.isObserved === true ? set.revision : undefined;
  const made = children.filter(
    ({ facts }) => revision !== undefined && facts.kind === 'Pod' && facts.revision === revision,
  );
  return { isManaged: isManaged({ spec }), made: made.map(({ name }) => name).toSorted() };
}

/**
 * What it costs to put changes back, in a sentence; undefined where no pod template is concerned.
 *
 * @param isDone they were put back
 */
export function restartsInWords(
  drifts: readonly Pick<Drift, 'object' | 'field'>[],
  { isManaged, made }: Restarts,
  isDone: boolean,
): string | undefined {
  if (!drifts.some(isOfTemplate)) return undefined;
  if (!isManaged) return isDone ? 'Kubernetes restarts the members for that.' : 'To put it back restarts the members.';
  if (made.length === 0) return isDone ? 'No member restarts for that.' : 'To put it back restarts no member.';
  const who = made.length === 1 ? 'the member that was' : `the ${made.length} members that were`;
  const how = `${who} made from it (${made.join(', ')})${made.length === 1 ? '' : ', replicas first'}.`;
  return isDone ? `That restarts ${how}` : `To put it back restarts ${how}`;
}

/** The same for each change by itself. What is only added and left is not put back. */
export function withCosts(drifts: readonly Drift[], restarts: Restarts, isDone: boolean): readonly Told[] {
  return drifts.map((drift) => {
    const cost = isDone || !isAddition(drift) ? restartsInWords([drift], restarts, isDone) : undefined;
    return cost === undefined ? drift : { ...drift, cost };
  });
}

/** Whether a change is one of the template that members are made from. */
export function isOfTemplate({ object, field }: Pick<Drift, 'object' | 'field'>): boolean {
  return object.startsWith('StatefulSet/') && isWithin(field, 'spec.template');
}
