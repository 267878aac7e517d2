import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createFolder } from '../cluster/folder.ts';
import { tail } from '../cluster/log.ts';
import { Guard, type GuardedProcess } from '../cluster/process.ts';
import { eventually } from '../controller/running-plumbline.ts';
import type { Arena } from './arena.ts';
import type { Contender } from './contender.ts';
import { cpuSeconds } from './cpu-time.ts';
import { asked, countsBetween, type RequestCounts } from './request-counts.ts';
import { isMade, objectsOf, setStage, type Stage } from './stage.ts';

/** Two readings of the same number, this far apart, are rest. */
const readingMs = 2000;
const longestMs = 600_000;

export interface ContestantProps {
  readonly contender: Contender;
  readonly databases: number;
  /** Between two comparisons, for a contender that compares. */
  readonly intervalSeconds: number;
}

/** What a contender has used between two moments. */
export interface Usage {
  readonly requests: RequestCounts;
  readonly cpuSeconds: number;
  /** Lines in which it says that something was not as it should be. */
  readonly reports: readonly string[];
}

/** A contender at work, in a process of its own. */
export class Contestant implements AsyncDisposable {
  readonly stage: Stage;
  readonly #contender: Contender;
  readonly #guard: Guard;
  readonly #process: GuardedProcess;

  private constructor(contender: Contender, stage: Stage, guard: Guard, process: GuardedProcess) {
    this.stage = stage;
    this.#contender = contender;
    this.#guard = guard;
    this.#process = process;
  }

  /** Sets its stage, starts it, and waits until all that is rendered exists and it has come to rest. */
  static async start(arena: Arena, { contender, databases, intervalSeconds }: ContestantProps): Promise<Contestant> {
    const stage = await setStage(arena, contender.id, databases);
    const guard = new Guard(createFolder());
    try {
      const objects = join(guard.folder, 'objects.json');
      writeFileSync(objects, JSON.stringify(objectsOf(stage)));
      const line = await contender.start({ ...stage, objects, intervalSeconds });
      const log = join(guard.folder, 'log');
      const process = await guard.run({ ...line, name: contender.id, cwd: guard.folder, environment: {}, log });
      const contestant = new Contestant(contender, stage, guard, process);
      await contestant.#allMade(arena);
      await contestant.atRest();
      return contestant;
    } catch (error) {
      await guard.close();
      throw error;
    }
  }

  /** Waits until it asks for nothing any more, watches and the lease apart. A loop never does, and is not waited for. */
  async atRest(): Promise<void> {
    if (this.#contender.isLoop) return;
    let before = NaN;
    await this.#until('comes to rest', async () => {
      const now = asked(await this.stage.requests());
      const isQuiet = now === before;
      before = now;
      if (!isQuiet) await delay(readingMs);
      return isQuiet;
    });
  }

  /** What it uses while something happens. */
  async usageDuring(happening: () => Promise<unknown>): Promise<Usage> {
    const pid = await this.#process.pid;
    const requests = await this.stage.requests();
    const reports = this.#reports().length;
    const cpu = cpuSeconds(pid);
    await happening();
    return {
      cpuSeconds: cpuSeconds(pid) - cpu,
      requests: countsBetween(requests, await this.stage.requests()),
      reports: this.#reports().slice(reports),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#guard.close();
  }

  async #allMade({ kube }: Arena): Promise<void> {
    for (const object of Object.values(objectsOf(this.stage)).flat()) {
      await this.#until(`makes ${object.kind} ${object.metadata.name}`, () => isMade(kube, object));
    }
  }

  /** @throws Error with the end of its log when it ends, or never does that */
  async #until(what: string, holds: () => Promise<boolean>): Promise<void> {
    const check = async (): Promise<true | undefined> => {
      const { exit } = this.#process;
      if (exit !== undefined) throw new Error(`it ended ${exit}`);
      return (await holds()) || undefined;
    };
    try {
      await eventually(what, check, longestMs);
    } catch (cause) {
      throw new Error(
        `${this.#contender.title} should do this: ${what}. Its last lines:\n${tail(this.#process.command.log)}`,
        {
          cause,
        },
      );
    }
  }

  #reports(): readonly string[] {
    return readFileSync(this.#process.command.log, 'utf8').split('\n').filter(this.#contender.isReport);
  }
}
