import { spawn } from 'node:child_process';
import type { CommandEnd, CommandOptions } from './command.ts';

/** A process that has ended while one of its children keeps the output open is waited for no longer than this. */
const stragglersMs = 1000;

/**
 * Runs a program in a process group of its own, of which nothing is left when this resolves: git that is killed alone
 * leaves the process behind that talks to the server, and that one waits for as long as the server hangs.
 * @throws what `spawn` says where the program can't be started
 */
export function runGroup(program: string, args: readonly string[], options: CommandOptions): Promise<CommandEnd> {
  const { directory, environment, input, timeoutMs } = options;
  const { promise, resolve, reject } = Promise.withResolvers<CommandEnd>();
  const child = spawn(program, args, { cwd: directory, env: environment, stdio: 'pipe', detached: true });
  const output: Buffer[] = [];
  const errors: Buffer[] = [];
  let isTimedOut = false;
  let stragglers: NodeJS.Timeout | undefined;
  const killAll = (): void => killGroup(child.pid);
  const deadline = setTimeout(() => {
    isTimedOut = true;
    killAll();
  }, timeoutMs);
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  // Whoever ends without reading all of its input says why by other means.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  child.once('error', (error) => {
    clearTimeout(deadline);
    reject(error);
  });
  child.once('exit', () => {
    stragglers = setTimeout(killAll, stragglersMs);
  });
  child.once('close', (code) => {
    clearTimeout(deadline);
    clearTimeout(stragglers);
    killAll();
    resolve({ code: code ?? undefined, isTimedOut, output: Buffer.concat(output), errors: text(errors) });
  });
  return promise;
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nobody of it is left.
  }
}

function text(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString();
}
