// A process of its own, started by `Guard` (process.ts) for one folder. It is the parent of everything that was started in that
// folder, and holds one end of a channel to the process that started it. When that process ends, however it ends (SIGKILL
// included), the kernel closes the channel: then the guard ends its children and removes the folder.
import { spawn, type ChildProcess } from 'node:child_process';
import { appendFileSync, openSync, closeSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { endNode, sweepNode } from './node/sweep.ts';

export interface Command {
  /** Unique among what runs under one guard. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Path of the file to which standard output and error are appended. */
  readonly log: string;
  /** Ends with process 1 of the folder's node. Defaults to false. */
  readonly inNode?: boolean;
}

export type GuardRequest =
  | { readonly type: 'run'; readonly command: Command }
  | { readonly type: 'end'; readonly name: string; readonly signal: NodeJS.Signals }
  /** From now on the end of the other side ends nothing; SIGTERM to the guard does. */
  | { readonly type: 'keep' }
  | { readonly type: 'close' };

export type GuardReport =
  | { readonly type: 'running'; readonly name: string; readonly pid: number }
  | { readonly type: 'failed'; readonly name: string; readonly message: string }
  | { readonly type: 'exited'; readonly name: string; readonly code: number | null; readonly signal: string | null };

const folder = process.argv[2];
if (folder === undefined) throw new Error('usage: guard.ts <folder>');

const running = new Map<string, ChildProcess>();
const inNode = new Set<ChildProcess>();
let isKept = false;
let isClosing = false;

process.on('message', (request: GuardRequest) => {
  switch (request.type) {
    case 'run':
      run(request.command);
      break;
    case 'end':
      end(running.get(request.name), request.signal);
      break;
    case 'keep':
      isKept = true;
      break;
    case 'close':
      close();
      break;
  }
});
process.on('disconnect', () => {
  if (!isKept || running.size === 0) close();
});
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, close);
// What has ended while this file was being loaded is told to nobody.
if (!process.connected) close();

function run({ name, command, args, cwd, environment, log, inNode: isInNode = false }: Command): void {
  if (isClosing) return;
  const output = openSync(log, 'a', 0o600);
  // A group of its own, so that what the child starts ends with it.
  const child = spawn(command, args, { cwd, env: environment, stdio: ['ignore', output, output], detached: true });
  closeSync(output);
  child.once('error', (error) => report({ type: 'failed', name, message: error.message }));
  if (child.pid === undefined) return;
  running.set(name, child);
  if (isInNode) inNode.add(child);
  appendFileSync(join(folder ?? '', 'pids'), `${child.pid}\n`);
  report({ type: 'running', name, pid: child.pid });
  child.once('exit', (code, signal) => {
    running.delete(name);
    report({ type: 'exited', name, code, signal });
    if (running.size === 0 && (isClosing || (isKept && !process.connected))) finish();
  });
}

function close(): void {
  if (isClosing) return;
  isClosing = true;
  // The folder goes too, so nothing is worth a graceful end.
  const isNodeEnding = endNode(folder ?? '');
  for (const child of running.values()) if (!(isNodeEnding && inNode.has(child))) end(child, 'SIGKILL');
  if (running.size === 0) finish();
}

function finish(): void {
  sweepNode(folder ?? '');
  rmSync(folder ?? '', { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  process.exit(0);
}

function end(child: ChildProcess | undefined, signal: NodeJS.Signals): void {
  if (child?.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function report(message: GuardReport): void {
  // The other side may be gone by now, which `disconnect` deals with.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}
