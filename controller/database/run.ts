import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import type { Course } from '../rollout/index.ts';
import type { Memory } from './memory.ts';

/** One database in one run. */
export interface Run {
  readonly key: string;
  /** As it was at the start. */
  readonly resource: StoredDatabaseService;
  readonly memory: Memory;
  /** What is wrong with the spec; empty for a valid one. */
  readonly problems: readonly string[];
  readonly isDeleting: boolean;
  /** What is delivered on the way to what the spec says; undefined where nothing is. */
  readonly course: Course | undefined;
  readonly signal: AbortSignal;
}
