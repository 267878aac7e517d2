import type { Course } from '../rollout/index.ts';
import { refused, rollbackUnknown, takenBack, type Blocker } from './blocker.ts';

/** What keeps the members from running on what the spec says, as far as rollouts know. @param commit that brought it, where a GitOps tool applies */
export function courseBlocker(course: Course | undefined, commit?: string): Blocker | undefined {
  if (course === undefined) return undefined;
  const { target, history, setback } = course;
  const known = history.stable.map(({ number }) => number);
  if (target.kind === 'unknown') return rollbackUnknown(target.asked, known);
  if (target.kind === 'taken-back' && history.refused !== undefined) return takenBack(history.refused);
  return setback && refused(setback, commit);
}
