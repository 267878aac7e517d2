import { CommanderError } from 'commander';

/** Runs a command to its end: 2 for wrong flags, of which commander has told, 1 for what failed, which is told in one line. A mistake of ours bears its name. */
export async function exitCodeOf(command: Promise<number>): Promise<number> {
  try {
    return await command;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const isTold = error instanceof Error && !(error instanceof TypeError);
    process.stderr.write(`\n${isTold ? error.message : String(error)}\n`);
    return 1;
  }
}
