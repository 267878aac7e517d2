import assert from 'node:assert/strict';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { commandLine } from './command-line.ts';
import { readGuard, readPids } from './folder.ts';
import { patienceMs } from '../patience.ts';
import { discardFolder } from '../discard-folder.ts';

/** The pids of everything that was started in a folder, its guard included. Read them while the folder exists. */
export function pidsOf(folder: string): number[] {
  const guard = readGuard(folder);
  assert.ok(guard, `${folder} has a guard`);
  return [guard.pid, ...readPids(folder)];
}

/** Those of these processes that run, in that folder. */
export function runningIn(folder: string, pids: readonly number[]): number[] {
  return pids.filter((pid) => commandLine(pid)?.includes(folder) === true);
}

/**
 * Kills the guard, the first of the processes, and waits until it is gone: a signal is only sent by then. A test that fails before the rest is
 * removed leaves nothing of it either.
 */
export async function killGuard(t: TestContext, folder: string, pids: readonly number[]): Promise<void> {
  const [guard = 0, ...parts] = pids;
  t.after(() => runningIn(folder, parts).forEach((pid) => process.kill(pid, 'SIGKILL')));
  process.kill(guard, 'SIGKILL');
  while (runningIn(folder, [guard]).length > 0) await delay(5);
}

/** Fails if one of the processes or the folder stays. */
export async function assertNothingLeft(folder: string, pids: readonly number[]): Promise<void> {
  const deadline = Date.now() + patienceMs;
  while (Date.now() < deadline && (existsSync(folder) || runningIn(folder, pids).length > 0)) await delay(50);
  assert.deepEqual({ running: runningIn(folder, pids), folder: existsSync(folder) }, { running: [], folder: false });
}

/** Lets this test, and what it starts, have clusters where nobody else's start can remove what was left on purpose. */
export function useOwnTemporaryFolder(t: TestContext): void {
  const before = process.env['TMPDIR'];
  const folder = mkdtempSync(join(tmpdir(), 'own-'));
  process.env['TMPDIR'] = folder;
  t.after(() => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
    discardFolder(folder);
  });
}
