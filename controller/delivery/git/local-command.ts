import { getSystemErrorName } from 'node:util';
import { GitPluginError, simpleGit } from 'simple-git';
import type { CommandEnd, CommandOptions } from './command.ts';

/**
 * Runs a git command that starts no other program, so that nothing is left of it once it has ended.
 * @throws what `spawn` says where git can't be started
 */
export async function runLocal(args: readonly string[], options: CommandOptions): Promise<CommandEnd> {
  const { directory, environment, input, timeoutMs } = options;
  let end: CommandEnd | undefined;
  const git = simpleGit({
    baseDir: directory,
    // The whole command, however much it prints meanwhile.
    timeout: { block: timeoutMs, stdErr: false, stdOut: false },
    // Not 50 ms after the exit, which could take half a listing for a whole one.
    completion: { onClose: true, onExit: false },
    // Its caller judges the exit code: for some commands 1 is an answer, and some fail without a word on standard error.
    errors: (error, { exitCode, stdOut, stdErr }) => {
      end = {
        code: exitCode ?? undefined,
        isTimedOut: isTimeout(error),
        output: Buffer.concat(stdOut),
        errors: text(stdErr),
      };
      return undefined;
    },
    input: () => input,
    allowEnvironment: Object.keys(environment).filter((name) => name.startsWith('GIT_')),
    unsafe: { allowUnsafeSshCommand: true },
  });
  await git.env(environment).raw([...args]);
  if (end === undefined) throw new Error(`simple-git told nothing of git ${args[0]}`);
  if (end.code !== undefined && end.code < 0) throw notStarted(end.code);
  return end;
}

/** A process that never was ends with the negative number of the system's error. */
function notStarted(number: number): Error {
  const code = getSystemErrorName(number);
  return Object.assign(new Error(`git can't be started: ${code}`), { code });
}

function isTimeout(error: unknown): boolean {
  return error instanceof GitPluginError && error.plugin === 'timeout';
}

function text(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString();
}
