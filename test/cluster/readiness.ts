import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Admin } from './admin.ts';
import { tail } from './log.ts';
import type { GuardedProcess } from './process.ts';

const pollMs = 50;
const timeoutMs = 120_000;

/** A part ended, or did not become ready, while a cluster was starting. */
export class StartError extends Error {
  override readonly name = 'StartError';
  /** Another process took a port between its choice and its use: worth another attempt. */
  readonly isPortTaken: boolean;

  constructor(what: string, log: string | undefined) {
    const lines = log === undefined ? '' : tail(log);
    super(log === undefined ? what : `${what} The last lines of ${basename(log)}:\n${lines}`);
    this.isPortTaken = lines.includes('address already in use');
  }
}

/**
 * Waits until a URL answers 200.
 * @param behind the processes that must run for it, the most telling first
 * @throws StartError when one of the processes ends, or after two minutes, with the last lines of its log.
 */
export async function untilReady(admin: Admin, url: string, behind: readonly GuardedProcess[]): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  let last = 'no answer';
  while (Date.now() < deadline) {
    for (const process of behind) throwIfEnded(process);
    try {
      const { status, body } = await admin.send('GET', url);
      if (status === 200) return;
      last = `${status} ${body}`;
    } catch (error) {
      last = (error as Error).message;
    }
    await delay(pollMs);
  }
  throw new StartError(`${url} was not ready after ${timeoutMs / 1000} s: ${last}.`, behind[0]?.command.log);
}

function throwIfEnded({ exit, command: { name, log } }: GuardedProcess): void {
  if (exit !== undefined) throw new StartError(`${name} ended ${exit}.`, log);
}
