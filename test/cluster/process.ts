import { fork, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { removeFolder, writeGuard } from './folder.ts';
import type { Command, GuardReport, GuardRequest } from './guard.ts';

/** How a process ended: `with code 1`, `by signal SIGTERM` or why nothing more is known. */
export type Exit = string;

/** A child process that a guard watches over. */
export class GuardedProcess {
  readonly command: Command;
  readonly pid: Promise<number>;
  /** Resolves when the process has ended; never rejects. */
  readonly exited: Promise<Exit>;
  /** Undefined while the process runs. */
  exit: Exit | undefined;
  readonly #started = Promise.withResolvers<number>();
  readonly #ended = Promise.withResolvers<Exit>();

  constructor(command: Command) {
    this.command = command;
    this.pid = this.#started.promise;
    this.exited = this.#ended.promise;
  }

  receive(report: GuardReport): void {
    switch (report.type) {
      case 'running':
        this.#started.resolve(report.pid);
        break;
      case 'failed':
        this.lose(report.message);
        break;
      case 'exited':
        this.#end(report.signal === null ? `with code ${report.code}` : `by signal ${report.signal}`);
        break;
    }
  }

  lose(reason: string): void {
    this.#started.reject(new Error(`${this.command.name} could not be started: ${reason}.`));
    this.#end(`because ${reason}`);
  }

  #end(exit: Exit): void {
    this.exit ??= exit;
    this.#ended.resolve(exit);
  }
}

/**
 * Starts processes that cannot outlive this one: a small process in between (guard.ts) ends them and removes the folder as
 * soon as this process ends, for whatever reason. A guard keeps this process alive only while one of its methods is under way.
 */
export class Guard {
  readonly folder: string;
  readonly pid: number;
  readonly #guard: ChildProcess;
  readonly #gone: Promise<void>;
  readonly #processes = new Map<string, GuardedProcess>();
  #callsUnderWay = 0;

  /** Starts a guard for a folder that `createFolder` made. */
  constructor(folder: string) {
    this.folder = folder;
    this.#guard = forkGuard(folder);
    if (this.#guard.pid === undefined) throw new Error(`No guard process could be started for ${folder}.`);
    this.pid = this.#guard.pid;
    writeGuard(folder, this.pid);
    this.#guard.on('message', (report: GuardReport) => this.#processes.get(report.name)?.receive(report));
    // A request that cannot be delivered: the guard has ended, and its exit says so.
    this.#guard.on('error', () => undefined);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gone = promise;
    this.#guard.once('exit', () => {
      for (const process of this.#processes.values()) process.lose('its guard process has ended');
      resolve();
    });
    this.#guard.unref();
    this.#guard.channel?.unref();
  }

  /**
   * Starts a process.
   * @throws when it cannot be started, with the system's own words.
   */
  async run(command: Command): Promise<GuardedProcess> {
    const started = new GuardedProcess(command);
    this.#processes.set(command.name, started);
    await this.#during(async () => {
      await this.#send({ type: 'run', command });
      await started.pid;
    });
    return started;
  }

  /** Sends SIGTERM, then SIGKILL if the process is still there after the time of grace, and waits for its end. */
  async end(process: GuardedProcess, graceMs: number): Promise<void> {
    await this.#during(async () => {
      if (process.exit !== undefined) return;
      await this.#send({ type: 'end', name: process.command.name, signal: 'SIGTERM' });
      const isOver = await Promise.race([process.exited.then(() => true), delay(graceMs, false, { ref: false })]);
      if (isOver) return;
      await this.#send({ type: 'end', name: process.command.name, signal: 'SIGKILL' });
      await process.exited;
    });
  }

  /** Lets everything go on when this process ends. A SIGTERM to `pid` then does what `close` does. */
  async keep(): Promise<void> {
    await this.#during(() => this.#send({ type: 'keep' }));
  }

  /** Waits for a process to end, and keeps this process alive meanwhile. */
  wait(process: GuardedProcess): Promise<Exit> {
    return this.#during(() => process.exited);
  }

  /** Ends everything that runs, at once, and removes the folder. */
  async close(): Promise<void> {
    await this.#during(async () => {
      await this.#send({ type: 'close' });
      await this.#gone;
    });
    // The guard has done this, unless somebody killed it.
    removeFolder(this.folder);
  }

  /** Resolves when the request is on its way, so that it arrives even if this process ends at once. */
  #send(request: GuardRequest): Promise<void> {
    return new Promise((resolve) => {
      if (this.#guard.connected) this.#guard.send(request, () => resolve());
      else resolve();
    });
  }

  async #during<T>(call: () => Promise<T>): Promise<T> {
    this.#callsUnderWay += 1;
    this.#guard.ref();
    this.#guard.channel?.ref();
    try {
      return await call();
    } finally {
      this.#callsUnderWay -= 1;
      if (this.#callsUnderWay === 0) {
        this.#guard.unref();
        this.#guard.channel?.unref();
      }
    }
  }
}

function forkGuard(folder: string): ChildProcess {
  const log = openSync(join(folder, 'guard.log'), 'a', 0o600);
  const environment = { ...process.env };
  delete environment['NODE_OPTIONS'];
  delete environment['NODE_TEST_CONTEXT'];
  try {
    return fork(fileURLToPath(new URL('guard.ts', import.meta.url)), [folder], {
      cwd: folder,
      // A session of its own: Ctrl-C in a terminal goes to this process alone, and the guard follows it.
      detached: true,
      env: environment,
      execArgv: [],
      stdio: ['ignore', log, log, 'ipc'],
    });
  } finally {
    closeSync(log);
  }
}
