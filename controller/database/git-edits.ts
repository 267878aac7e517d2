import type { StoredDatabaseService } from '../../constructs/api/resource.ts';
import type { GitState } from './delivery.ts';
import { nothingUntold, type Memory, type Untold } from './memory.ts';
import { isTold } from './receipts.ts';

/**
 * The edits of files in Git that nobody was told of yet, each once. They are told from then on.
 *
 * @param git undefined where nothing is delivered to Git
 */
export function noteEdits(memory: Memory, git: GitState | undefined, { status }: StoredDatabaseService): Untold {
  if (git === undefined || git.isPending === true || git.failure !== undefined) return nothingUntold;
  const { edits = [], restored } = git;
  const reported = edits.filter((edit) => !isTold(edit, memory.edits, status?.drift));
  const corrected = restored === undefined || restored.commit === memory.restoredIn ? [] : restored.edits;
  memory.edits = edits;
  memory.restoredIn = restored?.commit ?? memory.restoredIn;
  memory.untold = {
    corrected: [...memory.untold.corrected, ...corrected],
    reported: [...memory.untold.reported, ...reported],
  };
  return { corrected, reported };
}
