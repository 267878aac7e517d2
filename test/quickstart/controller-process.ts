import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { endsWithUs } from '../ends-with-us.ts';
import type { Going } from './started.ts';
import { waitFor } from './wait.ts';

const entry = fileURLToPath(new URL('../../controller/main.ts', import.meta.url));
const stopMs = 40_000;

/**
 * The controller in a process of its own, as `npm run controller` starts it. It has a process group of its own too: what a terminal sends to ours
 * must not end it before its time.
 */
export class ControllerProcess implements Going {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  /** Lines of its log, the newest last; bounded. */
  readonly log: string[] = [];

  constructor(flags: readonly string[], outlives: boolean) {
    this.#child = spawn(process.execPath, [entry, ...flags], { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    if (!outlives) endsWithUs(this.#child);
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve));
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (stream) createInterface({ input: stream }).on('line', (line) => this.#keep(line));
    }
  }

  /** @throws the signal's reason, or Error with the last lines of its log when it does not come to lead */
  async leads(signal: AbortSignal): Promise<void> {
    try {
      await waitFor(
        'it leads',
        async () => {
          if (this.#hasEnded) throw new Error('it has ended');
          return this.log.some((line) => line.includes('"msg":"leading"') || line.endsWith(' leading')) || undefined;
        },
        { signal },
      );
    } catch (cause) {
      signal.throwIfAborted();
      throw new Error(`the controller did not start:\n${this.log.slice(-10).join('\n')}`, { cause });
    }
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get look(): readonly string[] {
    return [];
  }

  get stop(): readonly string[] {
    return this.#hasEnded ? [] : [`kill ${this.pid}`];
  }

  /** Asks it to stop, and ends it when it does not. */
  async end(): Promise<void> {
    if (this.#hasEnded) return;
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), stopMs);
    await this.#ended;
    clearTimeout(timer);
  }

  async release(): Promise<void> {
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
    this.#child.unref();
  }

  get #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  #keep(line: string): void {
    this.log.push(line);
    if (this.log.length > 1000) this.log.shift();
  }
}
