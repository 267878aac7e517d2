import { linkSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { commandLine } from './command-line.ts';

const pollMs = 200;
const heartbeatMs = 5_000;
const silentMs = 60_000;

/**
 * Does some work while holding a lock file, so that other processes which want the same lock wait. The lock of a holder that is
 * gone is taken over: at once if it was on this host, after a minute without a sign of life otherwise. In the rare case that
 * two take it over at once, both work: the work must bear that.
 * @param onWait called once, with the pid of the holder, when there is something to wait for
 */
export async function withLock<T>(path: string, onWait: (pid: number) => void, work: () => Promise<T>): Promise<T> {
  let hasWaited = false;
  while (!tryLock(path)) {
    const holder = readHolder(path);
    if (holder === undefined) continue;
    if (isGone(holder)) {
      rmSync(path, { force: true });
      continue;
    }
    if (!hasWaited) onWait(holder.pid);
    hasWaited = true;
    await delay(pollMs);
  }
  const heartbeat = setInterval(() => utimesSync(path, new Date(), new Date()), heartbeatMs).unref();
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    rmSync(path, { force: true });
  }
}

interface Holder {
  readonly pid: number;
  readonly host: string;
  readonly lastSeen: number;
}

function tryLock(path: string): boolean {
  const own = `${path}.${process.pid}`;
  writeFileSync(own, `${process.pid}\n${hostname()}`);
  try {
    // Unlike a file opened exclusively, a link never shows without its content.
    linkSync(own, path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

function readHolder(path: string): Holder | undefined {
  try {
    const [pid, host = ''] = readFileSync(path, 'utf8').split('\n');
    return { pid: Number(pid), host, lastSeen: statSync(path).mtimeMs };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function isGone({ pid, host, lastSeen }: Holder): boolean {
  return (host === hostname() && commandLine(pid) === undefined) || Date.now() - lastSeen > silentMs;
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
