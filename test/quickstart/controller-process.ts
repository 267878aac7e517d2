import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const entry = fileURLToPath(new URL('../../controller/main.ts', import.meta.url));
/**
 * Runs a command and ends it as soon as our end of the pipe closes: also when this process is killed. A command in the background of a shell has
 * no input, so the pipe is handed on under another number.
 */
const guarded = 'exec 3<&0; "$@" & child=$!; (cat >/dev/null; kill -TERM "$child" 2>/dev/null) <&3 & wait "$child"';
const startMs = 60_000;
const stopMs = 40_000;

/** The controller in a process of its own, as `npm run controller` starts it. */
export class ControllerProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  /** Lines of its log, the newest last; bounded. */
  readonly log: string[] = [];

  private constructor(flags: readonly string[], outlives: boolean) {
    const command = [process.execPath, entry, ...flags];
    const [program = '', ...args] = outlives ? command : ['sh', '-c', guarded, 'sh', ...command];
    const input = outlives ? 'ignore' : 'pipe';
    this.#child = spawn(program, args, { stdio: [input, 'pipe', 'pipe'], detached: outlives });
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
    this.#child.stdin?.end();
    if (this.#child.stdin === null) this.#child.kill('SIGTERM');
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
