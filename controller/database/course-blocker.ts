import type { Course } from '../rollout/index.ts';
import { refused, rollbackUnknown, takenBack, type Blocker } from './blocker.ts';

/** What keeps the members from running on what the spec says, as far as rollouts know. */
export function courseBlocker(course: Course | undefined): Blocker | undefined {
  if (course === undefined) return undefined;
  const { target, history, setback } = course;
  const known = history.stable.map(({ number }) => number);
  if (target.kind === 'unknown') return rollbackUnknown(target.asked, known);
  if (target.kind === 'taken-back' && history.refused !== undefined) return takenBack(history.refused);
  return setback && refused(setback);
}
