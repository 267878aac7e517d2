import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { endsWithUs } from '../ends-with-us.ts';

const entry = fileURLToPath(new URL('../../controller/main.ts', import.meta.url));
const startMs = 60_000;
const stopMs = 40_000;

/** The controller in a process of its own, as `npm run controller` starts it. */
export class ControllerProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  /** Lines of its log, the newest last; bounded. */
  readonly log: string[] = [];

  private constructor(flags: readonly string[], outlives: boolean) {
    const stdio: StdioOptions = ['ignore', 'pipe', 'pipe'];
    this.#child = spawn(process.execPath, [entry, ...flags], { stdio, detached: outlives });
    if (!outlives) endsWithUs(this.#child);
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve));
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (stream) createInterface({ input: stream }).on('line', (line) => this.#keep(line));
    }
  }

  /** @throws Error with the last lines of its log when it does not lead within a minute */
  static async start(flags: readonly string[], outlives = false): Promise<ControllerProcess> {
    const controller = new ControllerProcess(flags, outlives);
    const until = Date.now() + startMs;
    while (!controller.log.some((line) => line.includes('"msg":"leading"') || line.endsWith(' leading'))) {
      if (controller.#child.exitCode !== null || Date.now() > until) {
        await controller.stop();
        throw new Error(`the controller did not start:\n${controller.log.slice(-10).join('\n')}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return controller;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Asks it to stop, and ends it when it does not. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), stopMs);
    await this.#ended;
    clearTimeout(timer);
  }

  /** Lets it outlive this process. */
  release(): void {
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
    this.#child.unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #keep(line: string): void {
    this.log.push(line);
    if (this.log.length > 1000) this.log.shift();
  }
}
